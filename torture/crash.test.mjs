// kill -9 under load. Eight writers publish, update and delete; the server is killed in the middle; after each restart
// everything that was acknowledged is there with its exact bytes, everything deleted is gone, and nothing is torn.

import assert from 'node:assert/strict';
import http from 'node:http';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { request, siteHost, upload } from '../e2e/http.mjs';
import { createDatabase } from '../e2e/postgres.mjs';
import { freePort, operatorKey, sleep, startServer, tempDir, until } from '../e2e/server.mjs';
import { dice, hash, isWhole, LONG, processorTime, provenPage, seed, UNLIMITED } from './fixture.mjs';

const rounds = (short) => Number(process.env.TORTURE_ROUNDS ?? (LONG ? 50 : short));
const ON_SQLITE = rounds(6);
const ON_POSTGRES = rounds(3);
const WRITERS = 8;
const ACTS = LONG ? 105 : 0; // acknowledged in a round before it may end: 5000 over the whole long form
const LARGE = 200_000; // above the size that is kept in the database

/** One writer's acts until the connection breaks. A page is touched by its writer only, so what is known of it is sure. */
async function write(server, key, pages, roll, progress) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const mine = [];
  const broken = Symbol('broken');
  const say = async (call) => {
    try {
      return await call();
    } catch {
      return broken;
    }
  };
  for (;;) {
    const page = roll.chance(0.4) && mine.length ? mine[roll.below(mine.length)] : null;
    const bytes = provenPage(roll, roll.chance(0.1) ? LARGE : roll.between(500, 12_000));
    if (page && roll.chance(0.3)) {
      page.maybeDeleted = true;
      const answer = await say(() => request(server, { method: 'DELETE', path: `/sites/${page.id}`, key, agent }));
      if (answer === broken) break;
      assert.equal(answer.status, 200, answer.text());
      mine.splice(mine.indexOf(page), 1);
      Object.assign(page, { deleted: true });
    } else if (page) {
      page.contents.push(hash(bytes));
      const answer = await say(() => upload(server, { to: page.id, name: 'page.html', bytes, key, agent }));
      if (answer === broken) break;
      assert.equal(answer.status, 200, answer.text());
      page.contents = [hash(bytes)];
    } else {
      const answer = await say(() => upload(server, { name: 'page.html', bytes, key, agent }));
      if (answer === broken) break;
      assert.equal(answer.status, 201, answer.text());
      const { id, unlisted_token } = answer.json();
      const made = { id, path: `/p/${unlisted_token}/`, contents: [hash(bytes)] };
      mine.push(made);
      pages.set(id, made);
    }
    progress.acts += 1;
  }
  agent.destroy();
}

/** What is wrong with a page after a restart, or null. */
async function verdict(server, key, page, agent) {
  const view = await request(server, { path: page.path, host: siteHost(server), agent });
  if (view.status === 410 && (page.deleted || page.maybeDeleted)) {
    const owner = await request(server, { path: `/sites/${page.id}`, key, agent });
    if (owner.status !== 404) return `deleted, yet the API answers ${owner.status}`;
    page.deleted = true;
    return null;
  }
  if (page.deleted) return `delete undone: ${view.status}`;
  if (view.status !== 200) return `lost: ${view.status}`;
  if (!page.contents.includes(hash(view.bytes))) return isWhole(view.text()) ? 'older or foreign bytes' : 'torn';
  page.contents = [hash(view.bytes)];
  page.maybeDeleted = false;
  return null;
}

async function check(server, key, pages) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const queue = [...pages];
  const wrong = [];
  const worker = async () => {
    for (let page = queue.pop(); page; page = queue.pop()) {
      const found = await verdict(server, key, page, agent);
      if (found) wrong.push(`${page.id}: ${found}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  agent.destroy();
  assert.deepEqual(wrong, []);
}

/** Pages that came into being without an acknowledgement must be whole as well. */
async function checkListed(server, key) {
  let query = '';
  let seen = 0;
  for (;;) {
    const list = (await request(server, { path: `/sites?limit=500${query}`, key })).json();
    for (const site of list.sites) {
      const view = await request(server, { path: `/p/${site.unlisted_token}/`, host: siteHost(server) });
      assert.equal(view.status, 200, `${site.id} is listed`);
      assert.ok(isWhole(view.text()), `${site.id} is torn`);
    }
    seen += list.sites.length;
    if (!list.has_more) return seen;
    query = `&before=${list.next_before}&before_id=${list.next_before_id}`;
  }
}

async function torture(context, kills, database) {
  const roll = dice(seed);
  const dataDir = await tempDir('crash');
  const options = { dataDir, port: await freePort(), env: { ...UNLIMITED, ...database } };
  const pages = new Map();
  const progress = { acts: 0 };
  let slowest = 0;
  let server = await startServer(options);
  const key = await operatorKey(server);
  try {
    for (let round = 1; round <= kills; round += 1) {
      const before = new Set(pages.keys());
      const writers = Array.from({ length: WRITERS }, (_, i) => write(server, key, pages, dice(seed + round * 100 + i), progress));
      await sleep(roll.between(300, 1200));
      await until(`${ACTS} acts`, () => progress.acts >= round * ACTS, { every: 1 });
      await server.kill();
      await Promise.all(writers);
      server = await startServer(options);
      const restart = await processorTime(server.pid);
      slowest = Math.max(slowest, restart);
      assert.ok(restart < 5, `round ${round}: restart took ${restart} s of processor time`);
      // A server that only waits spends no processor time; a busy machine does not take a minute.
      assert.ok(server.readyAfterMs < 60_000, `round ${round}: restart took ${server.readyAfterMs} ms`);
      const touched = [...pages.values()].filter((page) => !before.has(page.id));
      await check(server, key, touched);
    }
    await check(server, key, pages.values());
    const listed = await checkListed(server, key);
    const deleted = [...pages.values()].filter((page) => page.deleted).length;
    context.diagnostic(
      `seed ${seed}: ${kills} kills, ${progress.acts} acknowledged acts, ${pages.size} pages, ${deleted} deleted, ${listed} listed, ` +
        `slowest restart ${slowest} s of processor time`,
    );
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

test(`nothing acknowledged is lost over ${ON_SQLITE} kills on SQLite`, (context) => torture(context, ON_SQLITE));

test(`nothing acknowledged is lost over ${ON_POSTGRES} kills on PostgreSQL`, async (context) => {
  const database = await createDatabase('crash');
  await torture(context, ON_POSTGRES, { DROPLEAF_DATABASE_URL: database.url });
});
