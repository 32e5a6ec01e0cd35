// The model of a prepaid balance, and what must hold of the ledger at the end: every acknowledged purchase is booked exactly once, every
// open one at most once, and nothing else.

import { ANSWERED, OPEN } from './outcome.mjs';

/** State: cents left, and what was left after each purchase, by its Idempotency-Key: a repeated purchase gets the first answer. */
export const balance = {
  init: () => ({ left: 0, bought: {} }),
  step(state, { op, once, amount }, result) {
    const { left, bought } = state;
    if (op === 'read') return result.left === left ? state : null;
    if (op === 'credit') return { left: left + amount, bought };
    if (result?.short) return once in bought || left >= amount || result.left !== left ? null : state;
    if (once in bought) return result !== undefined && result.left === bought[once] ? state : null;
    if (left < amount) return null;
    const after = left - amount;
    if (result !== undefined && result.left !== after) return null;
    return { left: after, bought: { ...bought, [once]: after } };
  },
  reads: ({ op }) => op === 'read',
  settles: ({ op }, result) => op === 'buy' && result.short === true,
};

const isBought = ({ outcome, result }) => outcome === ANSWERED && result.short !== true;

/**
 * Compares the purchases of an account with its transactions. `operations` are those of the model `balance` with this account as key;
 * `transactions` are its movements as the service lists them: [{amount}], negative for a purchase; `left` is the balance it reports.
 */
export function auditAccount(account, operations, { transactions, left }) {
  const purchases = operations.filter(({ call }) => call.op === 'buy');
  const sure = new Map();
  const maybe = new Set();
  for (const operation of purchases) {
    const { once, amount } = operation.call;
    if (isBought(operation)) sure.set(once, { amount, pages: (sure.get(once)?.pages ?? new Set()).add(operation.result.page) });
    else if (operation.outcome === OPEN) maybe.add(once);
  }
  for (const once of sure.keys()) maybe.delete(once);
  const faults = [];
  for (const [once, { pages }] of sure) {
    if (pages.size > 1) faults.push(`${account}: purchase ${once} delivered ${pages.size} pages: ${[...pages].join(', ')}`);
  }
  const spent = transactions.filter(({ amount }) => amount < 0);
  if (spent.length < sure.size) faults.push(`${account}: ${sure.size} purchases were acknowledged, ${spent.length} are booked`);
  if (spent.length > sure.size + maybe.size) {
    faults.push(`${account}: ${spent.length} purchases are booked, only ${sure.size} were acknowledged and ${maybe.size} are open`);
  }
  const sum = transactions.reduce((total, { amount }) => total + amount, 0);
  if (sum !== left) faults.push(`${account}: the transactions sum to ${sum}, the balance is ${left}`);
  return faults;
}

/** States of a payment that do not change any more by themselves; money moved in the first only. */
export const DECIDED = ['fulfilled', 'refused'];

/**
 * Compares payments with those that the service lists: [{id, state}]. `operations` are attempts to pay, the key of each is the payment; an
 * answered one was acknowledged.
 */
export function auditPayments(operations, payments) {
  const attempts = operations.filter(({ call }) => call.op === 'post' || call.op === 'allow');
  const sure = new Set(attempts.filter(({ outcome }) => outcome === ANSWERED).map(({ key }) => key));
  const maybe = new Set(attempts.filter(({ outcome, key }) => outcome === OPEN && !sure.has(key)).map(({ key }) => key));
  const faults = payments.filter(({ state }) => !DECIDED.includes(state)).map(({ id, state }) => `payment ${id} is still ${state}`);
  const booked = payments.filter(({ state }) => state === 'fulfilled').length;
  if (booked < sure.size) faults.push(`${sure.size} payments were acknowledged, ${booked} are fulfilled`);
  if (booked > sure.size + maybe.size) faults.push(`${booked} payments are fulfilled, only ${sure.size} were acknowledged and ${maybe.size} are open`);
  return faults;
}
