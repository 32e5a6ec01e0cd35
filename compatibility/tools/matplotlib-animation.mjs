// A Matplotlib animation as a page with buttons (`to_jshtml`): inline handlers.

import { HANDLERS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'Matplotlib animation (to_jshtml)',
  python: ['matplotlib==3.11.2'],
  files: {
    'movie.py': "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nfrom matplotlib.animation import FuncAnimation\nfigure, axes = plt.subplots(figsize=(2, 2), dpi=50)\nline, = axes.plot([0, 1], [0, 1])\nmovie = FuncAnimation(figure, lambda i: line.set_ydata([0, i]), frames=4, interval=100)\nopen('movie.html', 'w').write(movie.to_jshtml(default_mode='once'))\n",
  },
  run: ['python movie.py', "sed -i -E 's/(_anim_[a-z]*|animation_js_|anim)[0-9a-f]{32}/\\1movie/g' movie.html"],
  output: 'movie.html',
  strictWarnings: [warning.OTHER_STYLES, warning.HANDLERS],
  check: (page) => page.waitForFunction(() => document.images[0]?.naturalWidth > 0),
  differences: { strict: { because: HANDLERS, console: [/^Loading the stylesheet '[^']*\/font-awesome\.min\.css' violates/] } },
};
