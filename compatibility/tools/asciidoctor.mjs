// Asciidoctor with its default stylesheet; fonts come from another host.

import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'Asciidoctor',
  node: { '@asciidoctor/cli': '4.0.0', '@asciidoctor/core': '3.0.4' },
  files: { 'manual.adoc': '= Manual\n:toc:\n\n== Setup\n\nTIP: Read it twice.\n\n[source,ruby]\n----\nputs "hello"\n----\n\n== Use\n\n|===\n|Key |Meaning\n|q |quit\n|===\n' },
  run: ['asciidoctor manual.adoc'],
  output: 'manual.html',
  strictWarnings: [warning.OTHER_STYLES, warning.OTHER_FONTS],
  async check(page) {
    await page.locator('#toc').getByRole('link', { name: 'Use' }).click();
    await page.waitForFunction(() => location.hash === '#_use');
  },
  differences: { strict: { because: OTHER_HOSTS } },
};
