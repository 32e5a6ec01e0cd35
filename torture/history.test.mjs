// Three nodes on one PostgreSQL under kill -9: what clients of all nodes were told is checked against the models of cluster/history.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { report, Workload } from '../cluster/history/workload.mjs';
import { createDatabase } from '../e2e/postgres.mjs';
import { command, freePort, sleep, startServer, tempDir } from '../e2e/server.mjs';
import { dice, LONG, seed, UNLIMITED } from './fixture.mjs';

const NODES = 3;
const SECONDS = Number(process.env.HISTORY_SECONDS ?? (LONG ? 600 : 20));
const SECRET = 'cd'.repeat(32);

test(`no history of ${SECONDS} s under kill -9 is outside its model`, async (context) => {
  const database = await createDatabase('history');
  const blobs = await tempDir('history-blobs');
  const places = [];
  for (let at = 1; at <= NODES; at += 1) places.push({ name: `node${at}`, port: await freePort(), dataDir: await tempDir('history') });
  const baseUrl = `http://localhost:${places[0].port}`;
  const env = {
    ...UNLIMITED,
    DROPLEAF_BASE_URL: baseUrl,
    DROPLEAF_DATABASE_URL: database.url,
    DROPLEAF_BLOBS_URL: `file:${blobs}`,
    DROPLEAF_SECRET_KEY: SECRET,
  };
  const servers = [];
  const start = async (at) => {
    servers[at] = await startServer({ port: places[at].port, dataDir: places[at].dataDir, env });
  };
  for (const at of places.keys()) await start(at);
  const roll = dice(seed);
  const nodes = places.map(({ name: node, port }) => ({ name: node, port, host: `localhost:${places[0].port}` }));
  const workload = new Workload({ nodes, roll, baseUrl, run: (...args) => command(servers[0], ...args) });
  try {
    await workload.prepare();
    const end = Date.now() + SECONDS * 1000;
    let kills = 0;
    const killing = (async () => {
      const chance = dice(seed + 1);
      while (Date.now() < end) {
        await sleep(chance.between(500, 3_000));
        const at = chance.below(NODES);
        await servers[at].kill();
        kills += 1;
        await sleep(chance.between(0, 800));
        await start(at);
      }
    })();
    const counts = await workload.drive(() => Date.now() > end);
    await killing;
    await workload.verify();
    const faults = await workload.faults();
    context.diagnostic(`seed ${seed}: ${kills} kills, ${JSON.stringify(counts)}`);
    context.diagnostic(JSON.stringify(workload.history.tally()));
    for (const line of workload.summary) context.diagnostic(line);
    assert.equal(faults.length, 0, await report('history', workload.history, faults));
  } finally {
    workload.close();
    for (const server of servers) await server.stop();
    for (const { dataDir } of places) await rm(dataDir, { recursive: true, force: true });
    await rm(blobs, { recursive: true, force: true });
  }
});
