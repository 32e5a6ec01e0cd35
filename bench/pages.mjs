// What changes with the number of pages on PostgreSQL: one node on a database that grows to 10⁴, 10⁵ and 10⁶ pages. Views of any
// page, publishes, lists, the sweep, and the size of tables and indexes. BENCH_PAGES=10000,100000 chooses the sizes.

import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { publish } from '../e2e/http.mjs';
import { psql } from '../e2e/postgres.mjs';
import { sleep, startServer, tempDir, until } from '../e2e/server.mjs';
import { BENCH, cpuSeconds, load, median, RELEASE, ROUNDS, SECONDS, tenKilobytes } from './measure.mjs';
import { report } from './report.mjs';
import { accounts, startNodes, startStorage } from './services.mjs';

const SIZES = (process.env.BENCH_PAGES ?? '10000,100000,1000000').split(',').map(Number);
const MODELS = 200;
const SAMPLE = 50_000;
const EXPIRED = 5_000;
/** How long the database is watched with a sweep every second, and without. */
const WATCHED_SECONDS = Number(process.env.BENCH_WATCHED ?? 15);
const TABLES = ['sites', 'site_versions', 'bundles', 'bundle_files', 'blobs'];

const storage = await startStorage({ quiet: true });
const [node] = await startNodes(storage, 1, { DROPLEAF_SWEEP__EVERY_SECONDS: '86400' });
const keys = await accounts(node, 16, 'publisher');
const page = tenKilobytes();
for (let n = 0; n < MODELS; n += 1) await publish(node, { name: 'page.html', bytes: page.replace('Ten kilobytes', `Page ${n}`), key: keys[0] });
const storedBytes = Number(await psql(storage.url, 'SELECT AVG(stored_bytes) FROM blobs'));
const dir = await tempDir('bench-pages');
await psql(storage.url, 'CREATE EXTENSION pageinspect');

async function fill(from, to) {
  const set = (name, value) => ['-v', `${name}=${value}`];
  const args = [storage.url, '-X', '-q', ...set('ON_ERROR_STOP', 1), ...set('from', from), ...set('to', to), ...set('body', 120), '-f', path.join(BENCH, 'fill.sql')];
  await promisify(execFile)('psql', args);
  await psql(storage.url, 'VACUUM ANALYZE');
}

/** Medians of several rounds: requests per second, latencies, and CPU milliseconds of PostgreSQL for each. */
async function rate(how) {
  const runs = [];
  for (let n = 0; n < ROUNDS; n += 1) {
    const before = await storage.cpu();
    const { path: at = '/', headers = {}, ...rest } = how;
    const host = { Host: `localhost:${node.port}`, ...headers };
    const run = await load({ url: `http://127.0.0.1:${node.port}${at}`, pids: [node.pid], headers: host, ...rest });
    runs.push({ ...run, cpu: (((await storage.cpu()) - before) * 1000) / (run.rps * SECONDS) });
  }
  return Object.fromEntries(['rps', 'p50', 'p99', 'cpu'].map((field) => [field, median(runs.map((run) => run[field]))]));
}

/** CPU milliseconds of PostgreSQL and of the sweeping node for one sweep that finds nothing; seconds to expire some pages. */
async function sweep() {
  const watch = async (pids) => {
    const read = async () => (await storage.cpu()) + (await cpuSeconds(pids));
    const before = await read();
    await sleep(WATCHED_SECONDS * 1000);
    return ((await read()) - before) / WATCHED_SECONDS;
  };
  // The same node without and with sweeps, so that only they differ.
  const idleNode = async (every) => {
    const sweeper = await startServer({ binary: RELEASE, env: { ...storage.env, DROPLEAF_SWEEP__EVERY_SECONDS: every } });
    await psql(storage.url, 'CHECKPOINT');
    await sleep(3_000);
    return { sweeper, cpu: await watch([sweeper.pid]) };
  };
  const without = await idleNode('86400');
  await without.sweeper.stop();
  const { sweeper, cpu } = await idleNode('1');
  const idle = (cpu - without.cpu) * 1000;
  const due = "state = 'live' AND expires_at < EXTRACT(EPOCH FROM now())";
  await psql(storage.url, `UPDATE sites SET expires_at = 1 WHERE id IN (SELECT id FROM sites WHERE state = 'live' AND expires_at IS NOT NULL LIMIT ${EXPIRED})`);
  const started = performance.now();
  await until('the sweep', async () => (await psql(storage.url, `SELECT COUNT(*) FROM sites WHERE ${due}`)) === '0', { timeout: 300_000, every: 50 });
  const seconds = (performance.now() - started) / 1000;
  await sweeper.stop();
  return { idle, seconds };
}

