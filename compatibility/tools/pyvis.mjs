// A network of pyvis with its scripts in the page.

import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'pyvis, scripts in the page',
  python: ['pyvis==0.3.2'],
  files: {
    'graph.py': "from pyvis.network import Network\nnet = Network(cdn_resources='in_line')\nnet.add_node(1, label='North', x=0, y=0)\nnet.add_node(2, label='South', x=0, y=90)\nnet.add_edge(1, 2)\nopen('graph.html', 'w', encoding='utf-8').write(net.generate_html())\n",
  },
  run: ['python graph.py'],
  output: 'graph.html',
  strictWarnings: [warning.OTHER_STYLES, warning.OTHER_SCRIPTS],
  check: (page) => page.locator('#mynetwork canvas').waitFor(),
  differences: { strict: { because: OTHER_HOSTS } },
};
