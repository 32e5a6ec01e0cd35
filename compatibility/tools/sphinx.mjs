// Sphinx as sphinx-quickstart sets it up; .doctrees and .buildinfo stay in the output, as `sphinx-build` leaves them.

import * as warning from '../warnings.mjs';

export default {
  title: 'Sphinx',
  python: ['sphinx==9.0.4'],
  run: [
    'sphinx-quickstart -q -p Harbour -a Author -v 1.0 --no-makefile --no-batchfile docs',
    "printf 'Harbour\\n=======\\n\\nShips come and go.\\n\\n.. toctree::\\n\\n   pilots\\n' > docs/index.rst",
    "printf 'Pilots\\n======\\n\\nPilots know the lighthouse.\\n\\n.. code-block:: python\\n\\n   steer(90)\\n' > docs/pilots.rst",
    'sphinx-build -b html docs html',
  ],
  output: 'html',
  warnings: [warning.hiddenFiles(4)],
  strictWarnings: [warning.CODE_FROM_TEXT],
  async check(page) {
    await page.locator('input[name=q]').first().fill('lighthouse');
    await page.keyboard.press('Enter');
    await page.locator('#search-results li a').first().click();
    await page.getByText('Pilots know the').waitFor();
  },
};
