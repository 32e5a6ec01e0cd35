// The log of Robot Framework: one large script page.

import { lacks } from '../absence.mjs';
import { EVAL } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'Robot Framework log',
  python: ['robotframework==7.5'],
  files: { 'shop.robot': '*** Test Cases ***\nAdds Up\n    Should Be Equal    tea    tea\nFalls Short\n    Should Be Equal    tea    coffee\n' },
  run: ['robot shop.robot || test $? = 1', 'mkdir out', 'cp log.html report.html out/', 'cp out/log.html out/index.html'],
  output: 'out',
  strictWarnings: [warning.CODE_FROM_TEXT],
  changing: /(\d+ (days?|hours?|minutes?|seconds?) )+ago/g,
  async check(page) {
    await page.locator('.test').first().waitFor();
    await page.getByText('Falls Short').first().waitFor();
  },
  differences: { strict: { because: EVAL, text: '', console: [/^ReferenceError: theme is not defined$/], check: (page) => lacks(page, '.test') } },
};
