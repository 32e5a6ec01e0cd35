// Finds changes that make the service slower: short forms of the benchmarks, each a ratio to a peer in the same run, compared
// with the figures recorded in bench/guard.json. Run it with scripts/bench guard, or make bench-guard.
//   --record   writes this run's figures as the recorded ones
//   --print    says what is slower or could not be measured, but does not fail

import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { publish, request } from '../e2e/http.mjs';
import { psql } from '../e2e/postgres.mjs';
import { operatorKey, ROOT, startServer } from '../e2e/server.mjs';
import { contest, load, RELEASE, table, tenKilobytes } from './measure.mjs';
import { startNginx } from './nginx.mjs';
import { accounts, startNodes, startStorage, UNLIMITED } from './services.mjs';

const RECORDED = new URL('guard.json', import.meta.url);
/** How much smaller than the recorded figure a ratio may be; two runs on a busy machine differ by up to 15 %. */
const MARGIN = 0.25;
/** A ratio below the margin is measured again; only if it stays there as often, the change is to blame. */
const TRIES = 3;
const ROUNDS = 3;
const SHORT = { seconds: Number(process.env.BENCH_SECONDS ?? 1) };
const PUBLISHERS = 64;
/** Debug and release builds have figures of their own. */
const BUILD = process.env.BENCH_BUILD ?? path.basename(path.dirname(RELEASE));

// On the disk of the checkout: a temporary directory may be in memory, where nothing is durable.
const disk = path.join(ROOT, '.test/bench-guard');
await rm(disk, { recursive: true, force: true });
const html = tenKilobytes();

async function start(name, env = {}) {
  const dataDir = path.join(disk, name);
  await mkdir(dataDir, { recursive: true });
  const server = await startServer({ binary: RELEASE, env: { ...UNLIMITED, ...env }, dataDir });
  return { server, key: await operatorKey(server) };
}

const publishing = (server, keys) => () =>
  load({
    url: `http://127.0.0.1:${server.port}/sites`, pids: [server.pid], headers: { Host: `localhost:${server.port}` },
    script: 'publish.lua', args: ['dropleaf', keys], connections: PUBLISHERS, ...SHORT,
  });

/** Debian keeps pgbench beside the server, newest version first, and not in PATH. */
async function pgbenchFolders() {
  const root = '/usr/lib/postgresql';
  const versions = await readdir(root).catch(() => []);
  return [...versions.sort((a, b) => b - a).map((version) => path.join(root, version, 'bin')), ''];
}

/** Inserts rows of 10 KB one by one, as many clients at once as there are publishers. */
async function inserting(url) {
  await psql(url, 'CREATE TABLE peer (id UUID PRIMARY KEY, page TEXT NOT NULL)');
  await psql(url, 'ALTER TABLE peer ALTER page SET STORAGE EXTERNAL');
  const script = path.join(disk, 'insert.sql');
  await writeFile(script, `INSERT INTO peer VALUES (gen_random_uuid(), repeat(md5(random()::text), 320));\n`);
  const [folder] = await pgbenchFolders();
  const args = ['-n', '-M', 'prepared', '-c', String(PUBLISHERS), '-j', '1', '-T', String(SHORT.seconds), '-f', script, url];
  return async () => {
    const { stdout } = await promisify(execFile)(path.join(folder, 'pgbench'), args);
    return { rps: Number(stdout.match(/tps = ([\d.]+)/)[1]) };
  };
}

const { server, key } = await start('checked');
const { server: unchecked, key: uncheckedKey } = await start('unchecked', { DROPLEAF_SAFETY__PHISHING_CHECK: 'false', DROPLEAF_SAFETY__PII_CHECK: 'off' });
const site = await publish(server, { name: 'ten.html', bytes: html, key });
const nginx = await startNginx({ html, path: site.path, like: await request(server, { path: site.path }) });
const view = (port, pids, headers) => () => load({ url: `http://127.0.0.1:${port}${site.path}`, pids, headers, ...SHORT });
const viewOfNginx = view(nginx.port, nginx.pids, {});
const storage = await startStorage();
const [node] = await startNodes(storage, 1);
const [one] = await accounts(node, 1, 'guard');

/** Each ratio is that of requests per CPU-second, or of requests per second where most of the work is done by others. */
const measures = {
  'view, to nginx': { ours: view(server.port, [server.pid], { Host: `localhost:${server.port}` }), theirs: viewOfNginx, field: 'perCpu' },
  'publish, to a view by nginx': { ours: publishing(server, key), theirs: viewOfNginx, field: 'perCpu' },
  'publish, to one without checks': { ours: publishing(server, key), theirs: publishing(unchecked, uncheckedKey), field: 'perCpu' },
  'publish on PostgreSQL, to an insert': { ours: publishing(node, one), theirs: await inserting(storage.url), field: 'rps' },
};

async function measure({ ours, theirs, field }) {
  const seen = await contest({ theirs, ours }, { rounds: ROUNDS });
  return seen.ours[field] / seen.theirs[field];
}

const recorded = JSON.parse(await readFile(RECORDED, 'utf8').catch(() => '{}'));
const known = recorded[BUILD] ?? {};
const figures = {};
const rows = [];
let isBad = false;
for (const [name, how] of Object.entries(measures)) {
  const limit = (known[name] ?? 0) * (1 - MARGIN);
  const digits = (value) => value?.toPrecision(3) ?? '–';
  const row = { ratio: name, recorded: digits(known[name]), now: '–', 'of recorded': '–', verdict: 'not recorded' };
  rows.push(row);
  try {
    const seen = [];
    do seen.push(await measure(how));
    while (seen.at(-1) < limit && seen.length < TRIES);
    const best = Math.max(...seen);
    figures[name] = Number(best.toPrecision(3));
    row.now = digits(best);
    if (known[name] === undefined) continue;
    row['of recorded'] = `${Math.round((100 * best) / known[name])} %`;
    row.verdict = best < limit ? `SLOWER in ${seen.length} of ${seen.length}` : 'as recorded';
    isBad ||= best < limit;
  } catch (error) {
    row.verdict = `NOT MEASURED: ${error.message.split('\n')[0]}`;
    isBad = true;
  }
}
table(`Ratios of the ${BUILD} build (a regression is more than ${MARGIN * 100} % below the recorded figure, ${TRIES} times)`, rows);
if (process.argv.includes('--record')) {
  await writeFile(RECORDED, `${JSON.stringify({ ...recorded, [BUILD]: { ...known, ...figures } }, null, 2)}\n`);
  console.log(`recorded in ${path.relative(ROOT, RECORDED.pathname)}`);
} else if (isBad && !process.argv.includes('--print')) {
  process.exitCode = 1;
}

await nginx.stop();
for (const each of [server, unchecked, node]) await each.stop();
await storage.drop();
await rm(disk, { recursive: true, force: true });
