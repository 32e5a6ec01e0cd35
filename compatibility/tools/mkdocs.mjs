// MkDocs with its own theme and search.

import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'MkDocs',
  python: ['mkdocs==1.6.1'],
  files: {
    'mkdocs.yml': 'site_name: Bees\n',
    'docs/index.md': '# Bees\n\nThey live in hives. See [honey](honey.md).\n',
    'docs/honey.md': '# Honey\n\nSweet and slow.\n\n## Wax\n\nFor candles.\n',
  },
  run: ['mkdocs build'],
  output: 'site',
  strictWarnings: [warning.OTHER_STYLES, warning.OTHER_SCRIPTS],
  async check(page) {
    await page.getByRole('link', { name: 'honey', exact: true }).click();
    await page.getByText('Sweet and slow.').waitFor();
    await page.locator('[data-target="#mkdocs_search_modal"], [data-bs-target="#mkdocs_search_modal"]').first().click();
    await page.locator('#mkdocs-search-query').pressSequentially('candles');
    await page.locator('#mkdocs-search-results article').first().waitFor();
  },
  differences: { strict: { because: OTHER_HOSTS } },
};
