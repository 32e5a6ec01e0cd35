// cargo doc: the output has a .lock and a search in scripts. It has no page at its root, so one that leads to the crate is
// added, as projects do that publish it.

import * as warning from '../warnings.mjs';

export default {
  title: 'rustdoc (cargo doc)',
  files: {
    'Cargo.toml': '[package]\nname = "kettle"\nversion = "1.0.0"\nedition = "2021"\n',
    'src/lib.rs': '//! Boils water.\n\n/// A kettle.\npub struct Kettle;\n\nimpl Kettle {\n    /// Boils it.\n    pub fn boil(&self) {}\n}\n',
  },
  run: [
    'CARGO_TARGET_DIR=target cargo doc --offline',
    `echo '<meta http-equiv="refresh" content="0; url=kettle/index.html">' > target/doc/index.html`,
  ],
  output: 'target/doc',
  kept: false,
  warnings: [warning.hiddenFiles(1)],
  strictWarnings: [warning.SCRIPT_LINKS, warning.HANDLERS],
  async check(page) {
    await page.locator('a.struct[href$="struct.Kettle.html"]').first().click();
    await page.locator('[id="method.boil"]').waitFor();
  },
};
