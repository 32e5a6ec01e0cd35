// One account that publishes as fast as it can does not take the node away from other people. Their views are compared with those
// of the same node without publishers, because the machine is shared with the load; `scripts/bench fairness` states figures.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { publish, request, upload } from '../e2e/http.mjs';
import { sleep } from '../e2e/server.mjs';
import { percentile } from '../torture/fixture.mjs';
import { startCluster } from './cluster.mjs';
import { LONG, startLoad, tally, viewer } from './load.mjs';

const PUBLISHERS = 64;
const VIEWERS = 2;
/** More pages than the viewers see in the second for which a node keeps a row, so that views need the database. */
const PAGES = 200;
const SECONDS = LONG ? 20 : 4;
/** Views may take so many times as long as without publishers. A node that serialises an account needs over 70 times as long. */
const MOST_TIMES = 25;
/**
 * Commits take 100 ms, and publishers pause as long: so what is waited for is the database, as in the field, and not the processor,
 * which a debug build on a small machine would keep busy with publishes alone. One commit after the other would be 10 publishes/s.
 */
const SLOW_COMMITS = ['ALTER SYSTEM SET fsync = on', 'ALTER SYSTEM SET commit_delay = 100000', 'ALTER SYSTEM SET commit_siblings = 0', 'SELECT pg_reload_conf()'];
const PAUSE_MS = 100;
/** Publishes of one account per second, if they share commits. */
const LEAST_PUBLISHES = 20;
/** Milliseconds below which a time without publishers says more about the machine than about the node. */
const LEAST = { p50: 2, p99: 10 };

let cluster;
before(async () => {
  cluster = await startCluster({ nodes: 1, databases: 1 });
});
afterEach((context) => cluster?.keepLogs(context));
after(() => cluster?.stop());

/** Views pages and asks for readiness for a while. */
async function watch(node, pages) {
  const view = viewer(node);
  const views = startLoad(VIEWERS, (worker, turn) => view(pages[(worker * PAGES / VIEWERS + turn) % PAGES]), { pauseMs: 5 });
  const readiness = startLoad(1, () => request(node, { path: '/readyz', timeout: 10_000 }), { pauseMs: 100 });
  await sleep(SECONDS * 1000);
  const [viewed, asked] = [await views.stop(), await readiness.stop()];
  view.close();
  const times = viewed.map((result) => result.ms);
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), views: tally(viewed), readiness: tally(asked) };
}

test(`${PUBLISHERS} publishers of one account: views of others take at most ${MOST_TIMES} times as long, the node stays ready`, async (t) => {
  const [node] = cluster.nodes;
  const pages = await Promise.all(Array.from({ length: PAGES }, async (_, at) => {
    const bytes = `<!doctype html><title>Page ${at}</title>`;
    // Without a key: these belong to no account, and so not to the publishers'.
    return { ...(await publish(node, { name: 'index.html', bytes })), bytes };
  }));
  for (const statement of SLOW_COMMITS) await cluster.database.sql(statement);
  const alone = await watch(node, pages);

  const agent = new http.Agent({ keepAlive: true, maxSockets: PUBLISHERS });
  const load = startLoad(PUBLISHERS, (worker, turn) =>
    upload(node, { name: 'index.html', bytes: `<!doctype html><title>${worker}.${turn}</title>`, key: cluster.apiKey, agent }), { pauseMs: PAUSE_MS });
  await load.reached(2 * PUBLISHERS);
  const before = load.results.length;
  const busy = await watch(node, pages);
  const published = load.results.length - before;
  const publishes = tally(await load.stop());
  agent.destroy();

  const say = ({ p50, p99 }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  const said = `views alone ${say(alone)}; with publishers ${say(busy)}`;
  t.diagnostic(`${said}; ${(published / SECONDS).toFixed(0)} publishes/s ${JSON.stringify(publishes)}; readiness ${JSON.stringify(busy.readiness)}`);
  assert.deepEqual(Object.keys(busy.views), ['200']);
  assert.deepEqual(Object.keys(busy.readiness), ['200']);
  for (const [name, least] of Object.entries(LEAST)) assert.ok(busy[name] < MOST_TIMES * Math.max(least, alone[name]), said);
  assert.ok(published / SECONDS >= LEAST_PUBLISHES, `${(published / SECONDS).toFixed(0)} publishes/s: they share no commits`);
  // Too many at once may be refused, but only so that the client knows to come back.
  assert.deepEqual(Object.keys(publishes).filter((status) => status !== '201' && status !== '503'), []);
});
