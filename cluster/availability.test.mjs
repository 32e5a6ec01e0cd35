// Nodes under faults of the databases and of S3: how long they are away, that every request is answered in time, and that
// nothing is half stored. One cluster for all; every test heals what it broke.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { api, publish, request, upload } from '../e2e/http.mjs';
import { until } from '../e2e/server.mjs';
import { startCluster } from './cluster.mjs';
import { ANSWERED_WITHIN_MS, LONG, limit, longestGap, seconds, startLoad, tally, viewer } from './load.mjs';

const STRANDED_MS = limit(10_000);
const FAILOVER_MS = limit(30_000);
/** Above storage.inline_bytes and incompressible, so it goes to S3. */
const LARGE_BYTES = 200_000;
/** Views from the fault on. */
const VIEWS = 10_000;
/** The longest that a view of a page in memory may take meanwhile; the database is waited for 0.3 s, once in a second. */
const VIEW_MS = limit(2_000);

let cluster;
let key;
before(async () => {
  cluster = await startCluster({ env: { DROPLEAF_VIEWS__STALE_SECONDS: '60' } });
  key = cluster.apiKey;
});
afterEach((context) => cluster?.keepLogs(context));
after(() => cluster?.stop());
beforeEach(async () => {
  await cluster.database.whole();
  for (const node of cluster.nodes) await until(`a ready ${node.name}`, () => node.isReady());
});

let made = 0;
const page = (text = '') => `<!doctype html><title>Page ${(made += 1)}</title><p>${text}</p>`;
const large = () => page(randomBytes(LARGE_BYTES / 2).toString('hex'));

const publishOn = (node, bytes = page()) => publish(node, { name: 'index.html', bytes, key });
const isAnswer = (answer) => answer.status < 300 || answer.status === 503;

const slowest = (results) => results.reduce((most, { ms }) => Math.max(most, ms), 0);
const countStale = (results) => results.filter(({ answer }) => answer?.headers['cache-status']?.includes('stale-if-error')).length;

/** Calls `probe` until it succeeds; gives how long that took. A call that hangs is given up when the time is over. */
async function timeUntil(what, limit, probe) {
  const start = performance.now();
  await until(what, async () => {
    const left = Math.max(1, limit - (performance.now() - start));
    const timer = new Promise((resolve) => setTimeout(resolve, left, false).unref());
    return Promise.race([probe().catch(() => false), timer]);
  }, { timeout: limit });
  return performance.now() - start;
}

test(`stranded connections: a node is whole again within ${seconds(STRANDED_MS)}`, async (t) => {
  const [node] = cluster.nodes;
  const kept = await publishOn(node);
  // Enough at once that the node holds many connections.
  await Promise.all(Array.from({ length: 48 }, () => publishOn(node)));
  const undo = await cluster.firewall.strand(node, await cluster.database.leader(), 5432);
  try {
    // Clients that do not wait for each other, as there are in practice: each takes a dead connection and may hang with it.
    const load = startLoad(24, () => upload(node, { name: 'index.html', bytes: page(), key }));
    let took;
    try {
      took = await timeUntil('publishing, viewing and readiness of the node', STRANDED_MS, async () => {
        const [published, viewed, ready] = await Promise.all([
          upload(node, { name: 'index.html', bytes: page(), key }), request(node, { path: kept.path }), node.isReady(),
        ]);
        return published.status === 201 && viewed.status === 200 && ready;
      });
    } finally {
      const stopped = load.stop();
      await undo();
      await stopped;
    }
    // From here on nothing may fail: the dead connections are all gone, not only the one that was tried.
    const afterwards = await Promise.all(Array.from({ length: 48 }, () => upload(node, { name: 'index.html', bytes: page(), key })));
    assert.deepEqual(tally(afterwards), { 201: 48 });
    t.diagnostic(`${undo.connections} stranded connections, whole again after ${seconds(took)}`);
  } finally {
    await undo();
  }
});

