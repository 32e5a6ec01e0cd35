// docsify as `docsify init` leaves it: Markdown is fetched and rendered in the browser; leaves a .nojekyll.

import { lacks } from '../absence.mjs';
import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'docsify',
  node: { 'docsify-cli': '5.0.0', docsify: '5.0.0' },
  files: { '.npmrc': 'ignore-scripts=true\n' },
  run: ['docsify init docs', "printf '# Trails\\n\\nSee [maps](maps.md).\\n' > docs/README.md", "printf '# Maps\\n\\nOn paper.\\n' > docs/maps.md"],
  output: 'docs',
  warnings: [warning.hiddenFiles(1)],
  strictWarnings: [warning.OTHER_STYLES, warning.OTHER_SCRIPTS],
  network: {
    'http://cdn.jsdelivr.net/npm/docsify@5': 'node_modules/docsify/dist/docsify.min.js',
    'http://cdn.jsdelivr.net/npm/docsify@5/dist/themes/core.min.css': 'node_modules/docsify/dist/themes/core.min.css',
    'http://cdn.jsdelivr.net/npm/docsify@5/dist/themes/addons/vue.min.css': 'node_modules/docsify/dist/themes/addons/vue.min.css',
  },
  async check(page) {
    await page.locator('#main').getByRole('link', { name: 'maps' }).click();
    await page.getByText('On paper.').waitFor();
    await page.reload();
    await page.getByText('On paper.').waitFor();
  },
  differences: {
    strict: {
      because: OTHER_HOSTS,
      text: '',
      requests: [
        /^http:\/\/cdn\.jsdelivr\.net\/npm\/docsify@5: failed instead of ok$/,
        /^http:\/\/cdn\.jsdelivr\.net\/npm\/docsify@5\/dist\/themes\/core\.min\.css: failed instead of ok$/,
        /^http:\/\/cdn\.jsdelivr\.net\/npm\/docsify@5\/dist\/themes\/addons\/vue\.min\.css: failed instead of ok$/,
        /^https:\/\/fonts\.googleapis\.com\/.*: not requested instead of failed$/,
        /^\/README\.md: not requested instead of ok$/,
      ],
      check: (page) => lacks(page, '#main'),
    },
  },
};
