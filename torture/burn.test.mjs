// Burn after read under a storm: many clients ask for each page at the same moment, on one node or on two, and once the
// server is killed in the middle of it. However it goes, a page is seen in full by one of them at the most.

import assert from 'node:assert/strict';
import http from 'node:http';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { publish, request, siteHost } from '../e2e/http.mjs';
import { createDatabase } from '../e2e/postgres.mjs';
import { freePort, operatorKey, sleep, startServer, tempDir } from '../e2e/server.mjs';
import { dice, isWhole, LONG, provenPage, seed, UNLIMITED } from './fixture.mjs';

const PAGES = Number(process.env.TORTURE_PAGES ?? 200);
const RACERS = 40;
const KILLS = Number(process.env.TORTURE_KILLS ?? (LONG ? 30 : 4));
const KILL_PAGES = 12; // raced at once in each round that ends with a kill
const SECRET = 'ab'.repeat(32); // two nodes must agree on the hosts of pages

const agent = () => new http.Agent({ keepAlive: true, maxSockets: 64 });

async function ask(server, page, by) {
  const answer = await request(server, { path: page.path, host: siteHost(server), agent: by });
  if (answer.status === 200 && isWhole(answer.text())) return 'seen';
  if (answer.status === 410) return 'gone';
  return `${answer.status}: ${answer.text().slice(0, 80)}`;
}

/** Every page is asked for by all racers at once, spread over the nodes. */
async function race(context, nodes) {
  const key = await operatorKey(nodes[0]);
  const roll = dice(seed);
  const by = nodes.map(agent);
  const pages = [];
  for (let i = 0; i < PAGES; i += 1) {
    const bytes = provenPage(roll, roll.chance(0.1) ? 120_000 : 2_000);
    pages.push(await publish(nodes[0], { name: 'page.html', bytes, key, fields: { burn_after_read: 'true' }, agent: by[0] }));
  }
  for (const page of pages) {
    // A preview beforehand, so that every node holds the row in memory.
    for (const [at, node] of nodes.entries()) {
      const preview = await request(node, { method: 'HEAD', path: page.path, host: siteHost(node), agent: by[at] });
      assert.equal(preview.status, 200);
    }
    const racers = Array.from({ length: RACERS }, (_, i) => ask(nodes[i % nodes.length], page, by[i % nodes.length]));
    const outcomes = await Promise.all(racers);
    assert.equal(outcomes.filter((outcome) => outcome === 'seen').length, 1, `${page.id}: ${outcomes}`);
    assert.equal(outcomes.filter((outcome) => outcome === 'gone').length, RACERS - 1, `${page.id}: ${outcomes}`);
  }
  for (const one of by) one.destroy();
  context.diagnostic(`seed ${seed}: ${PAGES} pages × ${RACERS} racers on ${nodes.length} node(s), one winner each`);
}

/** Kills the server while pages are raced, restarts it, races them again. */
async function kill(context, options) {
  const roll = dice(seed + 1);
  let server = await startServer(options);
  const key = await operatorKey(server);
  const tally = { seen: 0, lost: 0, cut: 0 };
  for (let round = 0; round < KILLS; round += 1) {
    const pages = [];
    for (let i = 0; i < KILL_PAGES; i += 1) {
      const bytes = provenPage(roll, roll.chance(0.3) ? 200_000 : 2_000);
      pages.push(await publish(server, { name: 'page.html', bytes, key, fields: { burn_after_read: 'true' } }));
    }
    const views = pages.map(() => 0);
    const storm = async (asks) => {
      const by = agent();
      await Promise.all(
        pages.flatMap((page, at) =>
          Array.from({ length: asks }, async () => {
            const outcome = await ask(server, page, by).catch(() => 'cut');
            if (outcome === 'seen') views[at] += 1;
            else if (outcome === 'cut') tally.cut += 1;
            else assert.equal(outcome, 'gone', page.id);
          }),
        ),
      );
      by.destroy();
    };
    const storming = storm(10);
    await sleep(roll.between(1, 60));
    await server.kill();
    await storming;
    server = await startServer(options);
    await storm(10);
    for (const [at, count] of views.entries()) {
      assert.ok(count <= 1, `${pages[at].id} was seen ${count} times`);
      tally[count ? 'seen' : 'lost'] += 1;
      assert.equal(await ask(server, pages[at]), 'gone');
    }
  }
  await server.stop();
  context.diagnostic(`seed ${seed}: ${KILLS} kills, ${tally.seen} pages seen once, ${tally.lost} claimed and never seen, ${tally.cut} requests cut off`);
}

async function withDatabase(work) {
  const database = await createDatabase('burn');
  try {
    await work({ DROPLEAF_DATABASE_URL: database.url, DROPLEAF_SECRET_KEY: SECRET });
  } finally {
    await database.drop();
  }
}

const POSTGRES = { skip: !process.env.DROPLEAF_TEST_POSTGRES && 'no PostgreSQL: run it under scripts/with-services' };

test(`of ${RACERS} racers for each of ${PAGES} pages one wins on SQLite`, async (context) => {
  const server = await startServer({ env: UNLIMITED });
  try {
    await race(context, [server]);
  } finally {
    await server.stop();
  }
});

test(`of ${RACERS} racers for each of ${PAGES} pages one wins on PostgreSQL with two nodes`, POSTGRES, (context) =>
  withDatabase(async (database) => {
    const blobs = await tempDir('burn-blobs');
    const env = { ...UNLIMITED, ...database, DROPLEAF_BLOBS_URL: `file:${blobs}` };
    const nodes = [await startServer({ env })];
    nodes.push(await startServer({ env }));
    try {
      // The other node serves the same hosts on another port; plain clients name the port they connect to.
      await race(context, nodes);
    } finally {
      for (const node of nodes) await node.stop();
      await rm(blobs, { recursive: true, force: true });
    }
  }),
);

test(`no page is seen twice over ${KILLS} kills on SQLite`, async (context) => {
  const dataDir = await tempDir('burn');
  try {
    await kill(context, { dataDir, port: await freePort(), env: UNLIMITED });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test(`no page is seen twice over ${KILLS} kills on PostgreSQL`, POSTGRES, (context) =>
  withDatabase(async (database) => {
    const dataDir = await tempDir('burn-pg');
    try {
      await kill(context, { dataDir, port: await freePort(), env: { ...UNLIMITED, ...database } });
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }),
);
