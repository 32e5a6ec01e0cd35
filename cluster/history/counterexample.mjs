// Reduces an impossible history of one key to a small one that a person can follow: the shortest impossible beginning, without the
// operations that change nothing and are not needed.

import { describe } from './history.mjs';
import { ANSWERED, OPEN } from './outcome.mjs';

const IMPOSSIBLE = 'impossible';

/** What was known at the moment when `last` ended: later answers are not there yet, so those operations are open. */
function beginning(operations, last) {
  return operations
    .filter(({ start }) => start <= last.end)
    .map((operation) => (operation.end <= last.end || operation.outcome === OPEN ? operation : { ...operation, outcome: OPEN, end: Infinity, reason: 'not ended yet' }));
}

/** The shortest impossible beginning. If a beginning is impossible every longer one is, so halving finds it. */
function shortest(operations, find) {
  const ends = operations.filter(({ outcome }) => outcome === ANSWERED).sort((a, b) => a.end - b.end);
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (find(beginning(operations, ends[middle])).verdict === IMPOSSIBLE) high = middle;
    else low = middle + 1;
  }
  return beginning(operations, ends[high]);
}

/** Leaves out what changes nothing, as long as the rest is impossible. Operations that change the state all stay. */
function needed(operations, find, model) {
  let kept = operations;
  for (const operation of operations) {
    const isIdle = model.reads?.(operation.call) || (operation.outcome === ANSWERED && model.settles?.(operation.call, operation.result));
    if (!isIdle) continue;
    const without = kept.filter((other) => other !== operation);
    if (find(without).verdict === IMPOSSIBLE) kept = without;
  }
  return kept;
}

/** A text that shows why no order of the operations is possible. `find` searches an order of some operations. */
export function counterexample(name, key, operations, find, model) {
  const kept = needed(shortest(operations, find), find, model);
  const { order } = find(kept);
  const placed = new Set(order);
  const left = kept.filter((operation) => operation.outcome === ANSWERED && !placed.has(operation));
  let state = model.init();
  const states = order.map((operation) => {
    state = model.step(state, operation.call, operation.outcome === OPEN ? undefined : operation.result);
    return `  #${operation.id} → ${JSON.stringify(state)}`;
  });
  return [
    `${name} ${key}: no order of these operations is possible (${kept.length} of ${operations.length}; times in ms)`,
    ...kept.map((operation) => `  ${describe(operation)}`),
    `the longest possible order begins with ${JSON.stringify(model.init())}`,
    ...states,
    `then none of these can follow: ${left.map(({ id }) => `#${id}`).join(' ')}`,
  ].join('\n');
}
