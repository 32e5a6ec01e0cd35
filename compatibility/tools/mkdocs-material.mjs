// MkDocs with the Material theme; its search runs in a worker, its fonts come from another host.

import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'MkDocs, Material theme',
  python: ['mkdocs==1.6.1', 'mkdocs-material==9.8.1'],
  files: {
    'mkdocs.yml': 'site_name: Maps\nsite_url: https://example.org/\ntheme:\n  name: material\n  palette:\n    - scheme: default\n      toggle:\n        icon: material/weather-night\n        name: Dark\n    - scheme: slate\n      toggle:\n        icon: material/weather-sunny\n        name: Light\n',
    'docs/index.md': '# Maps\n\nNorth is up. See [scales](scales.md).\n',
    'docs/scales.md': '# Scales\n\nOne to a thousand.\n\n## Legend\n\nSymbols explained.\n',
  },
  run: ['mkdocs build'],
  output: 'site',
  strictWarnings: [warning.OTHER_STYLES, warning.NEW_WINDOWS, warning.CODE_FROM_TEXT],
  async check(page) {
    await page.locator('.md-content').getByRole('link', { name: 'scales' }).click();
    await page.getByText('One to a thousand.').waitFor();
    await page.locator('input[name=query]').click();
    await page.locator('input[name=query]').pressSequentially('symbols');
    await page.locator('.md-search-result__item').first().waitFor();
  },
  differences: { strict: { because: OTHER_HOSTS } },
};
