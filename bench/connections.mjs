// One node with 10,000 idle keep-alive connections and 2,000 slow clients: its memory, and the views it serves meanwhile, compared
// with the same node without them. Fails if a view takes more than twice as long with them, or if one of them is closed. The time
// limit for idle connections is a minute here, so that they are idle. BENCH_IDLE and BENCH_SLOW change the numbers.

import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import readline from 'node:readline';
import { publish } from '../e2e/http.mjs';
import { operatorKey, sleep, startServer, tempDir } from '../e2e/server.mjs';
import { BENCH, load, median, RELEASE, ROUNDS, SECONDS, tenKilobytes } from './measure.mjs';
import { report } from './report.mjs';
import { UNLIMITED } from './services.mjs';

const IDLE = Number(process.env.BENCH_IDLE ?? 10_000);
const SLOW = Number(process.env.BENCH_SLOW ?? 2_000);
const MEBIBYTE = 1 << 20;
const VIEWERS = 32;
const MOST_TIMES_NONE = 2;
/** Milliseconds between two views of one viewer, on average. */
const PAUSE = 10;

const node = await startServer({
  binary: RELEASE,
  env: { ...UNLIMITED, DROPLEAF_LIMITS__CONNECTIONS: String(IDLE + SLOW + 1_000), DROPLEAF_LIMITS__HEADER_SECONDS: '60' },
});
const key = await operatorKey(node);
const page = tenKilobytes();
const paths = [];
for (let n = 0; n < 200; n += 1) paths.push((await publish(node, { name: 'page.html', bytes: page.replace('Ten kilobytes', `Page ${n}`), key })).path);
// Compressible text, so that the slow readers get a body that does not fit into the buffers of their sockets.
const large = await publish(node, { name: 'large.html', bytes: `<!doctype html><title>Large</title>${'<p>leaf</p>'.repeat(MEBIBYTE / 4)}`, key });
const [small] = paths;
const idleAlone = await memory();
const dir = await tempDir('bench-connections');
const file = path.join(dir, 'paths');
await writeFile(file, paths.map((each) => `${each}\n`).join(''));

const view = () => load({
  url: `http://127.0.0.1:${node.port}/`, pids: [node.pid], headers: { Host: `localhost:${node.port}` },
  script: 'paths.lua', args: [file, String(PAUSE)], connections: VIEWERS, seconds: SECONDS,
});
/** Without the parts of the program file that are in memory. */
async function memory() {
  const status = await readFile(`/proc/${node.pid}/status`, 'utf8');
  return Number(status.match(/RssAnon:\s+(\d+) kB/)[1]) * 1024;
}
let clients;
process.on('exit', () => clients?.kill('SIGKILL'));
/** Starts the clients; gives what is open now, and a function that ends them and gives what is open then. */
async function hold(idle, slow) {
  clients = spawn('python3', [path.join(BENCH, 'connections.py'), String(node.port), String(idle), String(slow), small, large.path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = readline.createInterface({ input: clients.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error('the clients ended');
    return JSON.parse(value);
  };
  const open = await next();
  const end = async () => {
    clients.stdin.write('\n');
    const left = await next();
    clients.kill('SIGKILL');
    await sleep(1_000);
    return left;
  };
  return { open, end };
}

const HELD = { none: [0, 0], [`${IDLE} idle`]: [IDLE, 0], [`${IDLE} idle, ${SLOW} slow`]: [IDLE, SLOW] };
const seen = Object.fromEntries(Object.keys(HELD).map((name) => [name, []]));
const left = {};
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, [idle, slow]] of Object.entries(HELD)) {
    const held = idle + slow > 0 ? await hold(idle, slow) : null;
    seen[name].push({ ...(await view()), memory: await memory() });
    if (held) left[name] = await held.end();
  }
}
const middle = (name, field) => median(seen[name].map((run) => run[field]));
const shown = ({ idle, sending, reading, reopened }) => `${idle} idle, ${sending} sending, ${reading} reading; ${reopened} were closed`;
const rows = Object.keys(HELD).map((name) => ({
  'connections held': name,
  'views/s': middle(name, 'rps'),
  'p50 ms': middle(name, 'p50'),
  'p99 ms': middle(name, 'p99'),
  'p99, times none': middle(name, 'p99') / middle('none', 'p99'),
  'own memory MiB': middle(name, 'memory') / MEBIBYTE,
  'open at the end of the last round': left[name] ? shown(left[name]) : '–',
}));
const perConnection = (middle(`${IDLE} idle`, 'memory') - middle('none', 'memory')) / IDLE;
await report('connections', { [`One node, ${VIEWERS} viewers, a view every ${PAUSE} ms each`]: rows }, { bytesPerIdleConnection: perConnection, bytesBefore: idleAlone });
console.log(`the process had ${(idleAlone / MEBIBYTE).toFixed(1)} MiB of its own before the load; an idle connection takes ${(perConnection / 1024).toFixed(1)} KiB`);
await node.stop();
await rm(dir, { recursive: true, force: true });
for (const row of rows) {
  if (!(row['p99, times none'] <= MOST_TIMES_NONE)) throw new Error(`${row['connections held']}: p99 is ${row['p99, times none']} times that without`);
}
for (const [name, { reopened }] of Object.entries(left)) if (reopened > 0) throw new Error(`${name}: ${reopened} connections were closed`);
