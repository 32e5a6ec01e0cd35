// The HTML report of Jest's coverage (Istanbul).

import * as warning from '../warnings.mjs';

export default {
  title: 'Jest coverage (Istanbul)',
  node: { jest: '30.5.2' },
  files: {
    'sum.js': "exports.sum = (a, b) => (a > 100 ? Infinity : a + b);\nexports.unused = () => 'never';\n",
    'sum.test.js': "const { sum } = require('./sum');\ntest('adds', () => expect(sum(1, 2)).toBe(3));\n",
  },
  run: ['jest --coverage'],
  output: 'coverage/lcov-report',
  strictWarnings: [warning.NEW_WINDOWS],
  async check(page) {
    await page.locator('#fileSearch').fill('sum');
    await page.locator('th[data-col=statements]').click();
    await page.getByRole('link', { name: 'sum.js' }).click();
    await page.getByText('never').waitFor();
  },
};
