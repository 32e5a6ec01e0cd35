// Decides whether a history is linearizable: whether its operations can be put in one order that respects real time and in which the model
// allows every answer. The search is that of Wing and Gong, with Lowe's memory of (operations already placed, state).

import { counterexample } from './counterexample.mjs';
import { OPEN, REFUSED } from './outcome.mjs';

/** Placements that are tried for one key before the search gives up. */
const STEPS = 2_000_000;

export const POSSIBLE = 'possible';
export const IMPOSSIBLE = 'impossible';
/** The search gave up. Not a pass: the caller must fail. */
export const UNDECIDED = 'undecided';

/**
 * A model is {init, step, reads?, settles?, staleness?}:
 * - `init()`: the state of a key before the first operation; any JSON value.
 * - `step(state, call, result)`: the state afterwards, or null if this answer is impossible in this state. `result` is undefined for an
 *   open operation: the state if it takes effect, or null if it cannot.
 * - `reads(call)`: whether the call never changes the state. An open read says nothing.
 * - `settles(call, result)`: whether this answer leaves every state as it is, so that a counter-example may do without the operation.
 * - `staleness(call)`: nanoseconds by which an answer may lag behind; the operation may be placed that much before its begin.
 */
function prepare(operations, model) {
  return operations
    .filter(({ outcome, call }) => outcome !== REFUSED && !(outcome === OPEN && model.reads?.(call)))
    .map((operation) => ({ operation, from: operation.start - (model.staleness?.(operation.call) ?? 0), to: operation.outcome === OPEN ? Infinity : operation.end }));
}

/**
 * For every open operation the one before it with the same call, by index. They can be exchanged for each other, because neither has an end
 * and the earlier one may be placed wherever the later one may; so the later one is placed only after the earlier one. A client that
 * repeats a request while nothing answers would otherwise double the number of orders each time.
 */
function twins(intervals) {
  const last = new Map();
  const before = [];
  const open = [...intervals.keys()].filter((index) => intervals[index].to === Infinity);
  for (const index of open.sort((a, b) => intervals[a].from - intervals[b].from)) {
    const call = JSON.stringify(intervals[index].operation.call);
    before[index] = last.get(call);
    last.set(call, index);
  }
  return before;
}

/** Begins and ends in the order of time as a doubly linked list behind a head. At the same instant begins come first: they overlap. */
function timeline(intervals) {
  const events = intervals.flatMap((interval, index) => {
    const call = { index, interval, at: interval.from, isCall: true };
    if (interval.to === Infinity) return [call];
    const end = { index, at: interval.to, isCall: false };
    call.end = end;
    return [call, end];
  });
  events.sort((a, b) => a.at - b.at || Number(b.isCall) - Number(a.isCall));
  const head = { next: null };
  let last = head;
  for (const event of events) {
    last.next = event;
    event.previous = last;
    event.next = null;
    last = event;
  }
  return head;
}

function unlink(event) {
  event.previous.next = event.next;
  if (event.next) event.next.previous = event.previous;
}

function relink(event) {
  event.previous.next = event;
  if (event.next) event.next.previous = event;
}

/** Takes a placed operation out of the timeline. */
function lift(call) {
  unlink(call);
  if (call.end) unlink(call.end);
}

/** Puts it back, in the opposite order. */
function lower(call) {
  if (call.end) relink(call.end);
  relink(call);
}

/**
 * Searches for an order of operations of one key. Gives {verdict, steps, order}: for an impossible history `order` is the longest one that
 * was found.
 */
export function search(operations, model, { steps: limit = STEPS } = {}) {
  const intervals = prepare(operations, model);
  const head = timeline(intervals);
  const twin = twins(intervals);
  const isWaiting = (index) => twin[index] !== undefined && (placed & (1n << BigInt(twin[index]))) === 0n;
  let remaining = intervals.filter(({ to }) => to !== Infinity).length;
  let state = model.init();
  let placed = 0n;
  let steps = 0;
  const seen = new Set();
  const stack = [];
  let longest = [];
  const order = () => stack.map(({ call }) => call.interval.operation);
  let event = head.next;
  while (remaining > 0) {
    if (event?.isCall && isWaiting(event.index)) {
      event = event.next;
    } else if (event?.isCall) {
      if ((steps += 1) > limit) return { verdict: UNDECIDED, steps, order: longest };
      const { operation } = event.interval;
      const next = model.step(state, operation.call, operation.outcome === OPEN ? undefined : operation.result);
      const isNew = next !== null && remember(seen, placed | (1n << BigInt(event.index)), next);
      if (isNew) {
        stack.push({ call: event, state, placed });
        lift(event);
        placed |= 1n << BigInt(event.index);
        state = next;
        if (event.end) remaining -= 1;
        if (stack.length > longest.length) longest = order();
        event = head.next;
      } else {
        event = event.next;
      }
    } else {
      // An operation ended before any order could place it: the last placement was wrong.
      const last = stack.pop();
      if (!last) return { verdict: IMPOSSIBLE, steps, order: longest };
      ({ state, placed } = last);
      lower(last.call);
      if (last.call.end) remaining += 1;
      event = last.call.next;
    }
  }
  return { verdict: POSSIBLE, steps, order: order() };
}

function remember(seen, placed, state) {
  const name = `${placed.toString(36)} ${JSON.stringify(state)}`;
  if (seen.has(name)) return false;
  seen.add(name);
  return true;
}

/** The operations of each key, in the order they began. */
export function byKey(operations) {
  const keys = new Map();
  for (const operation of operations) {
    if (!keys.has(operation.key)) keys.set(operation.key, []);
    keys.get(operation.key).push(operation);
  }
  for (const list of keys.values()) list.sort((a, b) => a.start - b.start);
  return keys;
}

/** Checks the operations of one model, key by key. Gives {keys, operations, steps, faults}; a fault is {key, verdict, text}. */
export function check(name, operations, model, options = {}) {
  const keys = byKey(operations);
  const faults = [];
  let steps = 0;
  for (const [key, list] of keys) {
    const found = search(list, model, options);
    steps += found.steps;
    if (found.verdict === POSSIBLE) continue;
    const text =
      found.verdict === UNDECIDED
        ? `${name} ${key}: undecided after ${found.steps} steps over ${list.length} operations`
        : counterexample(name, key, list, (part) => search(part, model, options), model);
    faults.push({ model: name, key, verdict: found.verdict, text });
  }
  return { keys: keys.size, operations: operations.length, steps, faults };
}
