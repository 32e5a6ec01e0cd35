// Durable publish of 10 KB pages over HTTP, 64 at once: dropleaf (HTML, multipart, API key) against wastebin (JSON), with
// their data on the same disk, each on core 0, or with BENCH_CORES=all on all cores. WASTEBIN_BIN names the wastebin binary; without it only dropleaf is measured.

import { access, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { request } from '../e2e/http.mjs';
import { freePort, operatorKey, ROOT, startServer, until } from '../e2e/server.mjs';
import { contest, load, onServerCore, ratio, RELEASE, ROUNDS, save, SECONDS, SETTINGS, startPeer, table, WORKERS } from './measure.mjs';

// On the disk of the checkout: a temporary directory may be in memory, where nothing is durable.
const disk = path.join(ROOT, '.test/bench-publish');
await rm(disk, { recursive: true, force: true });
await mkdir(path.join(disk, 'dropleaf'), { recursive: true });

const server = await startServer({ binary: RELEASE, wrap: onServerCore, env: SETTINGS, dataDir: path.join(disk, 'dropleaf') });
const key = await operatorKey(server);
const contestants = {
  dropleaf: () =>
    load({
      url: `http://127.0.0.1:${server.port}/sites`,
      pids: [server.pid],
      headers: { Host: `localhost:${server.port}` },
      script: 'publish.lua',
      args: ['dropleaf', key],
      seconds: SECONDS,
    }),
};

if (process.env.WASTEBIN_BIN) {
  // A new process for each round: it may end by itself when wrk drops its connections.
  contestants.wastebin = async () => {
    const wastebin = await startWastebin(process.env.WASTEBIN_BIN);
    try {
      return await load({ url: `http://127.0.0.1:${wastebin.port}/`, pids: [wastebin.pid], script: 'publish.lua', args: ['wastebin'], seconds: SECONDS });
    } finally {
      wastebin.stop();
    }
  };
}

async function startWastebin(binary) {
  await access(binary);
  const port = await freePort();
  const env = {
    WASTEBIN_ADDRESS_PORT: `127.0.0.1:${port}`,
    WASTEBIN_BASE_URL: `http://127.0.0.1:${port}`,
    WASTEBIN_DATABASE_PATH: path.join(disk, 'wastebin.db'),
    WASTEBIN_SIGNING_KEY: 'k'.repeat(64),
    ...WORKERS,
    PATH: process.env.PATH,
  };
  const child = startPeer(binary, [], { env, cwd: disk });
  await until('wastebin', () => request({ port }, {}).then((answer) => answer.status === 200, () => false));
  return { port, pid: child.pid, stop: () => child.kill('SIGTERM') };
}

const seen = await contest(contestants, { rounds: ROUNDS, pause: 2_000 });
const rows = Object.entries(seen).map(([name, run]) => ({
  server: name,
  'publishes/s': run.rps,
  'per CPU-s': run.perCpu,
  'p50 ms': run.p50,
  'p99 ms': run.p99,
}));
const against = seen.wastebin && ratio(seen.dropleaf, seen.wastebin);
if (against) rows.push({ server: 'ratio', 'publishes/s': against.rps, 'per CPU-s': against.perCpu, 'p50 ms': against.p50, 'p99 ms': against.p99 });
table('Durable publish of 10 KB pages, 64 at once (medians)', rows);
if (!seen.wastebin) console.log('wastebin was not measured: set WASTEBIN_BIN to its binary');
await save('publish', { ...seen, ratio: against ?? null });
await server.stop();
await rm(disk, { recursive: true, force: true });
