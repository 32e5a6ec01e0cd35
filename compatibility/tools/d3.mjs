// A single page with D3 in it, as an agent writes it.

import * as warning from '../warnings.mjs';

export default {
  title: 'D3 in one page',
  node: { d3: '7.9.2' },
  files: {
    'make.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
const library = readFileSync('node_modules/d3/dist/d3.min.js', 'utf8');
writeFileSync('chart.html', \`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Bars</title><script>\${library}</script></head>
<body><h1>Bars</h1><div id="chart"></div><script>
const bars = d3.select('#chart').append('svg').attr('width', 300).attr('height', 100).selectAll('rect').data([3, 9, 6]).join('rect')
  .attr('x', (d, i) => i * 60).attr('width', 50).attr('y', (d) => 100 - d * 10).attr('height', (d) => d * 10);
bars.on('click', (event, d) => d3.select('h1').text('Value ' + d));
</script></body></html>\`);
`,
  },
  run: ['node make.mjs'],
  output: 'chart.html',
  strictWarnings: [warning.CODE_FROM_TEXT],
  async check(page) {
    await page.locator('#chart rect').nth(1).click();
    await page.getByText('Value 9').waitFor();
  },
};
