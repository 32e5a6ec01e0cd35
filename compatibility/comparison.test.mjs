// The comparison itself: what is declared must be there, for the declared reason, and nothing else may differ.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { catalogue, expectedUpload } from './catalogue.mjs';
import { problemsAtFirst, problemsAtLast, problemsOfUpload } from './comparison.mjs';
import { MODES } from './modes.mjs';
import { EVAL, HANDLERS } from './reasons.mjs';
import { FORMS, hiddenFiles, LINKS_TO_ROOT } from './warnings.mjs';

const EVAL_ERROR = 'EvalError: Evaluating a string as JavaScript violates the following Content Security Policy directive';
const view = ({ text = 'Menu', requests = {}, errors = [], violations = [] } = {}) => ({
  text,
  requests: new Map(Object.entries(requests)),
  errors: new Set(errors),
  violations: new Set(violations),
});
const REFERENCE = view({ requests: { '/app.js': 'ok' }, errors: ['an error of its own'] });
const REFUSED = view({ text: 'Nothing', requests: { '/app.js': 'failed' }, errors: [EVAL_ERROR, 'ReferenceError: app'], violations: ['script-src eval'] });
const DECLARED = { because: EVAL, text: 'Nothing', requests: [/^\/app\.js: failed instead of ok$/], console: [/^ReferenceError: app$/], check: () => {} };

describe('a page as it opens', () => {
  test('that is like its reference has no problems', () => {
    assert.deepEqual(problemsAtFirst(REFERENCE, REFERENCE), []);
  });

  test('may differ in nothing without a declaration', () => {
    const problems = problemsAtFirst(REFUSED, REFERENCE);
    assert.deepEqual(problems.map((line) => line.split(':')[0]), ['text', 'requests', 'console', 'console']);
  });

  test('may differ as it is declared', () => {
    assert.deepEqual(problemsAtFirst(REFUSED, REFERENCE, DECLARED), []);
  });

  test('must differ as it is declared, in every respect', () => {
    const problems = problemsAtFirst(REFERENCE, REFERENCE, DECLARED);
    assert.deepEqual(problems.map((line) => line.split(':')[0]), ['text', 'requests', 'console', 'reason']);
  });

  test('must have the declared text', () => {
    assert.match(problemsAtFirst({ ...REFUSED, text: 'Something' }, REFERENCE, DECLARED)[0], /^text: /);
  });

  test('must differ for the declared reason, as the browser reports it', () => {
    const problems = problemsAtFirst({ ...REFUSED, violations: new Set(['script-src-attr inline']) }, REFERENCE, DECLARED);
    assert.match(problems.join('\n'), /^reason: .*script-src-attr inline/);
  });
});

describe('a page that was used', () => {
  test('and failed as declared must show the reason in the end', () => {
    const declared = { because: HANDLERS, check: () => {} };
    const blocked = view({ violations: ['script-src-attr inline'] });
    assert.deepEqual(problemsAtLast(blocked, REFERENCE, declared), []);
    assert.match(problemsAtLast(REFERENCE, REFERENCE, declared).join('\n'), /^reason: /);
  });

  test('and works is compared whole', () => {
    assert.match(problemsAtLast(view(), REFERENCE).join('\n'), /^requests: \/app\.js: not requested instead of ok$/);
  });
});

describe('an upload', () => {
  const expected = { cookies: [], spa: false, warnings: [hiddenFiles(1)] };
  const hidden = '1 hidden or system file was not published: .lock.';
  const found = { cookies: [], spa: false, warnings: [hidden] };

  test('is as the catalogue says', () => {
    assert.deepEqual(problemsOfUpload(found, expected), []);
  });

  test('may set no other cookie and be taken for no app', () => {
    assert.deepEqual(problemsOfUpload({ ...found, cookies: ['__Host-r'], spa: true }, expected), ['cookies: ["__Host-r"] instead of []', 'spa: true instead of false']);
  });

  test('may neither warn of more nor of less', () => {
    const form = 'csp_strict blocks form submissions to other sites (https://a.example/ in index.html). Handle them in a script.';
    assert.match(form, FORMS);
    assert.deepEqual(problemsOfUpload({ ...found, warnings: [hidden, form] }, expected), [`warnings: ${form}`]);
    assert.match(problemsOfUpload({ ...found, warnings: [] }, expected).join('\n'), /nothing fits .* although it is declared/);
    assert.match(problemsOfUpload({ ...found, warnings: [hidden, hidden] }, expected).join('\n'), /several fit one expression/);
  });

  test('sets no cookie and has no warning unless that is declared', async () => {
    const [plain] = (await catalogue()).filter(({ name }) => name === 'rollup');
    const open = MODES.filter(({ pass }) => !pass);
    for (const mode of open) assert.deepEqual(expectedUpload(plain, mode), { cookies: [], spa: false, warnings: [] });
  });

  test('at a slug has no warning that is declared for the other modes', () => {
    const tool = { spa: false, warnings: [hiddenFiles(1)], unlistedWarnings: [LINKS_TO_ROOT], strictWarnings: [FORMS] };
    const counts = Object.fromEntries(MODES.map((mode) => [mode.name, expectedUpload(tool, mode).warnings.length]));
    assert.deepEqual(counts, { unlisted: 2, slug: 1, agentation: 2, password: 2, burn: 2, strict: 3 });
  });
});

test('every declaration has a reason, and one of another text also has a check', async () => {
  for (const tool of await catalogue()) {
    for (const [mode, declared] of Object.entries(tool.differences)) {
      assert.ok(declared.because.note, `${tool.name}, ${mode}`);
      assert.ok(declared.text === undefined || typeof declared.text === 'string', `${tool.name}, ${mode}`);
      if (declared.text !== undefined) assert.equal(typeof declared.check, 'function', `${tool.name}, ${mode}`);
    }
  }
});