for (const name of LONG ? ['partition', 'deafen', 'mute', 'stall'] : ['partition']) {
  test(`${name} between a node and the databases: every request is answered within ${seconds(ANSWERED_WITHIN_MS)}`, async (t) => {
    const [node, other] = cluster.nodes;
    const pages = await Promise.all(Array.from({ length: 4 }, () => publishOn(other)));
    const call = (options) => () => request(node, { key, timeout: 2 * ANSWERED_WITHIN_MS, ...options });
    const requests = {
      view: call({ path: pages[0].path, key: undefined }),
      publish: () => upload(node, { name: 'index.html', bytes: page(), key }),
      'publish a large page': () => upload(node, { name: 'index.html', bytes: large(), key }),
      update: () => upload(node, { name: 'index.html', bytes: page(), key, to: pages[1].id }),
      list: call({ path: '/sites' }),
      delete: call({ method: 'DELETE', path: `/sites/${pages[2].id}` }),
      readiness: call({ path: '/readyz', key: undefined }),
      health: call({ path: '/healthz', key: undefined }),
    };
    const fault = cluster.fault(`${name}-${node.name}-database`);
    await fault.inject();
    let slowest = 0;
    try {
      // Ten of each, so that they also wait for each other.
      await Promise.all(Object.entries(requests).flatMap(([what, send]) => Array.from({ length: 10 }, async () => {
        const start = performance.now();
        const answer = await send();
        const ms = performance.now() - start;
        slowest = Math.max(slowest, ms);
        assert.ok(isAnswer(answer), `${what}: ${answer.status} ${answer.text()}`);
        assert.ok(ms < ANSWERED_WITHIN_MS, `${what} took ${seconds(ms)}`);
        if (answer.status === 503) assert.ok(answer.headers['retry-after'], `${what}: no Retry-After`);
      })));
      assert.equal((await requests.health()).status, 200);
      assert.equal((await requests.readiness()).status, 503);
    } finally {
      await fault.heal();
    }
    const took = await timeUntil('a ready node after healing', STRANDED_MS, () => node.isReady());
    t.diagnostic(`slowest answer ${seconds(slowest)}, ready ${seconds(took)} after healing`);
  });
}

/** Rows and objects that belong together do: nothing was stored by half. */
async function assertWhole() {
  const { database, s3 } = cluster;
  const count = async (sql) => Number(await database.sql(sql));
  assert.equal(await count('SELECT COUNT(*) FROM bundle_files f LEFT JOIN blobs b ON b.hash = f.blob_hash WHERE b.hash IS NULL'), 0, 'files without a body');
  assert.equal(await count('SELECT COUNT(*) FROM blobs WHERE (body IS NULL) = (object_key IS NULL)'), 0, 'bodies in no place or in two');
  assert.equal(await count(`SELECT COUNT(*) FROM blobs b WHERE b.refs <>
    (SELECT COUNT(DISTINCT f.bundle_id) FROM bundle_files f WHERE f.blob_hash = b.hash)`), 0, 'bodies with a wrong count');
  assert.equal(await count("SELECT COUNT(*) FROM sites s LEFT JOIN bundles b ON b.id = s.bundle_id WHERE s.state = 'live' AND b.id IS NULL"), 0, 'pages without content');
  const keys = (await database.sql('SELECT object_key FROM blobs WHERE object_key IS NOT NULL')).split('\n').filter(Boolean);
  const objects = new Set(await s3.objects());
  assert.deepEqual(keys.filter((name) => !objects.has(name)), [], 'bodies without an object');
}

for (const name of LONG ? ['kill-s3', 'pause-s3'] : ['kill-s3']) {
  test(`${name}: small pages are published and viewed, large ones get 503, nothing is half stored`, async (t) => {
    const [first, second] = cluster.nodes;
    const stored = await publishOn(first, large());
    const countLive = async () => Number(await cluster.database.sql("SELECT COUNT(*) FROM sites WHERE state = 'live'"));
    const liveBefore = await countLive();
    const fault = cluster.fault(name);
    await fault.inject();
    const small = [];
    let slowest = 0;
    try {
      await Promise.all(Array.from({ length: 20 }, async (_, at) => {
        const bytes = page();
        const published = await publishOn(at % 2 ? first : second, bytes);
        small.push({ ...published, bytes });
        const viewed = await request(at % 2 ? second : first, { path: published.path });
        assert.equal(viewed.text(), bytes);
      }));
      await Promise.all(Array.from({ length: 6 }, async () => {
        const start = performance.now();
        const answer = await upload(first, { name: 'index.html', bytes: large(), key });
        slowest = Math.max(slowest, performance.now() - start);
        assert.equal(answer.status, 503, answer.text());
        assert.ok(answer.headers['retry-after'], 'no Retry-After');
      }));
      // Twice, because an upload may take twice the time of a request.
      assert.ok(slowest < 2 * ANSWERED_WITHIN_MS, `a large page took ${seconds(slowest)}`);
      const answer = await request(cluster.nodes[2], { path: stored.path, timeout: 2 * ANSWERED_WITHIN_MS });
      assert.equal(answer.status, 503, 'a large page that this node never had');
    } finally {
      await fault.heal();
    }
    await assertWhole();
    assert.equal(await countLive(), liveBefore + small.length, 'only acknowledged pages exist');
    const listed = await api(second, key)('GET', '/sites?limit=100');
    assert.ok(small.every((site) => JSON.stringify(listed).includes(site.id)), 'all small pages are listed');
    // The clients of the nodes may hold a connection that the fault cut.
    await until('large pages again', async () => (await upload(first, { name: 'index.html', bytes: large(), key })).status === 201, { timeout: ANSWERED_WITHIN_MS, every: 200 });
    assert.equal((await request(cluster.nodes[2], { path: stored.path })).status, 200);
    t.diagnostic(`503 for a large page after ${seconds(slowest)} at most`);
  });
}

