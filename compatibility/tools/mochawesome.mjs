// The report of mochawesome: a page with its assets beside it.

import * as warning from '../warnings.mjs';

export default {
  title: 'mochawesome',
  node: { mocha: '12.0.3', mochawesome: '8.1.1' },
  files: { 'test/sum.js': "const assert = require('assert');\ndescribe('sum', () => { it('adds', () => assert.equal(1 + 1, 2)); it('falls short', () => assert.equal('tea', 'coffee')); });\n" },
  run: ['mocha --reporter mochawesome || test $? = 1', 'cp mochawesome-report/mochawesome.html mochawesome-report/index.html'],
  output: 'mochawesome-report',
  strictWarnings: [warning.CODE_FROM_TEXT],
  check: (page) => page.getByText('falls short').first().waitFor(),
};
