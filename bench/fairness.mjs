// What the publishers of one account cost everyone else: views of other people's pages and /readyz on the same node, idle and
// with 64 and more publishers of one account. BENCH_PUBLISHERS=64,256 chooses how many. Fails if others wait longer than is promised.

import { rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { publish, request } from '../e2e/http.mjs';
import { sleep, tempDir } from '../e2e/server.mjs';
import { load, median, ROUNDS, SECONDS, tenKilobytes } from './measure.mjs';
import { report } from './report.mjs';
import { accounts, startNodes, startStorage } from './services.mjs';

const PUBLISHERS = (process.env.BENCH_PUBLISHERS ?? '64,256,1500').split(',').map(Number);
const PAGES = 2_000;
/** With so many publishers, the p99 of other people's views stays below this, in milliseconds. */
const PROMISED = { publishers: 64, p99: 20 };
const VIEWERS = 8;
/** Milliseconds between two views of one viewer, on average. */
const PAUSE = 20;

const storage = await startStorage();
const [node] = await startNodes(storage, 1);
const [own, others] = await accounts(node, 2, 'account');
const dir = await tempDir('bench-fairness');
const page = tenKilobytes();
const paths = [];
for (let n = 0; n < PAGES; n += 1) {
  paths.push((await publish(node, { name: 'page.html', bytes: page.replace('Ten kilobytes', `Page ${n}`), key: others })).path);
}
const file = path.join(dir, 'paths');
await writeFile(file, paths.map((each) => `${each}\n`).join(''));

const on = { pids: [node.pid], headers: { Host: `localhost:${node.port}` } };
const url = `http://127.0.0.1:${node.port}/`;
const view = () => load({ ...on, url, script: 'paths.lua', args: [file, String(PAUSE)], connections: VIEWERS, seconds: SECONDS });
// Longer than what is measured meanwhile. More of one account than may wait are refused.
const publishers = (count) => load({ ...on, url: `${url}sites`, script: 'publish.lua', args: ['dropleaf', own], connections: count, seconds: SECONDS + 3, refused: 'some' });

/** Asks for /readyz until `work` is done: {slowest in ms, how many were not 200, asked}. */
async function watchReadiness(work) {
  const agent = new http.Agent({ keepAlive: true });
  const seen = { slowest: 0, refused: 0, asked: 0 };
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      const start = performance.now();
      const answer = await request(node, { path: '/readyz', agent, timeout: 30_000 }).catch(() => null);
      seen.slowest = Math.max(seen.slowest, performance.now() - start);
      seen.asked += 1;
      if (answer?.status !== 200) seen.refused += 1;
      await sleep(20);
    }
  })();
  const result = await work();
  isDone = true;
  await watching;
  agent.destroy();
  return { result, ready: seen };
}

async function measure(count) {
  if (count === 0) return { ...(await watchReadiness(view)), published: null };
  const publishing = publishers(count);
  // The connections are open and the queue is full by then.
  await sleep(1_000);
  const seen = await watchReadiness(view);
  const { rps, refusedPerSecond } = await publishing;
  return { ...seen, published: rps - refusedPerSecond, refused: refusedPerSecond };
}

const rows = [];
for (const count of [0, ...PUBLISHERS]) {
  const runs = [];
  for (let n = 0; n < ROUNDS; n += 1) runs.push(await measure(count));
  const middle = (read) => median(runs.map(read));
  rows.push({
    'publishers of one account': String(count),
    'publishes/s': count ? middle((run) => run.published) : '–',
    'refused/s': count ? middle((run) => run.refused) : '–',
    'views/s of others': middle((run) => run.result.rps),
    'view p50 ms': middle((run) => run.result.p50),
    'view p99 ms': middle((run) => run.result.p99),
    'p99, times idle': middle((run) => run.result.p99) / (rows[0]?.['view p99 ms'] ?? middle((run) => run.result.p99)),
    '/readyz slowest ms': Math.max(...runs.map((run) => run.ready.slowest)),
    '/readyz not 200': `${runs.reduce((sum, run) => sum + run.ready.refused, 0)} of ${runs.reduce((sum, run) => sum + run.ready.asked, 0)}`,
  });
}
await report('fairness', { [`${VIEWERS} viewers of other pages, a view every ${PAUSE} ms each, beside publishers of one account, one node on PostgreSQL`]: rows });
await node.stop();
await storage.drop();
await rm(dir, { recursive: true, force: true });
const promised = rows.find((row) => row['publishers of one account'] === String(PROMISED.publishers));
if (promised && !(promised['view p99 ms'] < PROMISED.p99)) throw new Error(`views of others: p99 of ${promised['view p99 ms']} ms, promised are ${PROMISED.p99}`);
if (rows.some((row) => !row['/readyz not 200'].startsWith('0 of '))) throw new Error('the node was not ready while one account published');
