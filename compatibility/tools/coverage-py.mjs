// The HTML report of coverage.py, with the .gitignore that it writes.

import * as warning from '../warnings.mjs';

export default {
  title: 'coverage.py',
  python: ['coverage==7.17.2'],
  files: {
    'shop.py': 'def price(count):\n    if count > 10:\n        return count * 2\n    return count * 3\n\n\ndef unused():\n    return "never"\n\n\nprice(2)\n',
  },
  run: ['coverage run shop.py', 'coverage html'],
  output: 'htmlcov',
  warnings: [warning.hiddenFiles(1)],
  async check(page) {
    await page.locator('#filter').fill('nothing like it');
    await page.getByRole('link', { name: 'shop.py' }).waitFor({ state: 'hidden' });
    await page.locator('#filter').fill('shop');
    await page.getByRole('link', { name: 'shop.py' }).click();
    await page.getByText('"never"').waitFor();
  },
};
