// HTTPS: a cached view of a 10 KB page and full handshakes against nginx with the same ECDSA P-256 certificate, handshakes
// with 10 custom domains against 10,000, and a flood of hellos for names that the server does not have. One worker each
// on the same core, interleaved rounds. `crates/server/examples/tls_load` fills stores and makes handshakes.
// BENCH_DOMAINS changes the 10,000.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { publish, request } from '../e2e/http.mjs';
import { freePort, operatorKey, sleep, startServer, tempDir, until } from '../e2e/server.mjs';
import { contest, cpuSeconds, load, onLoadCore, onServerCore, ratio, RELEASE, ROUNDS, save, SETTINGS, table, tenKilobytes } from './measure.mjs';
import { startNginx } from './nginx.mjs';

const TOOL = path.join(path.dirname(RELEASE), 'examples/tls_load');
const SIZES = { few: 10, many: Number(process.env.BENCH_DOMAINS ?? 10_000) };
const HANDSHAKES = 4_000;
const GOALS = { view: 0.9, handshake: 0.9, growth: 1.2 };
const dir = await tempDir('tls');
const run = promisify(execFile);
const missed = [];

/** Runs the load generator on the core of the load. */
async function tool(...args) {
  const [command, ...rest] = [...onLoadCore, TOOL, ...args.map(String)];
  return JSON.parse((await run(command, rest, { maxBuffer: 1e8 })).stdout);
}

/** Full handshakes with the names in turn, with the same fields as `load`. */
async function handshakes(port, names, pids, count = HANDSHAKES) {
  const file = path.join(dir, 'names');
  await writeFile(file, names.join('\n'));
  const before = await cpuSeconds(pids);
  const { seconds, p50, p99 } = await tool('handshakes', `127.0.0.1:${port}`, file, count, 16);
  return { rps: count / seconds, perCpu: count / ((await cpuSeconds(pids)) - before), p50, p99 };
}

async function memoryOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(status.match(/RssAnon:\s+(\d+) kB/)[1]) / 1024;
}

function check(what, value, isReached) {
  if (!isReached) missed.push(`${what}: ${value.toFixed(2)}`);
}

// 1. Against nginx.

const [cert, key] = [path.join(dir, 'cert.pem'), path.join(dir, 'key.pem')];
await run('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,DNS:*.localhost', '-keyout', key, '-out', cert]);
const html = tenKilobytes();
const tlsPort = await freePort();
const host = `localhost:${tlsPort}`;
const server = await startServer({
  binary: RELEASE,
  wrap: onServerCore,
  env: { ...SETTINGS, DROPLEAF_BASE_URL: `https://${host}`, DROPLEAF_TLS__LISTEN: host, DROPLEAF_TLS__CERT_FILE: cert, DROPLEAF_TLS__KEY_FILE: key },
});
const site = await publish(server, { name: 'ten.html', bytes: html, key: await operatorKey(server), headers: { host } });
const model = await request(server, { path: site.path, host });
assert.equal(model.status, 200);
const nginx = await startNginx({ html, path: site.path, like: model, tls: { cert, key } });

const at = (port) => `https://localhost:${port}${site.path}`;
const view = await contest({
  nginx: () => load({ url: at(nginx.port), pids: nginx.pids }),
  dropleaf: () => load({ url: at(tlsPort), pids: [server.pid] }),
});
const shake = await contest({
  nginx: () => handshakes(nginx.port, ['localhost'], nginx.pids),
  dropleaf: () => handshakes(tlsPort, ['localhost'], [server.pid]),
});
const against = {};
const rows = [];
for (const [what, seen] of Object.entries({ 'view, 10 KB, kept alive': view, 'full handshake': shake })) {
  against[what] = { ...seen, ratio: ratio(seen.dropleaf, seen.nginx) };
  for (const [who, result] of Object.entries(against[what])) {
    rows.push({ what, server: who, 'per s': result.rps, 'per CPU-s': result.perCpu, 'p50 ms': result.p50, 'p99 ms': result.p99 });
  }
}
table('HTTPS with an ECDSA P-256 certificate, one core (medians; ratio = dropleaf / nginx)', rows);
check('view over TLS / nginx, per CPU-second', against['view, 10 KB, kept alive'].ratio.perCpu, against['view, 10 KB, kept alive'].ratio.perCpu >= GOALS.view);
check('handshakes / nginx, per CPU-second', against['full handshake'].ratio.perCpu, against['full handshake'].ratio.perCpu >= GOALS.handshake);
await nginx.stop();
await server.stop();

// 2. Few custom domains against many.

