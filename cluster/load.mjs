// Load for the tests of a cluster: workers that repeat a request and record how each one ended.

import http from 'node:http';
import { request } from '../e2e/http.mjs';

/** `make cluster` runs the long form; `make test` the short one. */
export const LONG = process.env.CLUSTER === 'long';

/** What is asserted of a stated time: in the long form just that; in the short one some seconds more, because machines are busy. */
export const limit = (ms) => (LONG ? ms : ms + 5_000);

/**
 * The time in which every request is answered, whatever happens behind the nodes: limits.request_seconds, and a second for the way there
 * and back. A publish whose commit is not acknowledged waits for it until then.
 */
export const ANSWERED_WITHIN_MS = limit(31_000);

/**
 * Starts workers. Each repeats `operation(worker, turn)`, which gives an answer or throws, and waits `pauseMs` in between.
 * `stop` ends them and gives all results: {at, ms, status, error}.
 */
export function startLoad(workers, operation, { pauseMs = 0 } = {}) {
  const results = [];
  let running = true;
  let fulfilled = () => {};
  const work = async (worker) => {
    for (let turn = 0; running; turn += 1) {
      const at = performance.now();
      const result = await operation(worker, turn).then((answer) => ({ status: answer.status, answer }), (error) => ({ error }));
      results.push({ at, ms: performance.now() - at, ...result });
      fulfilled();
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const done = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return {
    results,
    /** Resolves when so many requests have ended. */
    reached: (count) => new Promise((resolve) => {
      fulfilled = () => (results.length >= count ? resolve() : undefined);
      fulfilled();
    }),
    async stop() {
      running = false;
      await done;
      return results;
    },
  };
}

/** Views of a page that keep their connections open, as browsers do. Fails a request that is answered with other bytes. */
export function viewer(server, { timeout = 60_000, sockets = 64 } = {}) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: sockets });
  const view = async (page) => {
    const answer = await request(server, { path: page.path, agent, timeout });
    if (answer.status === 200 && page.bytes && answer.text() !== page.bytes) throw new Error(`other bytes at ${page.path}`);
    return answer;
  };
  view.close = () => agent.destroy();
  return view;
}

/** How many requests ended in each way, for messages. */
export function tally(results) {
  const counts = {};
  for (const { status, error } of results) {
    const name = status ?? error.code ?? error.message;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The longest time between two successes that follow each other, in ms: how long the service was away. */
export function longestGap(results, isSuccess) {
  const ends = results.filter(isSuccess).map((result) => result.at + result.ms).sort((a, b) => a - b);
  return ends.reduce((longest, end, at) => (at === 0 ? 0 : Math.max(longest, end - ends[at - 1])), 0);
}

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
