// The report of pytest-html, self-contained.

import { HANDLERS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'pytest-html',
  python: ['pytest==9.2.0', 'pytest-html==4.2.0'],
  files: { 'test_shop.py': "def test_adds():\n    assert 1 + 1 == 2\n\n\ndef test_fails():\n    assert 'tea' == 'coffee'\n" },
  run: ['pytest --html=report.html --self-contained-html || test $? = 1'],
  output: 'report.html',
  strictWarnings: [warning.HANDLERS],
  async check(page) {
    await page.locator('#results-table tbody.results-table-row').nth(1).waitFor();
    await page.locator('input[data-test-result=passed]').click();
    await page.waitForFunction(() => document.querySelectorAll('#results-table tbody.results-table-row').length === 1);
  },
  differences: { strict: { because: HANDLERS } },
};
