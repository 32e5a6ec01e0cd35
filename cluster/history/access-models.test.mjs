// The models of access accept histories that the service may produce, and catch planted faults: idempotency, delivery, access.

import { NOT_DONE, testPlanted, TIMED_OUT } from './planted.mjs';

const post = (body) => ({ op: 'post', body });
const answer = (id, digest = id) => ({ answer: { id, digest } });
const [allow, poll] = [{ op: 'allow' }, { op: 'poll' }];
const set = (secret) => ({ op: 'set', secret });
const enter = (secret) => ({ op: 'view', secret });

const PLANTED = {
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
      'a second page that no response mentioned': [
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
      'a key that is gone although no request deleted it': [
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
};

testPlanted(PLANTED);
