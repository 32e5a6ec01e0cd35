// A mind map of markmap with its scripts in the page.

import * as warning from '../warnings.mjs';

export default {
  title: 'markmap',
  node: { 'markmap-cli': '0.18.12' },
  files: { 'map.md': '# Kitchen\n\n## Pots\n\n## Pans\n' },
  run: ['markmap --no-open --offline -o map.html map.md'],
  output: 'map.html',
  strictWarnings: [warning.CODE_FROM_TEXT],
  check: (page) => page.locator('svg.markmap g.markmap-node, svg#mindmap g.markmap-node').nth(2).waitFor(),
};
