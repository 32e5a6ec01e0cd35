// The search itself: random histories made from a sequential execution are possible, changed ones mostly are not, and on tiny histories
// the verdict is that of trying every order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../../torture/fixture.mjs';
import { IMPOSSIBLE, POSSIBLE, search, UNDECIDED } from './linearizable.mjs';
import { MODELS } from './models.mjs';
import { ANSWERED, OPEN, REFUSED } from './outcome.mjs';
import { faults, lines, operations, TIMED_OUT } from './planted.mjs';

const SEED = Number(process.env.HISTORY_SEED ?? 1);

const pick = (roll, list) => list[roll.below(list.length)];

/** Calls and, for a call in a state, the answer of a correct service and another one. */
const KINDS = {
  claim: {
    calls: (roll) => ({ op: pick(roll, ['claim', 'claim', 'read']), by: pick(roll, ['ann', 'bob', 'cid']) }),
    answers: ({ op }) => (op === 'read' ? [{ mine: true }, { mine: false }] : [{ won: true }, { won: false }]),
  },
  deletion: {
    calls: (roll) => ({ op: pick(roll, ['delete', 'restore', 'read']) }),
    answers: ({ op }) => ({ read: [{ there: true }, { there: false }], delete: [{ done: true }, { done: false }], restore: [{}] })[op],
  },
  slug: {
    calls: (roll) => {
      const page = pick(roll, ['p', 'q', 'r']);
      return { op: pick(roll, ['take', 'take', 'release', 'read']), page, account: page === 'r' ? 'bob' : 'ann' };
    },
    answers: ({ op }) => ({ take: [{ taken: true }, { taken: false }], release: [{}], read: [{ has: true }, { has: false }] })[op],
  },
  register: {
    calls: (roll) => {
      const body = `b${roll.below(1000)}`;
      const put = { op: 'put', body, expected: roll.below(6) };
      return pick(roll, [{ op: 'create', body }, put, put, { op: 'row' }, { op: 'rollback', version: roll.between(1, 3) }]);
    },
    answers: ({ op }) => {
      const numbers = [0, 1, 2, 3, 4, 5];
      if (op === 'create') return numbers.map((stamp) => ({ stamp }));
      const rows = numbers.flatMap((stamp) => [1, 2, 3, 4].map((version) => ({ stamp, version })));
      return op === 'put' ? [...rows, ...numbers.map((stamp) => ({ conflict: true, stamp }))] : rows;
    },
  },
  access: {
    // Views may lag behind by 900 ms: operations that are closer together say little.
    gap: 1500e6,
    calls: (roll) => ({ op: pick(roll, ['set', 'view', 'view']), secret: pick(roll, ['one', 'two']) }),
    answers: ({ op }) => (op === 'view' ? [{ entered: true }, { entered: false }] : [{}]),
  },
};

/** Between two operations, in nanoseconds. */
const GAP = 10e6;

/** Executes random calls one after the other, a gap apart; each was begun some time before its moment and ended some time after. */
function execute(roll, name, count) {
  const model = MODELS[name];
  const { calls, answers, gap = GAP } = KINDS[name];
  const list = [];
  let state = model.init();
  for (let id = 0; list.length < count && id < count * 20; id += 1) {
    const call = calls(roll);
    const possible = answers(call).filter((result) => model.step(state, call, result) !== null);
    if (possible.length === 0) continue;
    const result = pick(roll, possible);
    const moment = list.length * gap;
    const base = { id: list.length, model: name, key: 'k', process: `c${list.length}`, call };
    const start = moment - roll.below(gap * 3);
    if (roll.chance(0.1)) {
      list.push({ ...base, start, end: moment, outcome: REFUSED, reason: 'overloaded' });
      continue;
    }
    const effect = model.step(state, call, result);
    // Only of an operation that would have taken effect: it may take effect without an answer, or never.
    const isOpen = roll.chance(0.2) && !model.reads?.(call) && !model.settles?.(call, result) && !(call.op === 'release');
    if (isOpen) {
      const after = model.step(state, call, undefined);
      if (after !== null && roll.chance(0.6)) state = after;
      list.push({ ...base, start, end: Infinity, outcome: OPEN, reason: 'timeout' });
      continue;
    }
    state = effect;
    list.push({ ...base, start, end: moment + roll.below(gap * 3), outcome: ANSWERED, result });
  }
  return list;
}

/** Gives one operation another answer. */
function mutate(roll, name, list) {
  const answered = list.filter(({ outcome }) => outcome === ANSWERED);
  const victim = pick(roll, answered);
  const others = KINDS[name].answers(victim.call).filter((result) => JSON.stringify(result) !== JSON.stringify(victim.result));
  if (others.length === 0) return null;
  return list.map((operation) => (operation === victim ? { ...operation, result: pick(roll, others) } : operation));
}

/** Tries every order: slow, plain, and independent of the search. */
function bruteForce(list, model) {
  const intervals = list
    .filter(({ outcome, call }) => outcome !== REFUSED && !(outcome === OPEN && model.reads?.(call)))
    .map((operation) => ({ operation, from: operation.start - (model.staleness?.(operation.call) ?? 0), to: operation.outcome === OPEN ? Infinity : operation.end }));
  const place = (left, state) => {
    if (left.every(({ to }) => to === Infinity)) return true;
    return left.some((candidate) => {
      // Something that had ended before this one began must come first.
      if (left.some((other) => other !== candidate && other.to < candidate.from)) return false;
      const { call, result, outcome } = candidate.operation;
      const next = model.step(state, call, outcome === OPEN ? undefined : result);
      return next !== null && place(left.filter((other) => other !== candidate), next);
    });
  };
  return place(intervals, model.init()) ? POSSIBLE : IMPOSSIBLE;
}

