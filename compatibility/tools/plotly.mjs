// Plotly with its script in the page, as `write_html` makes it: close to 5 MB.

import * as warning from '../warnings.mjs';

export default {
  title: 'Plotly, script in the page',
  python: ['plotly==7.1.0'],
  files: {
    'chart.py': "import plotly.graph_objects as go\nfigure = go.Figure(go.Scatter(x=[1, 2, 3, 4], y=[4, 1, 3, 2], name='levels'), layout={'title': {'text': 'Water levels'}})\nfigure.write_html('chart.html', div_id='chart')\n",
  },
  run: ['python chart.py'],
  output: 'chart.html',
  strictWarnings: [warning.CODE_FROM_TEXT],
  async check(page) {
    await page.locator('#chart svg.main-svg .scatterlayer path.js-line').first().waitFor();
    await page.locator('.modebar-btn[data-title="Zoom in"], .modebar-btn[data-title="Zoom"]').first().waitFor({ state: 'attached' });
  },
};
