// Compare-and-set and money: valid histories pass, planted faults are caught.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditAccount, auditPayments } from './ledger.mjs';
import { NOT_DONE, operations, testPlanted, TIMED_OUT } from './planted.mjs';

const create = { op: 'create', body: 'v1' };
const put = (body, expected) => ({ op: 'put', body, expected });
const [row, content, view] = [{ op: 'row' }, { op: 'content' }, { op: 'view' }];
const credit = (amount) => ({ op: 'credit', amount });
const buy = (once) => ({ op: 'buy', once, amount: 50 });
const bought = (left, page = `page of ${left}`) => ({ left, page });
const created = [0, 1, 'a', create, { stamp: 100 }];

const PLANTED = {
  register: {
    valid: {
      'one of two concurrent writes wins': [
        created,
        [2, 9, 'a', put('v2', 100), { stamp: 101, version: 2 }],
        [3, 8, 'b', put('v3', 100), { conflict: true, stamp: 101 }],
        [10, 11, 'b', row, { stamp: 101, version: 2 }],
        [10, 11, 'b', content, { body: 'v2' }],
        [12, 13, 'b', view, { body: 'v1' }],
        [920, 921, 'b', view, { body: 'v2' }],
      ],
      'a write that timed out took effect later': [
        created,
        [2, 3, 'a', put('v2', 100), TIMED_OUT],
        [4, 5, 'b', content, { body: 'v1' }],
        [6, 7, 'b', content, { body: 'v2' }],
        [8, 9, 'b', row, { stamp: 104, version: 2 }],
        [10, 11, 'b', put('v3', 104), { stamp: 105, version: 3 }],
      ],
      'a write that timed out and never happens does not disturb others': [
        created,
        [2, 3, 'a', put('v2', 100), TIMED_OUT],
        [4, 5, 'b', put('v3', 100), { stamp: 101, version: 2 }],
        [6, 7, 'b', content, { body: 'v3' }],
      ],
      'a conflict names the stamp of a write that timed out': [
        created,
        [2, 3, 'a', put('v2', 100), TIMED_OUT],
        [4, 5, 'b', put('v3', 100), { conflict: true, stamp: 107 }],
        [6, 7, 'b', put('v3', 107), { stamp: 108, version: 3 }],
      ],
      'rolled back': [
        created,
        [2, 3, 'a', put('v2', 100), { stamp: 101, version: 2 }],
        [4, 5, 'b', { op: 'rollback', version: 1 }, { stamp: 102, version: 3 }],
        [6, 7, 'b', content, { body: 'v1' }],
        [8, 9, 'b', { op: 'rollback', version: 3 }, { stamp: 102, version: 3 }],
      ],
    },
    faults: {
      'a compare-and-set that succeeded twice': [
        created,
        [2, 9, 'a', put('v2', 100), { stamp: 101, version: 2 }],
        [3, 8, 'b', put('v3', 100), { stamp: 102, version: 3 }],
      ],
      'a lost acknowledged write': [
        created,
        [2, 3, 'a', put('v2', 100), { stamp: 101, version: 2 }],
        [4, 5, 'a', content, { body: 'v1' }],
      ],
      'a stale row': [
        created,
        [2, 3, 'a', put('v2', 100), { stamp: 101, version: 2 }],
        [4, 5, 'a', row, { stamp: 100, version: 1 }],
      ],
      'a view that is too stale': [
        created,
        [2, 3, 'a', put('v2', 100), { stamp: 101, version: 2 }],
        [910, 911, 'a', view, { body: 'v1' }],
      ],
      'a conflict with the expected stamp': [created, [2, 3, 'a', put('v2', 100), { conflict: true, stamp: 100 }]],
      'a conflict although it took effect': [
        created,
        [2, 3, 'a', put('v2', 100), { conflict: true, stamp: 101 }],
        [4, 5, 'a', content, { body: 'v2' }],
      ],
      'a stamp that does not increase': [created, [2, 3, 'a', put('v2', 100), { stamp: 100, version: 2 }]],
      'a write that timed out and took effect twice': [
        created,
        [2, 3, 'a', put('v2', 100), TIMED_OUT],
        [4, 5, 'b', row, { stamp: 101, version: 2 }],
        [6, 7, 'b', row, { stamp: 102, version: 3 }],
      ],
      'a write that was seen and undone': [
        created,
        [2, 3, 'a', put('v2', 100), TIMED_OUT],
        [4, 5, 'b', content, { body: 'v2' }],
        [6, 7, 'b', content, { body: 'v1' }],
      ],
    },
  },
  balance: {
    valid: {
      'each purchase is booked once, and a repeated one gets the first answer': [
        [0, 1, 'o', credit(120), {}],
        [2, 9, 'a', buy('x'), bought(20)],
        [3, 8, 'b', buy('y'), bought(70)],
        [10, 11, 'b', buy('y'), bought(70)],
        [12, 13, 'b', buy('z'), { short: true, left: 20 }],
        [14, 15, 'b', { op: 'read' }, { left: 20 }],
      ],
      'a purchase that timed out took effect': [
        [0, 1, 'o', credit(100), {}],
        [2, 9, 'a', buy('x'), TIMED_OUT],
        [10, 11, 'b', { op: 'read' }, { left: 50 }],
        [12, 13, 'b', buy('x'), bought(50)],
      ],
      'a purchase that was refused': [
        [0, 1, 'o', credit(100), {}],
        [2, 9, 'a', buy('x'), NOT_DONE],
        [10, 11, 'b', { op: 'read' }, { left: 100 }],
      ],
    },
    faults: {
      'a purchase booked twice': [
        [0, 1, 'o', credit(200), {}],
        [2, 9, 'a', buy('x'), bought(150)],
        [10, 11, 'a', buy('x'), bought(150)],
        [12, 13, 'b', { op: 'read' }, { left: 100 }],
      ],
      'a lost acknowledged purchase': [
        [0, 1, 'o', credit(200), {}],
        [2, 9, 'a', buy('x'), bought(150)],
        [12, 13, 'b', { op: 'read' }, { left: 200 }],
      ],
      'more was spent than was there': [
        [0, 1, 'o', credit(70), {}],
        [2, 9, 'a', buy('x'), bought(20)],
        [3, 8, 'b', buy('y'), bought(20)],
      ],
      'refused although the balance suffices': [
        [0, 1, 'o', credit(70), {}],
        [2, 9, 'a', buy('x'), { short: true, left: 70 }],
      ],
      'a purchase that timed out was booked twice': [
        [0, 1, 'o', credit(200), {}],
        [2, 9, 'a', buy('x'), TIMED_OUT],
        [12, 13, 'b', { op: 'read' }, { left: 100 }],
      ],
    },
  },
};

