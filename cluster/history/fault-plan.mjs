// Injects faults of a cluster at random, from a seed, and heals them again: seldom none, mostly one, sometimes two that concern different
// parts.

import { sleep, until } from '../../e2e/server.mjs';

/**
 * Milliseconds that a fault lasts, and that may pass between two. The longest exceed the lease of a database leader (20 s); short ones are
 * more frequent.
 */
const LASTS = [500, 26_000];
const CALM = [500, 6_000];

/** Milliseconds in which a healed part works again. */
const HEALS = 240_000;

/**
 * Injects faults until `isOver`, those named in `first` before random ones; gives what was done: [{name, from, to}] in seconds since the begin. A fault that cannot be injected now
 * (connections cannot be forgotten while there are none) is not counted.
 */
export async function injectFaults(faults, roll, isOver, { log = () => {}, lasts = LASTS, calm = CALM, retry = 1_000, heals = HEALS, first = [] } = {}) {
  const busy = new Set();
  const waiting = [...first];
  const done = [];
  const begin = performance.now();
  const seconds = () => Number(((performance.now() - begin) / 1000).toFixed(1));
  const pause = async ([from, to]) => {
    const end = performance.now() + Math.min(roll.between(from, to), roll.between(from, to));
    while (performance.now() < end && !isOver()) await sleep(Math.min(100, end - performance.now()));
  };
  let isBroken = false;
  const stream = async () => {
    while (!isOver() && !isBroken) {
      await pause(calm);
      const free = faults.filter(({ needs }) => !busy.has(needs));
      if (isOver() || free.length === 0) {
        await sleep(1);
        continue;
      }
      const next = free.find(({ name }) => waiting.includes(name));
      const fault = next ?? pick(free, roll);
      if (next) waiting.splice(waiting.indexOf(next.name), 1);
      busy.add(fault.needs);
      const entry = { name: fault.name, from: seconds() };
      try {
        await fault.inject();
        done.push(entry);
        log(`${entry.from} s: ${fault.name}: ${fault.what}`);
        await pause(lasts);
      } catch (error) {
        log(`${entry.from} s: ${fault.name} was not injected: ${error.message}`);
      } finally {
        await healed(fault, { timeout: heals, every: retry }).catch((error) => {
          isBroken = true;
          throw error;
        });
        entry.to = seconds();
        log(`${entry.to} s: ${fault.name} healed`);
        busy.delete(fault.needs);
      }
    }
  };
  await Promise.all([stream(), stream()]);
  return done;
}

/** First the part, then one of its faults: a part with many faults would be chosen too often. */
function pick(free, roll) {
  const parts = [...new Set(free.map(({ needs }) => needs))];
  const part = parts[roll.below(parts.length)];
  const own = free.filter(({ needs }) => needs === part);
  return own[roll.below(own.length)];
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
