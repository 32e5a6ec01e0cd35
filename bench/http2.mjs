// A cached view of a 10 KB page over HTTP/2 and TLS: dropleaf against nginx with the same file, headers and certificate, one worker
// each on the same core, interleaved rounds. The load is h2load's: many connections with one request at a time, as behind a
// proxy, and few with many at once, as of browsers.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { publish, request } from '../e2e/http.mjs';
import { freePort, operatorKey, startServer, tempDir } from '../e2e/server.mjs';
import { contest, cpuSeconds, onLoadCore, onServerCore, ratio, RELEASE, save, SECONDS, SETTINGS, table, tenKilobytes } from './measure.mjs';
import { startNginx } from './nginx.mjs';

const SHAPES = {
  '64 connections, one request at a time': ['-c', '64', '-m', '1'],
  '8 connections, 16 requests at once': ['-c', '8', '-m', '16'],
};
const run = promisify(execFile);
const dir = await tempDir('http2');
const [cert, key] = [path.join(dir, 'cert.pem'), path.join(dir, 'key.pem')];
await run('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert]);

const html = tenKilobytes();
const port = await freePort();
const host = `localhost:${port}`;
const server = await startServer({
  binary: RELEASE,
  wrap: onServerCore,
  env: { ...SETTINGS, DROPLEAF_BASE_URL: `https://${host}`, DROPLEAF_TLS__LISTEN: host, DROPLEAF_TLS__CERT_FILE: cert, DROPLEAF_TLS__KEY_FILE: key },
});
const site = await publish(server, { name: 'ten.html', bytes: html, key: await operatorKey(server), headers: { host } });
const like = await request(server, { path: site.path, host });
assert.equal(like.status, 200);
const nginx = await startNginx({ html, path: site.path, like, tls: { cert, key } });

/** Runs h2load once, with the same fields as `load`. Times to first byte come from its log: microseconds in the third column. */
async function load(at, pids, shape) {
  const log = path.join(dir, 'times');
  await rm(log, { force: true });
  const [command, ...rest] = [...onLoadCore, 'h2load', '-t1', ...shape, '-D', String(SECONDS), '--log-file', log, `https://localhost:${at}${site.path}`];
  const before = await cpuSeconds(pids);
  const { stdout } = await run(command, rest, { maxBuffer: 1e7 });
  const used = (await cpuSeconds(pids)) - before;
  assert.match(stdout, /Application protocol: h2\n/, stdout);
  const [, done, failed] = stdout.match(/(\d+) done, \d+ succeeded, (\d+) failed/).map(Number);
  const others = stdout.match(/status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/).slice(2).map(Number);
  assert.equal(failed + others.reduce((sum, count) => sum + count), 0, stdout);
  const times = (await readFile(log, 'utf8')).trim().split('\n').map((line) => Number(line.split('\t')[2]) / 1000).sort((a, b) => a - b);
  const part = (share) => times[Math.floor(share * (times.length - 1))];
  return { rps: done / SECONDS, perCpu: done / used, p50: part(0.5), p99: part(0.99) };
}

const results = {};
const rows = [];
for (const [name, shape] of Object.entries(SHAPES)) {
  const seen = await contest({ nginx: () => load(nginx.port, nginx.pids, shape), dropleaf: () => load(port, [server.pid], shape) });
  results[name] = { ...seen, ratio: ratio(seen.dropleaf, seen.nginx) };
  for (const who of ['nginx', 'dropleaf', 'ratio']) {
    const { rps, perCpu, p50, p99 } = results[name][who];
    rows.push({ load: name, server: who, 'req/s': rps, 'req/CPU-s': perCpu, 'p50 ms': p50, 'p99 ms': p99 });
  }
}
table('View of a 10 KB page over HTTP/2 and TLS, one core (medians; ratio = dropleaf / nginx)', rows);
await save('http2', results);
await nginx.stop();
await server.stop();
await rm(dir, { recursive: true, force: true });
