// pdoc: a page for each module and a search index in a script.

import * as warning from '../warnings.mjs';

export default {
  title: 'pdoc',
  python: ['pdoc==16.0.0'],
  files: {
    'garden/__init__.py': '"""Plants and their needs."""\n\n\nclass Plant:\n    """Something that grows."""\n\n    def water(self, litres: float) -> None:\n        """Give it water."""\n',
    'garden/tools.py': '"""Spades and rakes."""\n\n\ndef dig(depth: int) -> int:\n    """Dig a hole."""\n    return depth\n',
  },
  run: ['pdoc ./garden -o html'],
  output: 'html',
  strictWarnings: [warning.NEW_WINDOWS],
  async check(page) {
    await page.waitForURL(/garden(\.html)?$/);
    await page.getByRole('link', { name: 'tools' }).first().click();
    await page.getByText('Dig a hole.', { exact: true }).waitFor();
    await page.locator('input[type=search]').fill('water');
    await page.locator('.search-result, .pdoc section').first().waitFor();
  },
};
