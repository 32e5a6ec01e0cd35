// What other people notice of one account that publishes as fast as it can: how long their views take, and whether the node
// stays ready. Used by a test, with generous limits, and by a benchmark, which states figures.

import http from 'node:http';
import { publish, request, upload } from '../e2e/http.mjs';
import { percentile } from '../torture/fixture.mjs';
import { startLoad, tally, viewer } from './load.mjs';

/** More pages than one viewer sees in the second for which a node keeps a row, so that views need the database. */
const PAGES = 200;
const VIEWERS = 2;

/** Measures views and readiness of a node for so many seconds, alone and with publishers of one account. */
export async function measureFairness(node, key, { publishers = 64, seconds = 10 } = {}) {
  const pages = [];
  while (pages.length < PAGES) {
    const bytes = `<!doctype html><title>Page ${pages.length}</title>`;
    // Without a key: these belong to nobody, least of all to the publishers' account.
    pages.push({ ...(await publish(node, { name: 'index.html', bytes })), bytes });
  }
  const alone = await watch(node, pages, seconds);
  const agent = new http.Agent({ keepAlive: true, maxSockets: publishers });
  const load = startLoad(publishers, (worker, turn) =>
    upload(node, { name: 'index.html', bytes: `<!doctype html><title>${worker}.${turn}</title>`, key, agent }));
  await load.reached(2 * publishers);
  const before = load.results.length;
  const busy = await watch(node, pages, seconds);
  const published = load.results.length - before;
  const results = await load.stop();
  agent.destroy();
  return { alone, busy, publishesPerSecond: published / seconds, publishes: tally(results) };
}

async function watch(node, pages, seconds) {
  const view = viewer(node);
  const views = startLoad(VIEWERS, (worker, turn) => view(pages[(worker * PAGES / VIEWERS + turn) % PAGES]), { pauseMs: 5 });
  const readiness = startLoad(1, () => request(node, { path: '/readyz', timeout: 10_000 }), { pauseMs: 100 });
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const [viewed, asked] = [await views.stop(), await readiness.stop()];
  view.close();
  const times = viewed.map((result) => result.ms);
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), views: tally(viewed), readiness: tally(asked) };
}