for (const name of LONG ? ['kill-leader', 'power-off-leader', 'pause-leader', 'isolate-leader', 'kill-postgres', 'switchover'] : ['kill-leader']) {
  test(`${name}: writes resume within ${seconds(FAILOVER_MS)}, cached pages are shown all the time`, async (t) => {
    const { nodes } = cluster;
    const pages = [];
    for (let at = 0; at < 20; at += 1) {
      const bytes = page();
      pages.push({ ...(await publishOn(nodes[at % 3], bytes)), bytes });
    }
    const views = nodes.map((node) => viewer(node));
    // Every node has seen every page.
    for (const view of views) for (const one of pages) assert.equal((await view(one)).status, 200);
    const viewing = startLoad(12, (worker, turn) => views[worker % 3](pages[(worker * 7 + turn) % pages.length]), { pauseMs: 20 });
    const writing = startLoad(3, (worker) => upload(nodes[worker], { name: 'index.html', bytes: page(), key }), { pauseMs: 50 });
    await writing.reached(30);
    const fault = cluster.fault(name);
    const brokenAt = performance.now();
    const viewedBefore = viewing.results.length;
    try {
      await fault.inject();
      const resumed = nodes.map((_, at) => timeUntil(`writes on ${nodes[at].name}`, FAILOVER_MS, async () =>
        (await upload(nodes[at], { name: 'index.html', bytes: page(), key })).status === 201 && (await cluster.database.findLeader()) !== undefined));
      const took = await Promise.all(resumed);
      await viewing.reached(viewedBefore + VIEWS);
      t.diagnostic(`writes resumed after ${took.map(seconds).join(', ')}`);
    } finally {
      await fault.heal();
      const written = await writing.stop();
      const viewed = await viewing.stop();
      views.forEach((view) => view.close());
      t.diagnostic(`writes: ${JSON.stringify(tally(written))}, longest gap ${seconds(longestGap(written, (result) => result.status === 201))}`);
      t.diagnostic(`views: ${JSON.stringify(tally(viewed))} in ${seconds(performance.now() - brokenAt)}, ${countStale(viewed)} from last known rows, slowest ${seconds(slowest(viewed))}`);
    }
    const { results } = viewing;
    assert.ok(results.length - viewedBefore >= VIEWS);
    assert.deepEqual(tally(results), { 200: results.length }, 'views that failed');
    assert.ok(slowest(results) < VIEW_MS, `a view took ${seconds(slowest(results))}`);
    // A planned change of the leader may be over before a row expires.
    if (name !== 'switchover') assert.ok(countStale(results) > 0, 'no view was answered while the database was away');
    assert.deepEqual(writing.results.filter((result) => result.status !== 201 && result.status !== 503).map((result) => result.answer?.text() ?? String(result.error)), [], 'writes that ended otherwise');
    // Every acknowledged page is on every node.
    const sites = writing.results.filter((result) => result.status === 201).map((result) => result.answer.json());
    await Promise.all(nodes.map(async (node) => {
      const view = viewer(node);
      for (const site of sites) assert.equal((await view({ path: `/p/${site.unlisted_token}/` })).status, 200, 'an acknowledged page is gone');
      view.close();
    }));
  });
}