for (const name of Object.keys(KINDS)) {
  const model = MODELS[name];

  test(`${name}: random histories are possible, and so are their beginnings; changed ones mostly are not`, (context) => {
    const roll = dice(SEED);
    let caught = 0;
    let changed = 0;
    for (let round = 0; round < 200; round += 1) {
      const list = execute(roll, name, 30);
      assert.equal(search(list, model).verdict, POSSIBLE, `seed ${SEED}, round ${round}\n${lines(list)}`);
      const cut = roll.below(30 * (KINDS[name].gap ?? GAP));
      const begun = list
        .filter(({ start }) => start <= cut)
        .map((operation) => (operation.end > cut && operation.outcome !== REFUSED ? { ...operation, outcome: OPEN, end: Infinity } : operation));
      assert.equal(search(begun, model).verdict, POSSIBLE, `seed ${SEED}, round ${round}, cut at ${cut}\n${lines(begun)}`);
      const other = mutate(roll, name, list);
      if (other === null) continue;
      changed += 1;
      const { verdict } = search(other, model);
      assert.notEqual(verdict, UNDECIDED);
      if (verdict === IMPOSSIBLE) caught += 1;
    }
    context.diagnostic(`seed ${SEED}: ${caught} of ${changed} changed histories are impossible`);
    assert.ok(caught > changed / 8, `${caught} of ${changed}`);
  });

  test(`${name}: the verdict is that of trying every order`, (context) => {
    const roll = dice(SEED + 1);
    const count = { [POSSIBLE]: 0, [IMPOSSIBLE]: 0 };
    for (let round = 0; round < 600; round += 1) {
      const made = execute(roll, name, 6);
      if (!made.some(({ outcome }) => outcome === ANSWERED)) continue;
      const list = (roll.chance(0.7) && mutate(roll, name, made)) || made;
      const expected = bruteForce(list, model);
      assert.equal(search(list, model).verdict, expected, `seed ${SEED}, round ${round}\n${lines(list)}`);
      count[expected] += 1;
    }
    context.diagnostic(`seed ${SEED}: ${count[POSSIBLE]} possible, ${count[IMPOSSIBLE]} impossible`);
    assert.ok(count[POSSIBLE] > 50 && count[IMPOSSIBLE] > 50, JSON.stringify(count));
  });
}

test('a search that takes too long is undecided, and that is a fault', () => {
  const rows = Array.from({ length: 12 }, (_, n) => [0, 100, `c${n}`, { op: 'set', secret: `s${n}` }, {}]);
  rows.push([101, 102, 'v', { op: 'view', secret: 'none' }, { entered: true }]);
  const [fault] = faults('access', rows, { steps: 1000 });
  assert.equal(fault.verdict, UNDECIDED);
  assert.match(fault.text, /undecided after 1001 steps over 13 operations/);
});

test('requests that are repeated while nothing answers do not make the search give up', () => {
  const buy = (once) => ({ op: 'buy', once, amount: 50 });
  const rows = [[0, 1, 'o', { op: 'credit', amount: 1_000 }, {}]];
  for (let n = 0; n < 5; n += 1) for (const by of ['a', 'b', 'c']) rows.push([2 + n, 3 + n, by, buy(`p${n}`), TIMED_OUT]);
  // Three of five took effect; nothing says which.
  rows.push([100, 101, 'r', { op: 'read' }, { left: 850 }]);
  assert.deepEqual(faults('balance', rows, { steps: 10_000 }), []);
  rows.push([102, 103, 'r', { op: 'read' }, { left: 875 }]);
  assert.equal(faults('balance', rows, { steps: 10_000 })[0].verdict, IMPOSSIBLE);
});

test('a counter-example is the shortest impossible beginning without what is not needed', () => {
  const rows = [
    ...Array.from({ length: 40 }, (_, n) => [n, n + 0.5, 'r', { op: 'read', by: 'ann' }, { mine: false }]),
    [50, 51, 'a', { op: 'claim', by: 'ann' }, { won: true }],
    [52, 53, 'b', { op: 'claim', by: 'bob' }, { won: true }],
    [54, 55, 'c', { op: 'claim', by: 'cid' }, { won: false }],
    [52.5, 60, 'd', { op: 'claim', by: 'dee' }, TIMED_OUT],
  ];
  const [{ text }] = faults('claim', rows);
  const shown = [...text.matchAll(/#(\d+) \w+ {2}\{/g)].map(([, id]) => Number(id));
  assert.deepEqual(shown.filter((id) => id !== 43), [40, 41], text);
  assert.match(text, /then none of these can follow: #4[01]/);
});

test('operations of different keys do not disturb each other', () => {
  const [first] = operations('claim', [[0, 1, 'a', { op: 'claim', by: 'ann' }, { won: true }]], 'one');
  const [second] = operations('claim', [[0, 1, 'b', { op: 'claim', by: 'bob' }, { won: true }]], 'two');
  assert.equal(search([first], MODELS.claim).verdict, POSSIBLE);
  assert.equal(search([second], MODELS.claim).verdict, POSSIBLE);
  assert.equal(search([first, second], MODELS.claim).verdict, IMPOSSIBLE);
});
