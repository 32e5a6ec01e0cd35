// Writes histories for tests: who did what from when to when, and what came of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe as describeOperation } from './history.mjs';
import { check } from './linearizable.mjs';
import { MODELS } from './models.mjs';
import { ANSWERED, OPEN, REFUSED } from './outcome.mjs';

/** In place of a result: the request timed out, or was refused. */
export const TIMED_OUT = Symbol('timed out');
export const NOT_DONE = Symbol('not done');

const MILLISECOND = 1e6;

/** Operations on one key from rows [begin, end, client, call, result], with times in milliseconds. */
export function operations(model, rows, key = 'k') {
  return rows.map(([start, end, by, call, result], id) => {
    const base = { id, model, key, process: by, call, start: start * MILLISECOND };
    if (result === TIMED_OUT) return { ...base, end: Infinity, outcome: OPEN, reason: 'timeout' };
    if (result === NOT_DONE) return { ...base, end: end * MILLISECOND, outcome: REFUSED, reason: 'overloaded' };
    return { ...base, end: end * MILLISECOND, outcome: ANSWERED, result };
  });
}

/** The faults that the checker finds in rows. */
export function faults(model, rows, options) {
  return check(model, operations(model, rows), MODELS[model], options).faults;
}

/** A test for every valid history and every planted fault of a table {model: {valid: {name: rows}, faults: {name: rows}}}. */
export function testPlanted(table) {
  const add = (name, model, rows, isFault) =>
    test(name, () => {
      const found = faults(model, rows);
      assert.equal(found.length, isFault ? 1 : 0, found.map(({ text }) => text).join('\n'));
      if (isFault) assert.equal(found[0].verdict, 'impossible');
    });
  for (const [model, { valid, faults: planted }] of Object.entries(table)) {
    for (const [name, rows] of Object.entries(valid)) add(`${model}: ${name}`, model, rows, false);
    for (const [name, rows] of Object.entries(planted)) add(`${model}: caught: ${name}`, model, rows, true);
  }
}

export const lines = (list) => list.map(describeOperation).join('\n');
