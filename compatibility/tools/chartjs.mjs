// Chart.js and a sortable table in one page of many agents: canvas, inline handlers, storage.

import assert from 'node:assert/strict';
import { HANDLERS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'Dashboard in one page (Chart.js)',
  node: { 'chart.js': '4.6.1' },
  files: {
    'make.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
const library = readFileSync('node_modules/chart.js/dist/chart.umd.min.js', 'utf8').replace(/\\n\\/\\/# sourceMappingURL.*/, '');
writeFileSync('dashboard.html', \`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sales</title><style>td { padding: 4px }</style><script>\${library}</script></head>
<body><h1>Sales</h1><canvas id="chart" width="300" height="150"></canvas>
<table><thead><tr><th onclick="sortRows(0)">Town</th><th onclick="sortRows(1)">Sum</th></tr></thead><tbody><tr><td>Perth</td><td>3</td></tr><tr><td>Ayr</td><td>8</td></tr></tbody></table>
<script>
new Chart(document.getElementById('chart'), { type: 'bar', data: { labels: ['a', 'b'], datasets: [{ label: 'sum', data: [3, 8] }] }, options: { animation: false, responsive: false } });
function sortRows(column) {
  const body = document.querySelector('tbody');
  body.append(...[...body.rows].sort((a, b) => a.cells[column].textContent.localeCompare(b.cells[column].textContent)));
  localStorage.setItem('sorted', column);
}
</script></body></html>\`);
`,
  },
  run: ['node make.mjs'],
  output: 'dashboard.html',
  strictWarnings: [warning.HANDLERS],
  async check(page) {
    await page.locator('th').first().click();
    await page.waitForFunction(() => document.querySelector('tbody td').textContent === 'Ayr' && localStorage.getItem('sorted') === '0');
    await page.waitForFunction(() => document.querySelector('canvas').getContext('2d').getImageData(0, 0, 300, 150).data.some((value) => value > 0));
  },
  differences: {
    strict: {
      because: HANDLERS,
      async check(page) {
        await page.locator('th').first().click();
        assert.equal(await page.locator('tbody td').first().textContent(), 'Perth');
      },
    },
  },
};