testPlanted(PLANTED);

const history = operations('balance', [
  [0, 1, 'o', credit(200), {}],
  [2, 9, 'a', buy('x'), bought(150, 'p')],
  [10, 11, 'a', buy('x'), bought(150, 'p')],
  [12, 13, 'b', buy('y'), TIMED_OUT],
]);
const movements = (...amounts) => amounts.map((amount) => ({ amount }));
const audit = (transactions, left, list = history) => auditAccount('ann', list, { transactions, left });

test('an open purchase may be booked or not', () => {
  assert.deepEqual(audit(movements(200, -50), 150), []);
  assert.deepEqual(audit(movements(200, -50, -50), 100), []);
});

test('caught: a purchase booked twice, one that is missing, a balance that is not the sum', () => {
  assert.match(audit(movements(200, -50, -50, -50), 50)[0], /3 purchases are booked/);
  assert.match(audit(movements(200), 200)[0], /1 purchases were acknowledged, 0 are booked/);
  assert.match(audit(movements(200, -50), 100)[0], /sum to 150/);
});

test('caught: two pages for one purchase', () => {
  const twice = history.map((operation) => (operation.id === 2 ? { ...operation, result: bought(150, 'q') } : operation));
  assert.match(audit(movements(200, -50), 150, twice)[0], /delivered 2 pages: p, q/);
});

test('caught: payments that are missing, too many, or left unfinished', () => {
  const paid = operations('idempotency', [
    [0, 1, 'a', { op: 'post', body: 'proof' }, { answer: { id: 's', digest: 's' } }],
    [2, 3, 'a', { op: 'post', body: 'proof' }, { answer: { id: 's', digest: 's' } }],
    [4, 5, 'a', { op: 'count' }, { count: 1, id: 's' }],
  ]);
  const done = { id: 'pay_1', state: 'fulfilled' };
  assert.deepEqual(auditPayments(paid, [done]), []);
  assert.deepEqual(auditPayments(paid, [done, { id: 'pay_2', state: 'refused' }]), []);
  assert.match(auditPayments(paid, [])[0], /1 payments were acknowledged, 0 are fulfilled/);
  assert.match(auditPayments(paid, [done, { ...done, id: 'pay_2' }])[0], /only 1 were acknowledged/);
  assert.match(auditPayments(paid, [done, { id: 'pay_2', state: 'settling' }])[0], /is still settling/);
});