async function sizes() {
  const rows = await psql(storage.url, `SELECT name, pg_table_size(name::regclass), pg_indexes_size(name::regclass), (SELECT COUNT(*) FROM sites)
    FROM unnest(ARRAY['${TABLES.join("','")}']) AS name`);
  return rows.split('\n').map((row) => row.split('|')).map(([name, table, indexes, pages]) => ({ name, table: table / pages, indexes: indexes / pages }));
}
const depth = async (index) => Number(await psql(storage.url, `SELECT level + 1 FROM bt_metap('${index}')`));

const seen = [];
let filled = 0;
for (const size of SIZES) {
  const started = Date.now();
  await fill(filled + 1, size);
  filled = size;
  console.log(`${size} pages, filled in ${Math.round((Date.now() - started) / 1000)} s`);
  const file = path.join(dir, `paths-${size}`);
  const tokens = await psql(storage.url, `SELECT token FROM sites WHERE state = 'live' ORDER BY random() LIMIT ${SAMPLE}`);
  await writeFile(file, tokens.split('\n').map((token) => `/p/${token}/\n`).join(''));
  seen.push({
    size,
    // Before anything is published, which adds bodies.
    sizes: await sizes(),
    tokenBytes: Number(await psql(storage.url, "SELECT pg_relation_size('sites_token_key')")) / size,
    view: await rate({ script: 'paths.lua', args: [file], connections: 32 }),
    publish: await rate({ path: '/sites', script: 'publish.lua', args: ['dropleaf', keys.join(',')], connections: 32 }),
    list: await rate({ path: '/sites?limit=100', headers: { Authorization: `Bearer ${keys[0]}` }, connections: 4 }),
    depth: await depth('sites_token_key'),
    sweep: await sweep(),
  });
}

const speed = (kind) => seen.map(({ size, [kind]: run }) => ({
  pages: size.toLocaleString('en-US'), 'per second': run.rps, 'times the smallest': run.rps / seen[0][kind].rps, 'p50 ms': run.p50, 'p99 ms': run.p99, 'CPU ms of PostgreSQL, each': run.cpu,
}));
await report('pages', {
  'Views of any page, 32 at once': speed('view'),
  'Publishes of 16 accounts, 32 at once': speed('publish'),
  'Lists of 100 pages of an account that has nearly all, 4 at once': speed('list'),
  'Sweep': seen.map(({ size, sweep: { idle, seconds } }) => ({
    pages: size.toLocaleString('en-US'), 'CPU ms of a sweep without work': idle, [`s until ${EXPIRED} pages are expired`]: seconds,
  })),
  'Bytes per page (table + indexes), with bodies of 120 bytes': seen.map(({ size, sizes: tables, depth: levels }) => ({
    pages: size.toLocaleString('en-US'),
    ...Object.fromEntries(tables.map(({ name, table, indexes }) => [name, `${Math.round(table)} + ${Math.round(indexes)}`])),
    'all, with indexes': tables.reduce((sum, { table, indexes }) => sum + table + indexes, 0),
    'levels of the token index': String(levels),
  })),
}, { sizes: SIZES, expired: EXPIRED, storedBytes, seen });
await node.stop();
await storage.drop();
await rm(dir, { recursive: true, force: true });
