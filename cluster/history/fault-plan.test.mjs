// The plan of random faults: the same from the same seed, never two on one part, and all healed at the end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../../torture/fixture.mjs';
import { injectFaults } from './fault-plan.mjs';

/** Faults that record what is done to them; the first healing of every third one fails. */
function makeFaults() {
  const active = new Map();
  const problems = [];
  let healings = 0;
  const faults = ['node1', 'node1', 'node1', 'node2', 'database'].map((needs, at) => ({
    name: `fault${at}`,
    what: 'a fault',
    needs,
    async inject() {
      if (active.has(needs)) problems.push(`${needs} has ${active.get(needs)} already`);
      active.set(needs, `fault${at}`);
    },
    async heal() {
      healings += 1;
      if (healings % 3 === 0) throw new Error('not yet');
      active.delete(needs);
    },
  }));
  return { faults, active, problems };
}

test('no part has two faults at once, every fault is healed, and the report is complete', async () => {
  const { faults, active, problems } = makeFaults();
  let injected = 0;
  const counting = faults.map((fault) => ({ ...fault, inject: () => ((injected += 1), fault.inject()) }));
  const options = { lasts: [0, 3], calm: [0, 2], retry: 1, first: ['fault4', 'fault3'] };
  const done = await injectFaults(counting, dice(1), () => injected >= 60, options);
  assert.deepEqual(problems, []);
  assert.equal(active.size, 0);
  assert.equal(done.length, injected);
  assert.deepEqual(done.slice(0, 2).map(({ name }) => name).sort(), ['fault3', 'fault4']);
  assert.ok(done.every(({ from, to }) => to >= from));
  assert.equal(new Set(done.map(({ name }) => name)).size, faults.length, 'every fault was injected');
});

test('a fault that cannot be injected is healed, not counted, and the others go on', async () => {
  const { faults, active } = makeFaults();
  let tried = 0;
  const broken = faults.map((fault) => ({ ...fault, inject: async () => ((tried += 1), fault.needs === 'node1' ? Promise.reject(new Error('no such part')) : fault.inject()) }));
  const lines = [];
  const done = await injectFaults(broken, dice(1), () => tried >= 30, { lasts: [0, 1], calm: [0, 1], retry: 1, log: (line) => lines.push(line) });
  assert.equal(active.size, 0);
  assert.deepEqual(new Set(done.map(({ name }) => name)), new Set(['fault3', 'fault4']));
  assert.ok(lines.some((line) => line.includes('was not injected: no such part')));
});

test('a fault that does not heal ends the plan', async () => {
  const { faults } = makeFaults();
  const stuck = [{ ...faults[0], heal: async () => Promise.reject(new Error('still broken')) }];
  await assert.rejects(injectFaults(stuck, dice(1), () => false, { lasts: [0, 1], calm: [0, 1], retry: 1, heals: 20 }), /fault0 to heal: still broken/);
});
