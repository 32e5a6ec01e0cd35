// Javadoc: frames of links, a search index in scripts.

import { HANDLERS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'Javadoc',
  files: { 'src/shop/Till.java': 'package shop;\n\n/** A till with money in it. */\npublic class Till {\n  /** Opens the drawer.\n   * @return how much is inside */\n  public int open() { return 0; }\n}\n' },
  run: ['javadoc -quiet -notimestamp -d docs -sourcepath src shop'],
  output: 'docs',
  warnings: [warning.missingFile('resources/fonts/dejavu.css')],
  strictWarnings: [warning.HANDLERS],
  async check(page) {
    await page.getByRole('link', { name: 'Till' }).first().click();
    await page.getByText('Opens the drawer.').first().waitFor();
  },
  differences: { strict: { because: HANDLERS } },
};
