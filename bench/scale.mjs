// A store with a million sites against one with a thousand: view, update and list of random sites, interleaved, and the
// memory of the idle process. BENCH_SITES changes the million. Views are measured twice: of 20,000 pages picked at random,
// whose rows fit into memory, and of all, where nearly every view reads the database. Then what sweeps cost on both.

import { execFile } from 'node:child_process';
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { publish, request } from '../e2e/http.mjs';
import { operatorKey, ROOT, sleep, startServer, until } from '../e2e/server.mjs';
import { contest, cpuSeconds, load, onServerCore, ratio, RELEASE, save, SETTINGS, table, tenKilobytes } from './measure.mjs';

const SIZES = { small: 1_000, large: Number(process.env.BENCH_SITES ?? 1_000_000) };
const MODELS = 200;
const EXPIRED = 5_000;
/** How long a process is watched with a sweep every second, and without. */
const WATCHED_SECONDS = 20;
const disk = path.join(ROOT, '.test/bench-scale');
await rm(disk, { recursive: true, force: true });

async function databaseIn(dir) {
  for (const name of await readdir(dir)) {
    const file = path.join(dir, name);
    if (!(await stat(file)).isFile()) continue;
    const handle = await open(file);
    const { buffer } = await handle.read(Buffer.alloc(16), 0, 16, 0);
    await handle.close();
    if (buffer.toString('latin1').startsWith('SQLite format 3')) return file;
  }
  throw new Error(`no database in ${dir}`);
}

async function prepare(name, total) {
  const dataDir = path.join(disk, name);
  await mkdir(dataDir, { recursive: true });
  const options = { binary: RELEASE, wrap: onServerCore, env: SETTINGS, dataDir };
  let server = await startServer(options);
  const key = await operatorKey(server);
  const page = tenKilobytes();
  for (let i = 0; i < MODELS; i += 1) await publish(server, { name: 'page.html', bytes: page.replace('Ten kilobytes', `Page ${i}`), key });
  await server.stop();
  const paths = path.join(disk, `${name}.paths`);
  const ids = path.join(disk, `${name}.ids`);
  const all = path.join(disk, `${name}.all`);
  const started = Date.now();
  await python('fill.py', await databaseIn(dataDir), String(total), paths, ids, all);
  console.log(`${name}: ${total} sites, filled in ${Math.round((Date.now() - started) / 1000)} s`);
  server = await startServer({ ...options, env: { ...SETTINGS, DROPLEAF_SWEEP__EVERY_SECONDS: '86400' } });
  await sleep(2_000);
  const memory = await memoryOf(server.pid);
  const listed = (await request(server, { path: '/sites?limit=100', key })).json();
  if (listed.sites.length !== 100) throw new Error(`${name}: ${listed.sites.length} sites listed`);
  return { server, key, paths, ids, all, memory, dataDir, startMs: server.readyAfterMs };
}

const python = async (script, ...args) => (await promisify(execFile)('python3', [path.join(ROOT, 'bench', script), ...args])).stdout.trim();

/** CPU milliseconds of a sweep that finds nothing to do, and seconds until many pages that end at once are expired. */
async function sweepOf({ dataDir }) {
  const database = await databaseIn(dataDir);
  const watch = async (every) => {
    const server = await startServer({ binary: RELEASE, wrap: onServerCore, env: { ...SETTINGS, DROPLEAF_SWEEP__EVERY_SECONDS: every }, dataDir });
    await sleep(3_000);
    const before = await cpuSeconds([server.pid]);
    await sleep(WATCHED_SECONDS * 1000);
    return { server, cpu: ((await cpuSeconds([server.pid])) - before) / WATCHED_SECONDS };
  };
  const without = await watch('86400');
  await without.server.stop();
  const { server, cpu } = await watch('1');
  await server.stop();
  await python('expire.py', database, String(EXPIRED));
  const sweeper = await startServer({ binary: RELEASE, wrap: onServerCore, env: { ...SETTINGS, DROPLEAF_SWEEP__EVERY_SECONDS: '1' }, dataDir });
  const started = performance.now();
  await until('the sweep', async () => (await python('expire.py', database)) === '0', { timeout: 300_000, every: 100 });
  const seconds = (performance.now() - started) / 1000;
  await sweeper.stop();
  return { idleMs: (cpu - without.cpu) * 1000, seconds };
}

