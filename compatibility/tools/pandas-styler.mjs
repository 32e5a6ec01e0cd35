// A table of pandas with Styler colours and bars.

export default {
  title: 'pandas Styler',
  python: ['pandas==3.1.1', 'jinja2==3.1.6', 'matplotlib==3.11.2'],
  files: {
    'table.py': "import pandas as pd\ntable = pd.DataFrame({'item': ['tea', 'rice', 'salt'], 'price': [4.5, 2.25, 0.8]})\ntable.style.background_gradient(subset='price').bar(subset='price').set_uuid('t').to_html('table.html', doctype_html=True)\n",
  },
  run: ['python table.py'],
  output: 'table.html',
  check: (page) => page.locator('#T_t tbody tr').nth(2).waitFor(),
};
