// Starting and stopping nodes: all at once on an empty database, and one after another behind a proxy under load.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { publish, request, upload } from '../e2e/http.mjs';
import { until } from '../e2e/server.mjs';
import { startCluster } from './cluster.mjs';
import { LONG, seconds, startLoad, tally, viewer } from './load.mjs';

const REQUESTS = 10_000;
const ROUNDS = LONG ? 20 : 3;
/** Longer than the proxy needs to notice that a node is not ready: it asks twice a second. */
const DRAIN_SECONDS = 3;

let cluster;
before(async () => {
  cluster = await startCluster({ databases: 1, start: false, env: { DROPLEAF_SHUTDOWN__DRAIN_SECONDS: String(DRAIN_SECONDS) } });
});
after(() => cluster?.stop());
afterEach(async (context) => {
  cluster?.keepLogs(context);
  await Promise.all(cluster?.nodes.map((node) => node.kill()) ?? []);
});

test(`three nodes start at once on an empty database, ${ROUNDS} rounds`, async (t) => {
  const { database, nodes } = cluster;
  let slowest = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const name = `round_${round}`;
    await database.sql(`CREATE DATABASE ${name}`, { database: 'postgres' });
    for (const node of nodes) node.env.DROPLEAF_DATABASE_URL = database.url(name);
    const start = performance.now();
    for (const node of nodes) node.start();
    // All at once, so that the first failure is seen with the log of its node.
    await Promise.all(nodes.map((node) => node.ready()));
    slowest = Math.max(slowest, performance.now() - start);
    const owners = await database.sql('SELECT COUNT(*) FROM accounts WHERE is_operator = 1', { database: name });
    assert.equal(owners, '1', `operators after round ${round}`);
    const keys = (await Promise.all(nodes.map((node) => node.log()))).flatMap((log) => log.match(/stk_live_[0-9A-Za-z]{36}/g) ?? []);
    assert.equal(new Set(keys).size, round, 'one key is printed in every round');
    const answer = await request(nodes[0], { path: '/sites', key: keys.find((key) => !cluster.keys?.has(key)) });
    assert.equal(answer.status, 200, 'the printed key works');
    cluster.keys = new Set(keys);
    await Promise.all(nodes.map((node) => node.kill()));
    await database.sql(`DROP DATABASE ${name} WITH (FORCE)`, { database: 'postgres' });
  }
  t.diagnostic(`all three were ready after ${seconds(slowest)} at most`);
});

test(`a rolling restart behind the proxy: no request of ${REQUESTS} or more fails`, async (t) => {
  const { database, nodes, proxy } = cluster;
  for (const node of nodes) {
    node.env.DROPLEAF_DATABASE_URL = database.url();
    node.start();
    await node.ready();
  }
  const key = [...(await nodes[0].log()).matchAll(/stk_live_[0-9A-Za-z]{36}/g)].at(-1)[0];
  await proxy.open(nodes);
  const bytes = '<!doctype html><title>Drain</title>';
  const page = { ...(await publish(proxy, { name: 'index.html', bytes, key })), bytes };
  const view = viewer(proxy);
  const load = startLoad(16, (worker, turn) => {
    if (worker === 0) return upload(proxy, { name: 'index.html', bytes: `<!doctype html><title>${turn}</title>`, key });
    if (worker === 1) return request(proxy, { path: '/sites', key });
    // With a new connection each.
    if (worker === 2) return request(proxy, { path: page.path });
    return view(page);
  }, { pauseMs: 5 });
  let rounds = 0;
  let slowest = 0;
  do {
    for (const node of nodes) {
      const start = performance.now();
      const end = await node.term();
      slowest = Math.max(slowest, performance.now() - start);
      assert.deepEqual(end, { code: 0, signal: null }, await node.tail());
      await node.restart();
      const seen = load.results.length;
      await until('some requests more', () => load.results.length > seen + 200);
    }
    rounds += 1;
  } while (load.results.length < REQUESTS || (LONG && rounds < 3));
  const results = await load.stop();
  view.close();
  t.diagnostic(`${results.length} requests in ${rounds} rounds: ${JSON.stringify(tally(results))}; a node stopped in ${seconds(slowest)} at most`);
  assert.deepEqual(results.filter((result) => result.status !== 200 && result.status !== 201).map((result) => result.answer?.text() ?? String(result.error)), []);
});
