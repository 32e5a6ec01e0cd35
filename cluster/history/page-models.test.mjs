// The models of pages accept histories that the service may produce, and catch planted faults: claim, burn, slug, deletion, page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodiesOfBurntPages } from './check.mjs';
import { NOT_DONE, operations, testPlanted, TIMED_OUT } from './planted.mjs';

const claim = (by) => ({ op: 'claim', by });
const read = (by) => ({ op: 'read', by });
const publish = { op: 'publish' };
const view = { op: 'view' };
const [remove, restore] = [{ op: 'delete' }, { op: 'restore' }];
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

testPlanted(PLANTED);

test('the count of bodies needs no order', () => {
  const [published, ...views] = PLANTED.burn.faults['a burnt page read twice'];
  assert.equal(bodiesOfBurntPages(operations('burn', [published, ...views])).length, 1);
  assert.deepEqual(bodiesOfBurntPages(operations('burn', [published, views[0]])), []);
});
