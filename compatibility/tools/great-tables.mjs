// A table of great_tables.

export default {
  title: 'great_tables',
  python: ['great_tables==1.1.0', 'pandas==3.1.1'],
  files: {
    'table.py': "import pandas as pd\nfrom great_tables import GT\ntable = pd.DataFrame({'peak': ['Ben Nevis', 'Snowdon'], 'metres': [1345, 1085]})\nopen('table.html', 'w').write(GT(table, id='peaks').tab_header(title='Peaks').fmt_number('metres', decimals=0).as_raw_html(make_page=True))\n",
  },
  run: ['python table.py'],
  output: 'table.html',
  check: (page) => page.getByText('Ben Nevis').waitFor(),
};
