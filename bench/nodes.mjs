// Publishes and views per second of 1, 2 and 3 nodes on one PostgreSQL and one bucket, with 1 and 16 accounts, interleaved. All
// parts share the cores of this machine, so the columns with CPU time say what a machine of its own would be able to do.

import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { publish } from '../e2e/http.mjs';
import { tempDir } from '../e2e/server.mjs';
import { cpuSeconds, load, median, ROUNDS, SECONDS, tenKilobytes } from './measure.mjs';
import { report } from './report.mjs';
import { accounts, startNodes, startStorage } from './services.mjs';

const CONNECTIONS = 96;
const PAGES = 2_000;

const storage = await startStorage();
const nodes = await startNodes(storage, 3);
const keys = await accounts(nodes[0], 16, 'publisher');
const dir = await tempDir('bench-nodes');
const page = tenKilobytes();
const paths = [];
for (let n = 0; n < PAGES; n += 1) {
  paths.push((await publish(nodes[n % 3], { name: 'page.html', bytes: page.replace('Ten kilobytes', `Page ${n}`), key: keys[n % 16] })).path);
}
const file = path.join(dir, 'paths');
await writeFile(file, paths.map((each) => `${each}\n`).join(''));

/** One round: wrk on each of the first `count` nodes at the same time. */
async function round(count, how) {
  const used = nodes.slice(0, count);
  const one = (node) => load({
    url: `http://127.0.0.1:${node.port}/sites`, pids: [node.pid], headers: { Host: `localhost:${node.port}` },
    connections: CONNECTIONS / count, seconds: SECONDS, ...how,
  });
  const cpu = async () => [await cpuSeconds(used.map(({ pid }) => pid)), await storage.cpu()];
  const before = await cpu();
  const runs = await Promise.all(used.map(one));
  const [inNodes, inPostgres] = (await cpu()).map((seconds, n) => seconds - before[n]);
  const rate = runs.reduce((sum, run) => sum + run.rps, 0);
  const requests = rate * SECONDS;
  return {
    rate, p50: median(runs.map((run) => run.p50)), p99: Math.max(...runs.map((run) => run.p99)),
    nodeCpu: (inNodes * 1000) / requests, postgresCpu: (inPostgres * 1000) / requests,
  };
}

const kinds = {
  'publish, 1 account': { script: 'publish.lua', args: ['dropleaf', keys[0]] },
  'publish, 16 accounts': { script: 'publish.lua', args: ['dropleaf', keys.join(',')] },
  'view of 2,000 pages': { script: 'paths.lua', args: [file] },
};
const tables = {};
for (const [kind, how] of Object.entries(kinds)) {
  const seen = { 1: [], 2: [], 3: [] };
  for (let n = 0; n < ROUNDS; n += 1) for (const count of [1, 2, 3]) seen[count].push(await round(count, how));
  const middle = (count, field) => median(seen[count].map((each) => each[field]));
  tables[`${kind}, ${CONNECTIONS} at once`] = [1, 2, 3].map((count) => ({
    nodes: String(count),
    'per second': middle(count, 'rate'),
    'times one node': middle(count, 'rate') / middle(1, 'rate'),
    'p50 ms': middle(count, 'p50'),
    'p99 ms': middle(count, 'p99'),
    'CPU ms of nodes, each': middle(count, 'nodeCpu'),
    'CPU ms of PostgreSQL, each': middle(count, 'postgresCpu'),
  }));
}
await report('nodes', tables, { connections: CONNECTIONS, pages: PAGES });
for (const node of nodes) await node.stop();
await storage.drop();
await rm(dir, { recursive: true, force: true });
