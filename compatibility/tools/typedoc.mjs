// TypeDoc as its command makes it: leaves a .nojekyll beside the pages.

import * as warning from '../warnings.mjs';

export default {
  title: 'TypeDoc',
  node: { typedoc: '0.28.20', typescript: '6.0.3' },
  files: {
    'src/index.ts': `/** A lamp that can be lit. */
export class Lamp {
  /** Whether it is lit. */
  lit = false;
  /** Lights the lamp for some hours. */
  light(hours: number): void { this.lit = hours > 0; }
}
/** Counts the lamps that are lit. */
export function countLit(lamps: Lamp[]): number { return lamps.filter((lamp) => lamp.lit).length; }
`,
    'tsconfig.json': '{ "compilerOptions": { "target": "es2022", "module": "nodenext", "strict": true }, "include": ["src"] }\n',
    'README.md': '# Lamps\n\nA small library about lamps.\n',
  },
  run: ['typedoc src/index.ts'],
  output: 'docs',
  warnings: [warning.hiddenFiles(1)],
  strictWarnings: [warning.NEW_WINDOWS],
  async check(page) {
    await page.locator('#tsd-search-trigger, #tsd-search').first().click();
    await page.locator('#tsd-search-input, #tsd-search input').first().fill('countLit');
    await page.locator('#tsd-search-results li, #tsd-search .results li').first().waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.tsd-navigation a[href$="classes/Lamp.html"]').click();
    await page.getByText('A lamp that can be lit.').waitFor();
  },
};
