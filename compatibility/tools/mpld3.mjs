// mpld3: a Matplotlib figure drawn with D3 in the browser; its scripts come from other hosts.

import { lacks } from '../absence.mjs';
import { OTHER_HOSTS } from '../reasons.mjs';

export default {
  title: 'mpld3',
  python: ['mpld3==0.5.12', 'matplotlib==3.11.2'],
  files: {
    'chart.py': "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nimport mpld3\nfigure, axes = plt.subplots()\naxes.plot([1, 2, 3], [2, 1, 3])\naxes.set_title('Tides')\nopen('chart.html', 'w').write(mpld3.fig_to_html(figure, figid='figure'))\n",
  },
  run: ['python chart.py', "cp $(python -c 'import mpld3, os; print(os.path.dirname(mpld3.__file__))')/js/*.js ."],
  output: 'chart.html',
  network: { 'https://d3js.org/d3.v5.js': 'd3.v5.min.js', 'https://mpld3.github.io/js/mpld3.v0.5.12.js': 'mpld3.v0.5.12.js' },
  check: (page) => page.locator('svg.mpld3-figure path.mpld3-path').first().waitFor({ state: 'attached' }),
  differences: {
    strict: {
      because: OTHER_HOSTS,
      text: '',
      requests: [/\/d3\.v5\.js: failed instead of ok$/, /\/mpld3\.v0\.5\.12\.js: not requested instead of ok$/],
      check: (page) => lacks(page, 'svg.mpld3-figure'),
    },
  },
};