async function withDomains(name, count) {
  const dataDir = path.join(dir, name);
  await mkdir(dataDir, { recursive: true });
  const port = await freePort();
  const base = `https://bench.example:${port}`;
  const options = {
    binary: RELEASE,
    wrap: onServerCore,
    dataDir,
    env: { ...SETTINGS, DROPLEAF_BASE_URL: base, DROPLEAF_TLS__MODE: 'acme', DROPLEAF_TLS__LISTEN: `127.0.0.1:${port}`, DROPLEAF_TLS__ACME__DIRECTORY_URL: 'https://127.0.0.1:1/directory' },
  };
  let started = await startServer(options);
  await publish(started, { name: 'ten.html', bytes: html, key: await operatorKey(started), headers: { host: `bench.example:${port}` } });
  await started.stop();
  const { names } = await tool('fill', dataDir, base, count);
  started = await startServer(options);
  const customers = names.filter((one) => one.endsWith('.customer.example'));
  assert.equal(customers.length, count);
  const idle = await memoryOf(started.pid);
  // Each name once: read from the database, decrypted and parsed.
  const first = await handshakes(port, customers, [started.pid], count);
  return { server: started, port, customers, idle, first };
}

const stores = { few: await withDomains('few', SIZES.few), many: await withDomains('many', SIZES.many) };
const one = (store) => () => handshakes(store.port, store.customers, [store.server.pid], Math.max(HANDSHAKES, store.customers.length));
const grown = await contest({ few: one(stores.few), many: one(stores.many) }, { rounds: ROUNDS });
const growth = { byCpu: grown.few.perCpu / grown.many.perCpu, byTime: grown.many.p50 / grown.few.p50 };
const memory = {};
for (const [name, store] of Object.entries(stores)) memory[name] = { idle: store.idle, used: await memoryOf(store.server.pid) };
memory.perDomainKiB = ((memory.many.used - memory.few.used) * 1024) / (SIZES.many - SIZES.few);
table(`Full handshakes with the certificates of custom domains, all names in turn (medians)`, [
  ...Object.entries(stores).map(([name, store]) => ({
    domains: SIZES[name],
    'per s': grown[name].rps,
    'per CPU-s': grown[name].perCpu,
    'p50 ms': grown[name].p50,
    'p99 ms': grown[name].p99,
    'first p50 ms': store.first.p50,
    'idle MiB': memory[name].idle,
    'all used MiB': memory[name].used,
  })),
]);
console.log(`with ${SIZES.many} domains a handshake takes ${growth.byTime.toFixed(2)} times as long and ${growth.byCpu.toFixed(2)} times the CPU; memory: ${memory.perDomainKiB.toFixed(1)} KiB for each domain`);
check('handshake time, many / few domains', growth.byTime, growth.byTime <= GOALS.growth);

// 3. Hellos for unknown names.

/** Which tables changed meanwhile, and how often anything was committed. */
async function observe(dataDir, work) {
  const script = `
import json, select, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
state = lambda: {table: hash(tuple(db.execute(f'SELECT * FROM "{table}" ORDER BY rowid' if table not in plain else f'SELECT * FROM "{table}" ORDER BY 1'))) for table in tables}
plain = {name for (name, sql) in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'") if "WITHOUT ROWID" in (sql or "").upper()}
version = lambda: db.execute("PRAGMA data_version").fetchone()[0]
before, last, commits = state(), version(), 0
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.05)[0]:
    now = version()
    commits, last = commits + (now != last), now
after = state()
print(json.dumps({"changed": [table for table in tables if before[table] != after[table]], "commits": commits + (version() != last)}))`;
  const child = execFile('python3', ['-c', script, path.join(dataDir, 'dropleaf.db')]);
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stderr.pipe(process.stderr);
  await until('the observer', () => text.includes('ready'));
  const result = await work();
  child.stdin.write('x');
  await new Promise((resolve) => child.once('close', resolve));
  return { ...result, ...JSON.parse(text.slice(text.indexOf('{'))) };
}

const target = stores.many;
// Every background task that runs each minute has run at least once in this time, so that its writes are known.
const QUIET_SECONDS = 70;
const quiet = await observe(target.server.dataDir, () => sleep(QUIET_SECONDS * 1_000));
const cpuBefore = await cpuSeconds([target.server.pid]);
const flood = await observe(target.server.dataDir, () => tool('flood', `127.0.0.1:${target.port}`, 10_000, 10));
flood.cpuSeconds = (await cpuSeconds([target.server.pid])) - cpuBefore;
flood.memoryMiB = await memoryOf(target.server.pid);
table('Hellos for unknown names for 10 seconds, and the time before', [
  { what: 'none', sent: 0, refused: 0, failed: 0, seconds: QUIET_SECONDS, 'CPU s': '', commits: quiet.commits, 'changed tables': quiet.changed.join(' ') || 'none', MiB: memory.many.used },
  { what: 'flood', sent: flood.sent, refused: flood.refused, failed: flood.failed, seconds: flood.seconds, 'CPU s': flood.cpuSeconds, commits: flood.commits, 'changed tables': flood.changed.join(' ') || 'none', MiB: flood.memoryMiB },
]);
const written = flood.changed.filter((table) => !quiet.changed.includes(table));
if (written.length) missed.push(`the flood caused writes to ${written.join(', ')}`);
if (flood.failed) missed.push(`${flood.failed} hellos of the flood were not answered with an alert`);

await save('tls', { sizes: SIZES, against, growth: { ...growth, ...grown }, memory, quiet, flood });
for (const store of Object.values(stores)) await store.server.stop();
await rm(dir, { recursive: true, force: true });
if (missed.length) {
  console.error(`goals missed: ${missed.join('; ')}`);
  process.exitCode = 1;
}
