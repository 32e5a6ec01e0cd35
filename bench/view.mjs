// A cached view of a 10 KB page: dropleaf against nginx with sendfile and open_file_cache, the same file, the same
// response headers, one worker each on the same core, 64 connections, interleaved rounds.

import assert from 'node:assert/strict';
import { publish, request } from '../e2e/http.mjs';
import { operatorKey, startServer } from '../e2e/server.mjs';
import { contest, load, onServerCore, ratio, RELEASE, save, SETTINGS, table, tenKilobytes } from './measure.mjs';
import { startNginx } from './nginx.mjs';

const html = tenKilobytes();
const server = await startServer({ binary: RELEASE, wrap: onServerCore, env: SETTINGS });
const key = await operatorKey(server);
const site = await publish(server, { name: 'ten.html', bytes: html, key });
const redirect = await request(server, { path: site.path, headers: { 'sec-fetch-mode': 'navigate', 'user-agent': 'Mozilla/5.0' } });
const ownHost = new URL(redirect.headers.location).host;
const nginx = await startNginx({ html, path: site.path, like: await request(server, { path: site.path }) });

/** Each variant: the headers both servers are asked with, and what they must answer. */
const etagOf = async (target, headers) => (await request(target, { path: site.path, headers })).headers.etag;
const host = `localhost:${server.port}`;
const variants = {
  'plain, 10 KB': { status: 200 },
  'plain, on its own host': { status: 200, ours: { Host: ownHost } },
  'not modified (304)': {
    status: 304,
    ours: { 'If-None-Match': await etagOf(server) },
    theirs: { 'If-None-Match': await etagOf(nginx) },
  },
  gzip: { status: 200, ours: { 'Accept-Encoding': 'gzip' }, theirs: { 'Accept-Encoding': 'gzip' }, encoding: 'gzip' },
  'brotli (nginx: gzip)': { status: 200, ours: { 'Accept-Encoding': 'br' }, theirs: { 'Accept-Encoding': 'gzip' }, encoding: 'br' },
};

const results = {};
const rows = [];
for (const [name, variant] of Object.entries(variants)) {
  const ours = { Host: host, ...variant.ours };
  const theirs = { ...variant.theirs };
  const check = await request(server, { path: site.path, host: ours.Host, headers: ours });
  const peer = await request(nginx, { path: site.path, headers: theirs });
  assert.equal(check.status, variant.status, `${name}: ${check.status}`);
  assert.equal(peer.status, variant.status, `${name}, nginx: ${peer.status}`);
  assert.equal(check.headers['content-encoding'], variant.encoding, name);
  const at = (port) => `http://127.0.0.1:${port}${site.path}`;
  const seen = await contest({
    nginx: () => load({ url: at(nginx.port), pids: nginx.pids, headers: theirs }),
    dropleaf: () => load({ url: at(server.port), pids: [server.pid], headers: ours }),
  });
  results[name] = { ...seen, ratio: ratio(seen.dropleaf, seen.nginx), bytes: { dropleaf: check.bytes.length, nginx: peer.bytes.length } };
  for (const who of ['nginx', 'dropleaf']) rows.push({ variant: name, server: who, 'req/s': seen[who].rps, 'req/CPU-s': seen[who].perCpu, 'p50 ms': seen[who].p50, 'p99 ms': seen[who].p99 });
  const r = results[name].ratio;
  rows.push({ variant: name, server: 'ratio', 'req/s': r.rps, 'req/CPU-s': r.perCpu, 'p50 ms': r.p50, 'p99 ms': r.p99 });
}
table('View of a 10 KB page, 64 connections, one core (medians; ratio = dropleaf / nginx)', rows);
await save('view', { headers: (await request(server, { path: site.path })).headers, variants: results });
await nginx.stop();
await server.stop();