async function memoryOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const read = (field) => Number(status.match(new RegExp(`${field}:\\s+(\\d+) kB`))[1]) / 1024;
  return { residentMiB: read('VmRSS'), anonymousMiB: read('RssAnon') };
}

const stores = { small: await prepare('small', SIZES.small), large: await prepare('large', SIZES.large) };

const ACTS = {
  'view a random page': (store) => ({ script: 'paths.lua', args: [store.paths], connections: 64 }),
  'update a random site': (store) => ({ script: 'update.lua', args: [store.key, store.ids], connections: 64 }),
  'list 100 sites': (store) => ({ path: '/sites?limit=100', headers: { Authorization: `Bearer ${store.key}` }, connections: 16 }),
  // Last, because it leaves the most views to be written.
  'view any page of all': (store) => ({ script: 'paths.lua', args: [store.all], connections: 64 }),
};

/** One run of an act against a store; `over` changes how it is asked. */
function runner(how, over = {}) {
  return (store) => () => {
    const { path: at = '/', headers = {}, ...rest } = how(store);
    const host = `localhost:${store.server.port}`;
    const url = `http://127.0.0.1:${store.server.port}${at}`;
    return load({ url, pids: [store.server.pid], headers: { Host: host, ...headers }, ...rest, ...over });
  };
}

// What one caller waits for, before anything is loaded: a request at a time, any page of all.
const waits = {};
const waited = [];
for (const [act, how] of Object.entries(ACTS)) {
  const run = runner(how, { connections: 1 });
  const seen = await contest({ small: run(stores.small), large: run(stores.large) }, { pause: act.startsWith('update') ? 1_000 : 0 });
  waits[act] = { ...seen, longer: seen.large.p50 / seen.small.p50 };
  waited.push({
    act,
    [`p50 ms at ${SIZES.small}`]: seen.small.p50,
    [`p50 ms at ${SIZES.large}`]: seen.large.p50,
    'times longer': waits[act].longer,
    'p99 ms small': seen.small.p99,
    'p99 ms large': seen.large.p99,
  });
}
table('One caller: how long an answer takes (medians)', waited);

const results = {};
const rows = [];
for (const [act, how] of Object.entries(ACTS)) {
  const run = runner(how);
  const seen = await contest({ small: run(stores.small), large: run(stores.large) }, { pause: act.startsWith('update') ? 1_000 : 0 });
  const slower = ratio(seen.small, seen.large);
  results[act] = { ...seen, slowdown: { byRate: slower.rps, byCpu: slower.perCpu } };
  rows.push({
    act,
    [`req/s at ${SIZES.small}`]: seen.small.rps,
    [`req/s at ${SIZES.large}`]: seen.large.rps,
    'times slower': slower.rps,
    'times the CPU': slower.perCpu,
    'p99 ms small': seen.small.p99,
    'p99 ms large': seen.large.p99,
  });
}
table('Many callers: how much one core answers (medians)', rows);
const memory = Object.fromEntries(Object.entries(stores).map(([name, store]) => [name, { idle: store.memory, startMs: store.startMs }]));
for (const [name, store] of Object.entries(stores)) memory[name].afterLoad = await memoryOf(store.server.pid);
table('Memory in MiB', Object.entries(memory).map(([name, m]) => ({
  store: name,
  'idle, resident': m.idle.residentMiB,
  'idle, own': m.idle.anonymousMiB,
  'after load, resident': m.afterLoad.residentMiB,
  'after load, own': m.afterLoad.anonymousMiB,
  'start ms': m.startMs,
})));
for (const store of Object.values(stores)) await store.server.stop();
const sweeps = {};
for (const [name, store] of Object.entries(stores)) sweeps[name] = await sweepOf(store);
table('Sweep', Object.entries(sweeps).map(([store, { idleMs, seconds }]) => ({
  store,
  'CPU ms of a sweep without work': idleMs,
  [`s until ${EXPIRED} pages, or all, are expired`]: seconds,
})));
await save('scale', { sizes: SIZES, waits, acts: results, memory, sweeps });
await rm(disk, { recursive: true, force: true });
