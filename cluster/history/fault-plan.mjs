// Injects faults of a cluster at random, from a seed, and heals them again: seldom none, mostly one, sometimes two that concern different
// parts.

import { sleep, until } from '../../e2e/server.mjs';
import { dice } from '../../torture/fixture.mjs';

/**
 * Milliseconds that a fault lasts, and that may pass between two. The longest exceed the lease of a database leader (20 s); short ones are
 * more frequent.
 */
const LASTS = [500, 26_000];
const CALM = [500, 6_000];

/** Milliseconds in which a healed part works again. */
const HEALS = 240_000;

/** Faults at a time, at most. */
const STREAMS = 2;

/**
 * The faults of one stream, in order: {fault, calm, lasts}, with the milliseconds before it and during it. Drawn from a generator of its
 * own, so that the same seed gives the same faults in the same order, however long injecting and healing take.
 */
function* plan(faults, roll, first, { calm, lasts }) {
  const parts = [...new Set(faults.map(({ needs }) => needs))];
  const draw = ([from, to]) => Math.min(roll.between(from, to), roll.between(from, to));
  for (let at = 0; ; at += 1) {
    // First the part, then one of its faults: a part with many faults would be chosen too often.
    const part = parts[roll.below(parts.length)];
    const own = faults.filter(({ needs }) => needs === part);
    const drawn = own[roll.below(own.length)];
    const step = { fault: drawn, calm: draw(calm), lasts: draw(lasts) };
    const named = first[at];
    yield named ? { ...step, fault: faults.find(({ name }) => name === named.name), lasts: named.lasts } : step;
  }
}

/** The plans of all streams. Those in `first`, [{name, lasts}], come before random ones. */
export function plans(faults, roll, { first = [], calm = CALM, lasts = LASTS } = {}) {
  return Array.from({ length: STREAMS }, (_, stream) =>
    plan(faults, dice(roll.below(2 ** 31)), first.filter((_name, at) => at % STREAMS === stream), { calm, lasts }));
}

/**
 * Injects faults until `isOver`, in two streams; gives what was done: [{name, stream, from, to}] in seconds since the begin. A fault that
 * cannot be injected now (connections cannot be forgotten while there are none; a switchover is refused) is healed, logged and not counted.
 * Fails if a fault does not heal.
 */
export async function injectFaults(faults, roll, isOver, { log = () => {}, retry = 1_000, heals = HEALS, ...options } = {}) {
  const busy = new Set();
  const done = [];
  const begin = performance.now();
  const seconds = () => Number(((performance.now() - begin) / 1000).toFixed(1));
  let isBroken = false;
  const hasEnded = () => isBroken || isOver();
  const pause = async (length) => {
    const end = performance.now() + length;
    while (performance.now() < end && !hasEnded()) await sleep(Math.min(100, end - performance.now()));
  };
  const perform = async (fault, length, stream) => {
    const entry = { name: fault.name, stream, from: seconds() };
    try {
      await fault.inject();
    } catch (error) {
      log(`${entry.from} s: ${fault.name} was not injected: ${error.message}`);
      await healed(fault, { timeout: heals, every: retry });
      return;
    }
    done.push(entry);
    log(`${entry.from} s: ${fault.name}: ${fault.what}`);
    await pause(length);
    await healed(fault, { timeout: heals, every: retry });
    entry.to = seconds();
    log(`${entry.to} s: ${fault.name} healed`);
  };
  const follow = async (steps, stream) => {
    for (const { fault, calm, lasts } of steps) {
      await pause(calm);
      while (busy.has(fault.needs) && !hasEnded()) await sleep(10);
      if (hasEnded()) return;
      busy.add(fault.needs);
      try {
        await perform(fault, lasts, stream);
      } catch (error) {
        isBroken = true;
        throw error;
      }
      busy.delete(fault.needs);
    }
  };
  // All of them have ended, and healed what they could, before the first failure is reported.
  const ends = await Promise.allSettled(plans(faults, roll, options).map(follow));
  const failed = ends.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  return done;
}

/** A part cannot start while another one is away that it needs, so healing is tried again. */
async function healed(fault, options) {
  let problem;
  await until(`${fault.name} to heal`, () =>
    fault.heal().then(
      () => true,
      (error) => {
        problem = error;
        return false;
      },
    ), options).catch((error) => {
    throw new Error(`${error.message}: ${problem?.message}`);
  });
}
