// The plan of random faults: the same from the same seed, never two on one part, and all healed at the end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../../e2e/server.mjs';
import { dice } from '../../torture/fixture.mjs';
import { makeFault } from '../fault.mjs';
import { injectFaults, plans } from './fault-plan.mjs';

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
  const options = { lasts: [0, 3], calm: [0, 2], retry: 1, first: [{ name: 'fault4', lasts: 2 }, { name: 'fault3', lasts: 2 }] };
  const done = await injectFaults(counting, dice(1), () => injected >= 60, options);
  assert.deepEqual(problems, []);
  assert.equal(active.size, 0);
  assert.equal(done.length, injected);
  assert.deepEqual(new Set(done.slice(0, 2).map(({ name }) => name)), new Set(['fault3', 'fault4']));
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

/** The first steps of each stream. */
const steps = (faults, seed, count) => plans(faults, dice(seed)).map((plan) =>
  Array.from({ length: count }, () => plan.next().value).map(({ fault, calm, lasts }) => ({ name: fault.name, calm, lasts })));

test('the same seed gives each stream the same faults, however long injecting and healing take', async () => {
  const { faults } = makeFaults();
  const planned = steps(faults, 5, 60);
  assert.deepEqual(planned, steps(faults, 5, 60));
  assert.notDeepEqual(planned, steps(faults, 6, 60));
  assert.notDeepEqual(planned[0], planned[1]);
  let injected = 0;
  const slow = faults.map((fault) => ({ ...fault, inject: () => sleep(Math.random() * 4).then(() => ((injected += 1), fault.inject())) }));
  const done = await injectFaults(slow, dice(5), () => injected >= 40, { lasts: [0, 1], calm: [0, 1], retry: 1 });
  for (const stream of [0, 1]) {
    const names = done.filter((entry) => entry.stream === stream).map(({ name }) => name);
    assert.deepEqual(names, planned[stream].slice(0, names.length).map(({ name }) => name));
  }
});

test('a fault that does not heal ends the plan', async () => {
  const { faults } = makeFaults();
  const stuck = [{ ...faults[0], heal: async () => Promise.reject(new Error('still broken')) }];
  await assert.rejects(injectFaults(stuck, dice(1), () => false, { lasts: [0, 1], calm: [0, 1], retry: 1, heals: 20 }), /fault0 to heal: still broken/);
});

/** A fault of two steps. `fails` says which step fails: of injecting (`first`, `second`) or of healing (`undo first`, `undo second`). */
function twoSteps(fails) {
  const inPlace = new Set();
  const step = async (name, change) => {
    if (fails.has(name)) throw new Error(`${name} failed`);
    change();
  };
  const fault = makeFault('two steps', 'a fault', 'node1', async (onHeal) => {
    for (const name of ['first', 'second']) {
      await step(name, () => inPlace.add(name));
      onHeal(() => step(`undo ${name}`, () => inPlace.delete(name)));
    }
  });
  return { fault, inPlace };
}

test('a fault whose injection fails half-way is taken back at once', async () => {
  const { fault, inPlace } = twoSteps(new Set(['second']));
  await assert.rejects(fault.inject(), /second failed/);
  assert.deepEqual([...inPlace], []);
  assert.equal(fault.active(), false);
});

test('a healing that fails is tried again from where it failed, also that of a failed injection', async () => {
  const fails = new Set(['undo first']);
  const { fault, inPlace } = twoSteps(fails);
  await fault.inject();
  await assert.rejects(fault.heal(), /undo first failed/);
  assert.deepEqual([...inPlace], ['first']);
  await fault.inject();
  assert.deepEqual([...inPlace], ['first'], 'still active: not injected twice');
  fails.add('second').delete('undo first');
  await fault.heal();
  assert.deepEqual([...inPlace], []);

  fails.add('undo first');
  await assert.rejects(fault.inject(), /second failed/);
  assert.equal(fault.active(), true);
  fails.clear();
  await fault.heal();
  assert.deepEqual([...inPlace], []);
});
