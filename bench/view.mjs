// A cached view of a 10 KB page: dropleaf against nginx with sendfile and open_file_cache, the same file, the same
// response headers, one worker each on the same core, 64 connections, interleaved rounds.

import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { publish, request } from '../e2e/http.mjs';
import { freePort, operatorKey, startServer, tempDir, until } from '../e2e/server.mjs';
import { contest, load, onServerCore, ratio, RELEASE, save, SETTINGS, startPeer, table, tenKilobytes } from './measure.mjs';

/** nginx makes these itself, or they differ by nature. */
const OWN = ['date', 'server', 'content-type', 'content-length', 'etag', 'last-modified', 'connection', 'accept-ranges', 'keep-alive', 'transfer-encoding'];

const html = tenKilobytes();
const server = await startServer({ binary: RELEASE, wrap: onServerCore, env: SETTINGS });
const key = await operatorKey(server);
const site = await publish(server, { name: 'ten.html', bytes: html, key });
const redirect = await request(server, { path: site.path, headers: { 'sec-fetch-mode': 'navigate', 'user-agent': 'Mozilla/5.0' } });
const ownHost = new URL(redirect.headers.location).host;
const nginx = await startNginx(await request(server, { path: site.path }));

async function startNginx(model) {
  const dir = await tempDir('nginx');
  const port = await freePort();
  const folder = path.join(dir, 'root', site.path);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'index.html'), html);
  await writeFile(path.join(folder, 'index.html.gz'), gzipSync(html, { level: 6 }));
  const headers = Object.entries(model.headers).filter(([name]) => !OWN.includes(name));
  const config = `
    ${process.getuid() === 0 ? 'user root;' : ''} worker_processes 1; daemon off; pid ${dir}/pid; error_log ${dir}/error.log;
    events { worker_connections 1024; }
    http {
      access_log off; server_tokens off; sendfile on; tcp_nopush on; tcp_nodelay on;
      keepalive_requests 1000000000; keepalive_timeout 60s;
      open_file_cache max=1000 inactive=60s; open_file_cache_valid 60s; open_file_cache_min_uses 1;
      types { text/html html; } default_type application/octet-stream; charset utf-8;
      client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/fastcgi;
      uwsgi_temp_path ${dir}/uwsgi; scgi_temp_path ${dir}/scgi;
      server {
        listen 127.0.0.1:${port}; root ${dir}/root; gzip_static on; index index.html;
        ${headers.map(([name, value]) => `add_header ${name} "${value.replaceAll('"', '\\"')}" always;`).join('\n        ')}
      }
    }`;
  await writeFile(path.join(dir, 'nginx.conf'), config);
  const child = startPeer('nginx', ['-p', dir, '-e', `${dir}/error.log`, '-c', path.join(dir, 'nginx.conf')]);
  const peer = { port };
  await until('nginx', async () => {
    if (child.exitCode !== null) throw new Error(child.log);
    return request(peer, { path: site.path }).then((answer) => answer.status === 200, () => false);
  });
  const tasks = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ').map(Number);
  return { port, dir, pids: tasks, stop: () => child.kill('SIGTERM') };
}

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
nginx.stop();
await server.stop();
await rm(nginx.dir, { recursive: true, force: true });
