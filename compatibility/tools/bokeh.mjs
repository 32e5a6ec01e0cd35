// Bokeh with its scripts in the page.

import * as warning from '../warnings.mjs';

export default {
  title: 'Bokeh, scripts in the page',
  python: ['bokeh==3.9.2'],
  files: {
    'chart.py': "from bokeh.plotting import figure\nfrom bokeh.embed import file_html\nfrom bokeh.resources import INLINE\nplot = figure(title='Wind', width=400, height=300)\nplot.line([1, 2, 3, 4], [2, 5, 3, 6])\nopen('chart.html', 'w').write(file_html(plot, INLINE, 'Wind'))\n",
  },
  run: ['python chart.py'],
  output: 'chart.html',
  strictWarnings: [warning.CODE_FROM_TEXT],
  check: (page) => page.locator('canvas').first().waitFor({ state: 'attached' }),
};
