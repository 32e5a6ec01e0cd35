// Every model accepts histories that the service may produce, and catches planted faults.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodiesOfBurntPages } from './check.mjs';
import { eachPlanted, faults, NOT_DONE, operations, TIMED_OUT } from './planted.mjs';

const claim = (by) => ({ op: 'claim', by });
const read = (by) => ({ op: 'read', by });
const publish = { op: 'publish' };
const view = { op: 'view' };
const post = (body) => ({ op: 'post', body });
const answer = (id, digest = id) => ({ answer: { id, digest } });
const [allow, poll] = [{ op: 'allow' }, { op: 'poll' }];
const [remove, restore] = [{ op: 'delete' }, { op: 'restore' }];
const set = (secret) => ({ op: 'set', secret });
const enter = (secret) => ({ op: 'view', secret });
const take = (page, account) => ({ op: 'take', page, account });
const release = (page, account) => ({ op: 'release', page, account });

const PLANTED = {
  claim: {
    valid: {
      'one of two concurrent claims wins': [
        [0, 10, 'a', claim('ann'), { won: true }],
        [1, 9, 'b', claim('bob'), { won: false }],
        [11, 12, 'b', read('bob'), { mine: false }],
        [11, 12, 'a', read('ann'), { mine: true }],
      ],
      'the winner may repeat its claim': [
        [0, 5, 'a', claim('ann'), { won: true }],
        [6, 9, 'a', claim('ann'), { won: true }],
      ],
      'a claim that timed out takes effect later': [
        [0, 5, 'a', claim('ann'), TIMED_OUT],
        [6, 7, 'b', read('ann'), { mine: false }],
        [8, 9, 'b', read('ann'), { mine: true }],
        [10, 11, 'b', claim('bob'), { won: false }],
      ],
      'a claim that timed out never takes effect': [
        [0, 5, 'a', claim('ann'), TIMED_OUT],
        [6, 7, 'b', claim('bob'), { won: true }],
      ],
    },
    faults: {
      'two winners': [
        [0, 10, 'a', claim('ann'), { won: true }],
        [1, 9, 'b', claim('bob'), { won: true }],
      ],
      'a loser without a winner': [[0, 1, 'a', claim('ann'), { won: false }]],
      'a lost acknowledged claim': [
        [0, 5, 'a', claim('ann'), { won: true }],
        [6, 7, 'a', read('ann'), { mine: false }],
      ],
      'a refused claim that took effect': [
        [0, 5, 'a', claim('ann'), NOT_DONE],
        [6, 7, 'a', read('ann'), { mine: true }],
      ],
    },
  },
  burn: {
    valid: {
      'one of many views gets the page': [
        [0, 5, 'a', publish, {}],
        [6, 20, 'a', view, { body: true }],
        [7, 19, 'b', view, { body: false }],
        [21, 22, 'b', view, { body: false }],
      ],
      'a view that timed out used the page up': [
        [0, 5, 'a', publish, {}],
        [6, 9, 'a', view, TIMED_OUT],
        [10, 12, 'b', view, { body: false }],
      ],
      'a view that timed out did not use the page up': [
        [0, 5, 'a', publish, {}],
        [6, 9, 'a', view, TIMED_OUT],
        [10, 12, 'b', view, { body: true }],
      ],
      'a preview lags behind': [
        [0, 5, 'a', publish, {}],
        [6, 20, 'a', view, { body: true }],
        [700, 701, 'b', { op: 'peek' }, { gone: false }],
      ],
    },
    faults: {
      'a burnt page read twice': [
        [0, 5, 'a', publish, {}],
        [6, 20, 'a', view, { body: true }],
        [7, 19, 'b', view, { body: true }],
      ],
      'a page that is gone before anyone could have seen it': [
        [0, 5, 'a', publish, {}],
        [6, 20, 'a', view, { body: false }],
      ],
      'a page that is back after it was gone': [
        [0, 5, 'a', publish, {}],
        [6, 9, 'a', view, TIMED_OUT],
        [10, 12, 'b', view, { body: false }],
        [13, 14, 'c', view, { body: true }],
      ],
      'a preview that lags too far behind': [
        [0, 5, 'a', publish, {}],
        [6, 20, 'a', view, { body: true }],
        [930, 931, 'b', { op: 'peek' }, { gone: false }],
      ],
    },
  },
  slug: {
    valid: {
      'one page takes it, gives it back, another one of the account takes it': [
        [0, 5, 'a', take('p', 'ann'), { taken: true }],
        [1, 6, 'b', take('q', 'ann'), { taken: false }],
        [7, 8, 'a', release('p', 'ann'), {}],
        [9, 10, 'c', take('r', 'bob'), { taken: false }],
        [11, 12, 'b', take('q', 'ann'), { taken: true }],
        [13, 14, 'b', { op: 'read', page: 'q' }, { has: true }],
        [13, 14, 'c', { op: 'read', page: 'p' }, { has: false }],
      ],
      'a release that timed out takes effect later': [
        [0, 5, 'a', take('p', 'ann'), { taken: true }],
        [6, 7, 'a', release('p', 'ann'), TIMED_OUT],
        [8, 9, 'b', take('q', 'ann'), { taken: false }],
        [10, 11, 'b', take('q', 'ann'), { taken: true }],
      ],
    },
    faults: {
      'two pages with one slug': [
        [0, 5, 'a', take('p', 'ann'), { taken: true }],
        [1, 6, 'b', take('q', 'bob'), { taken: true }],
      ],
      'taken although it is kept for its last account': [
        [0, 5, 'a', take('p', 'ann'), { taken: true }],
        [7, 8, 'a', release('p', 'ann'), {}],
        [9, 10, 'b', take('q', 'bob'), { taken: true }],
      ],
      'a lost acknowledged slug': [
        [0, 5, 'a', take('p', 'ann'), { taken: true }],
        [6, 7, 'a', { op: 'read', page: 'p' }, { has: false }],
      ],
    },
  },
  idempotency: {
    valid: {
      'the first answer again, and one page': [
        [0, 9, 'a', post('x'), answer('s1')],
        [1, 8, 'b', post('x'), NOT_DONE],
        [10, 11, 'b', post('x'), answer('s1')],
        [12, 13, 'c', post('y'), { mismatch: true }],
        [14, 15, 'a', { op: 'count' }, { count: 1, id: 's1' }],
      ],
      'a request that timed out took effect': [
        [0, 9, 'a', post('x'), TIMED_OUT],
        [10, 11, 'b', { op: 'count' }, { count: 1, id: 's1' }],
        [12, 13, 'b', post('x'), answer('s1')],
      ],
      'a request that timed out did nothing': [
        [0, 9, 'a', post('x'), TIMED_OUT],
        [10, 11, 'b', { op: 'count' }, { count: 0 }],
      ],
    },
    faults: {
      'two effects of one key': [
        [0, 9, 'a', post('x'), answer('s1')],
        [1, 8, 'b', post('x'), answer('s2')],
      ],
      'another answer for the same effect': [
        [0, 9, 'a', post('x'), answer('s1', 'first')],
        [10, 18, 'b', post('x'), answer('s1', 'second')],
      ],
      'a second page that nobody was told about': [
        [0, 9, 'a', post('x'), answer('s1')],
        [1, 8, 'b', post('x'), TIMED_OUT],
        [10, 11, 'a', { op: 'count' }, { count: 2, id: 's1' }],
      ],
      'another request with the key took effect too': [
        [0, 9, 'a', post('x'), answer('s1')],
        [10, 18, 'b', post('y'), answer('s2')],
      ],
      'a mismatch with nothing': [[0, 9, 'a', post('x'), { mismatch: true }]],
    },
  },
  delivery: {
    valid: {
      'one poll gets the key': [
        [0, 2, 'a', poll, { pending: true }],
        [1, 4, 'p', allow, {}],
        [2, 3, 'a', poll, { secret: true }],
        [5, 6, 'b', poll, { used: true }],
      ],
      'a poll that timed out took the key with it': [
        [1, 4, 'p', allow, {}],
        [5, 6, 'a', poll, TIMED_OUT],
        [7, 8, 'b', poll, { used: true }],
      ],
      'permission that takes effect after its acknowledgement': [
        [1, 4, 'p', allow, {}],
        [5, 6, 'a', { op: 'poll', lags: true }, { pending: true }],
        [7, 8, 'b', { op: 'poll', lags: true }, { secret: true }],
      ],
    },
    faults: {
      'a key delivered twice': [
        [1, 4, 'p', allow, {}],
        [5, 9, 'a', poll, { secret: true }],
        [6, 8, 'b', poll, { secret: true }],
      ],
      'a key without permission': [[5, 9, 'a', poll, { secret: true }]],
      'a key that is gone although nobody asked': [
        [1, 4, 'p', allow, {}],
        [5, 9, 'a', poll, { used: true }],
      ],
      'a lost permission': [
        [1, 4, 'p', allow, {}],
        [5, 9, 'a', poll, { pending: true }],
      ],
      'a delivered key that waits again': [
        [1, 4, 'p', allow, {}],
        [5, 6, 'a', { op: 'poll', lags: true }, { secret: true }],
        [7, 8, 'a', { op: 'poll', lags: true }, { pending: true }],
      ],
    },
  },
  deletion: {
    valid: {
      'deleted and restored': [
        [0, 1, 'a', remove, { done: true }],
        [2, 3, 'a', { op: 'read' }, { there: false }],
        [4, 5, 'b', view, { there: true }],
        [6, 7, 'a', restore, {}],
        [7, 8, 'b', restore, {}],
        [8, 9, 'b', view, { there: false }],
        [950, 951, 'b', view, { there: true }],
      ],
      'of two deletions one finds nothing': [
        [0, 9, 'a', remove, { done: true }],
        [1, 8, 'b', remove, { done: false }],
      ],
      'a deletion that timed out takes effect after a read': [
        [0, 1, 'a', remove, TIMED_OUT],
        [2, 3, 'a', { op: 'read' }, { there: true }],
        [4, 5, 'a', { op: 'read' }, { there: false }],
      ],
    },
    faults: {
      'a lost acknowledged deletion': [
        [0, 1, 'a', remove, { done: true }],
        [2, 3, 'a', { op: 'read' }, { there: true }],
      ],
      'a view after the stated staleness': [
        [0, 1, 'a', remove, { done: true }],
        [902, 903, 'b', view, { there: true }],
      ],
      'two deletions of one page': [
        [0, 9, 'a', remove, { done: true }],
        [1, 8, 'b', remove, { done: true }],
      ],
    },
  },
  access: {
    valid: {
      'the old password works for less than the stated staleness': [
        [0, 1, 'o', set('one'), {}],
        [1000, 1001, 'v', enter('one'), { entered: true }],
        [1002, 1003, 'o', set('two'), {}],
        [1900, 1905, 'v', enter('one'), { entered: true }],
        [1910, 1911, 'v', enter('one'), { entered: false }],
        [1910, 1911, 'w', enter('two'), { entered: true }],
      ],
      'a revoked token': [
        [0, 1, 'o', set('shr'), {}],
        [2, 3, 'o', set(null), {}],
        [4, 5, 'o', set(null), { missing: true }],
        [910, 911, 'v', enter('shr'), { entered: false }],
      ],
      'a change that timed out takes effect late': [
        [0, 1, 'o', set('one'), {}],
        [2, 3, 'o', set('two'), TIMED_OUT],
        [5000, 5001, 'v', enter('one'), { entered: true }],
        [9000, 9001, 'v', enter('one'), { entered: false }],
      ],
    },
    faults: {
      'a revoked token that opens after the stated staleness': [
        [0, 1, 'o', set('shr'), {}],
        [1002, 1003, 'o', set(null), {}],
        [1904, 1905, 'v', enter('shr'), { entered: true }],
      ],
      'an old password that works again': [
        [0, 1, 'o', set('one'), {}],
        [1002, 1003, 'o', set('two'), {}],
        [1904, 1905, 'v', enter('one'), { entered: false }],
        [4000, 4005, 'v', enter('one'), { entered: true }],
      ],
      'a wrong password': [
        [0, 1, 'o', set('one'), {}],
        [2, 3, 'v', enter('two'), { entered: true }],
      ],
    },
  },
  page: {
    valid: {
      'published, then seen': [
        [0, 5, 'a', { op: 'publish', digest: 'd' }, {}],
        [6, 7, 'b', view, { digest: null }],
        [6, 7, 'c', { op: 'content' }, { digest: 'd' }],
        [906, 907, 'b', view, { digest: 'd' }],
      ],
      'a publish that timed out took effect later': [
        [0, 5, 'a', { op: 'publish', digest: 'd' }, TIMED_OUT],
        [6, 7, 'c', { op: 'content' }, { digest: null }],
        [8, 9, 'c', { op: 'content' }, { digest: 'd' }],
      ],
    },
    faults: {
      'a lost acknowledged page': [
        [0, 5, 'a', { op: 'publish', digest: 'd' }, {}],
        [906, 907, 'b', view, { digest: null }],
      ],
      'other bytes': [
        [0, 5, 'a', { op: 'publish', digest: 'd' }, {}],
        [906, 907, 'b', view, { digest: 'e' }],
      ],
      'a page that was there and is gone': [
        [0, 5, 'a', { op: 'publish', digest: 'd' }, TIMED_OUT],
        [6, 7, 'c', { op: 'content' }, { digest: 'd' }],
        [8, 9, 'c', { op: 'content' }, { digest: null }],
      ],
    },
  },
};

eachPlanted(PLANTED, (name, model, rows, isFault) => {
  test(name, () => {
    const found = faults(model, rows);
    assert.equal(found.length, isFault ? 1 : 0, found.map(({ text }) => text).join('\n'));
    if (isFault) assert.equal(found[0].verdict, 'impossible');
  });
});

test('the count of bodies needs no order', () => {
  const [published, ...views] = PLANTED.burn.faults['a burnt page read twice'];
  assert.equal(bodiesOfBurntPages(operations('burn', [published, ...views])).length, 1);
  assert.deepEqual(bodiesOfBurntPages(operations('burn', [published, views[0]])), []);
});
