// Checks a whole history: every key against its model, and the rules that need no order.

import { byKey, check } from './linearizable.mjs';
import { MODELS } from './models.mjs';
import { ANSWERED } from './outcome.mjs';

/**
 * At most one client ever received bytes of a burnt page. The model `burn` implies it; this count is independent of the search, and holds
 * for keys that the search leaves undecided.
 */
export function bodiesOfBurntPages(operations) {
  const faults = [];
  for (const [key, list] of byKey(operations.filter(({ model }) => model === 'burn'))) {
    const seen = list.filter(({ call, outcome, result }) => call.op === 'view' && outcome === ANSWERED && result.body);
    const text = `burn ${key}: ${seen.length} clients received the page: ${seen.map(({ id }) => `#${id}`).join(' ')}`;
    if (seen.length > 1) faults.push({ model: 'burn', key, verdict: 'impossible', text });
  }
  return faults;
}

/** Gives {faults, summary}: nothing is wrong only if `faults` is empty; an undecided key is a fault. */
export function checkHistory(history, { models = MODELS, ...options } = {}) {
  const faults = [];
  const summary = [];
  const names = new Set(history.operations.map(({ model }) => model));
  for (const name of names) {
    if (!Object.hasOwn(models, name)) throw new Error(`no model ${name}`);
    const operations = history.operations.filter(({ model }) => model === name);
    const found = check(name, operations, models[name], options);
    faults.push(...found.faults);
    summary.push(`${name}: ${found.operations} operations on ${found.keys} keys, ${found.steps} steps`);
  }
  faults.push(...bodiesOfBurntPages(history.operations));
  return { faults, summary };
}
