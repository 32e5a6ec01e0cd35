// The database is killed, then frozen, while pages are viewed: with `views.stale_seconds`, views of pages that the node has
// shown never stop, and whatever is not open to everyone answers 503.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { api, publish, request, siteHost } from '../e2e/http.mjs';
import { operatorKey, startServer, until } from '../e2e/server.mjs';
import { dice, isWhole, LONG, percentile, provenPage, seed, UNLIMITED } from './fixture.mjs';
import { startPostgres } from './own-postgres.mjs';

const PAGES = 50;
const VIEWERS = 32;
const VIEWS = LONG ? 100_000 : 10_000;
const roll = dice(seed);
const agent = new http.Agent({ keepAlive: true, maxSockets: VIEWERS });

let postgres, server, key, pages, gated, burning;

before(async () => {
  postgres = await startPostgres();
  const env = { ...UNLIMITED, DROPLEAF_DATABASE_URL: postgres.url, DROPLEAF_VIEWS__STALE_SECONDS: '3600' };
  server = await startServer({ env });
  key = await operatorKey(server);
  pages = [];
  for (let n = 0; n < PAGES; n += 1) {
    pages.push(await publish(server, { name: 'page.html', bytes: provenPage(roll, roll.between(500, 20_000)), key }));
  }
  gated = await publish(server, { name: 'page.html', bytes: '<p>secret</p>', fields: { password: 'secret' }, key });
  burning = await publish(server, { name: 'page.html', bytes: '<p>once</p>', key });
  await api(server, key)('PATCH', `/sites/${burning.id}`, { visibility: 'burn' });
});

after(async () => {
  agent.destroy();
  await server?.stop();
  await postgres?.remove();
});

const view = (page) => request(server, { path: page.path, host: siteHost(server), agent });
const isStale = (answer) => answer.headers['cache-status']?.startsWith('dropleaf; hit; ttl=-') ?? false;

/** Views pages until so many answers came from last known rows; gives how long each took and what failed. */
async function viewUntilStale(wanted) {
  const times = [];
  const failed = [];
  let stale = 0;
  const viewer = async () => {
    while (stale < wanted && failed.length < 10) {
      const started = performance.now();
      const page = pages[roll.below(PAGES)];
      const answer = await view(page).catch((error) => ({ status: error.message, headers: {}, text: () => '' }));
      times.push(performance.now() - started);
      if (answer.status !== 200 || !isWhole(answer.text())) failed.push(`${page.path}: ${answer.status}`);
      if (isStale(answer)) stale += 1;
    }
  };
  await Promise.all(Array.from({ length: VIEWERS }, viewer));
  return { times, failed };
}

async function viewAll() {
  for (const page of pages) assert.equal((await view(page)).status, 200);
}

async function isCurrentAgain() {
  await until('current rows', async () => !isStale(await view(pages[0])));
  await until('writes', () => publish(server, { name: 'page.html', bytes: '<p>again</p>', key }).catch(() => null));
}

for (const [name, away, back] of [
  ['killed', () => postgres.kill(), () => postgres.start()],
  ['frozen', () => postgres.freeze(), () => postgres.thaw()],
]) {
  test(`no view of a known page fails while the database is ${name}`, async () => {
    await viewAll();
    assert.equal((await view(gated)).status, 401);
    await away();
    try {
      const { times, failed } = await viewUntilStale(VIEWS);
      assert.deepEqual(failed, []);
      // Views wait for 0.3 seconds at most, and only one in a second does.
      console.log(`${times.length} views, p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`);
      for (const closed of [gated, burning]) {
        const answer = await view(closed);
        assert.equal(answer.status, 503, answer.text());
        assert.ok(!isStale(answer));
      }
    } finally {
      await back();
    }
    await isCurrentAgain();
    assert.equal((await view(gated)).status, 401);
  });
}
