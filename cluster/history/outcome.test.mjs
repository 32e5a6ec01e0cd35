// Which answers say that nothing happened, and which leave it open; how operations are recorded.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { describe, History } from './history.mjs';
import { ANSWERED, judgeAnswer, judgeError, OPEN, REFUSED } from './outcome.mjs';

const answer = (status, error) => ({ status, text: () => (error ? JSON.stringify({ error }) : '<html>bad gateway') });
const kind = (status, error) => judgeAnswer(answer(status, error)).kind;

test('an answer at 500 and above is open unless its code says that nothing changed', () => {
  for (const code of ['internal', 'storage_unavailable', 'timed_out', 'settlement_unknown', 'paid_not_saved', 'a_new_code']) {
    assert.equal(kind(503, code), OPEN, code);
  }
  for (const code of ['overloaded', 'check_unavailable', 'storage_full', 'facilitator_unavailable']) assert.equal(kind(503, code), REFUSED, code);
  assert.equal(kind(502), OPEN, 'the answer of a proxy');
});

test('an answer below 500 is judged by the model, unless the request was not tried', () => {
  for (const [status, code] of [[409, 'conflict'], [404, 'not_found'], [410, 'burnt'], [402, 'payment_required']]) {
    assert.equal(kind(status, code), ANSWERED, code);
  }
  for (const [status, code] of [[409, 'idempotency_in_flight'], [409, 'payment_in_flight'], [429, 'rate_limited'], [408, 'request_timeout']]) {
    assert.equal(kind(status, code), REFUSED, code);
  }
});

test('docs/errors.md says of every code at 500 and above what the classification assumes', async () => {
  const text = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = text.slice(text.indexOf('## 500')).matchAll(/^\| `(\w+)` \| (.*) \|$/gm);
  let count = 0;
  for (const [, code, meaning] of rows) {
    const isSure = /[Nn]othing was (changed|stored|created)|cannot send email/.test(meaning);
    assert.equal(kind(503, code), isSure ? REFUSED : OPEN, `${code}: ${meaning}`);
    count += 1;
  }
  assert.ok(count >= 10, `${count} codes`);
});

test('a connection that was refused sent nothing; one that broke may have', () => {
  assert.equal(judgeError({ code: 'ECONNREFUSED', syscall: 'connect' }).kind, REFUSED);
  assert.equal(judgeError({ code: 'ECONNRESET' }).kind, OPEN);
  assert.equal(judgeError(new Error('no answer in 5000 ms')).kind, OPEN);
});

test('operations are recorded with their times, and survive a file', () => {
  let now = 0n;
  const history = new History(() => (now += 1_000_000n));
  history.begin({ model: 'claim', key: 'k', process: 'a', node: 1, call: { op: 'claim', by: 'ann' } }).answered({ won: true });
  history.begin({ model: 'claim', key: 'k', process: 'b', node: 2, call: { op: 'claim', by: 'bob' } }).open('timeout');
  history.begin({ model: 'claim', key: 'k', process: 'c', node: 3, call: { op: 'claim', by: 'cid' } }).refused('overloaded');
  history.begin({ model: 'claim', key: 'k', process: 'd', node: 3, call: { op: 'claim', by: 'dee' } });
  assert.deepEqual(history.tally(), { claim: { answered: 1, refused: 1, open: 2 } });
  assert.deepEqual(History.fromLines(history.toLines()).operations, history.operations);
  const texts = history.operations.map(describe);
  assert.match(texts[0], /1\.000 –\s+2\.000 {2}#0 a@1 .* → \{"won":true\}/);
  assert.match(texts[1], /… {2}#1 b@2 .* → open \(timeout\)/);
  assert.match(texts[2], /→ refused \(overloaded\)/);
  assert.match(texts[3], /→ open \(never ended\)/);
});

test('an operation ends once', () => {
  const recorded = new History().begin({ model: 'claim', key: 'k', process: 'a', call: {} });
  recorded.answered({});
  assert.throws(() => recorded.open('timeout'), /ended twice/);
});
