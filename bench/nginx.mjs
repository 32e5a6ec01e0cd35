// nginx as a peer for views: one worker on core 0, with sendfile and open_file_cache; with TLS and HTTP/2 if there is a certificate.

import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { freePort, tempDir, until } from '../e2e/server.mjs';
import { startPeer } from './measure.mjs';

/** nginx makes these itself, or they differ by nature. */
const OWN = ['date', 'server', 'content-type', 'content-length', 'etag', 'last-modified', 'connection', 'accept-ranges', 'keep-alive', 'transfer-encoding'];

/** Serves `html` at `path` with the headers of the response `like`: {port, pids, stop}. `tls` is {cert, key}, the names of files. */
export async function startNginx({ html, path: address, like, tls }) {
  const dir = await tempDir('nginx');
  const port = await freePort();
  const folder = path.join(dir, 'root', address);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'index.html'), html);
  await writeFile(path.join(folder, 'index.html.gz'), gzipSync(html, { level: 6 }));
  const headers = Object.entries(like.headers).filter(([name]) => !OWN.includes(name));
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
      ${tls ? `ssl_certificate ${tls.cert}; ssl_certificate_key ${tls.key}; ssl_protocols TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on;` : ''}
      server {
        listen 127.0.0.1:${port}${tls ? ' ssl http2' : ''}; root ${dir}/root; gzip_static on; index index.html;
        ${headers.map(([name, value]) => `add_header ${name} "${value.replaceAll('"', '\\"')}" always;`).join('\n        ')}
      }
    }`;
  await writeFile(path.join(dir, 'nginx.conf'), config);
  const child = startPeer('nginx', ['-p', dir, '-e', `${dir}/error.log`, '-c', path.join(dir, 'nginx.conf')]);
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}${address}`;
  await until('nginx', async () => {
    if (child.exitCode !== null) throw new Error(child.log);
    return promisify(execFile)('curl', ['-skf', '-o', '/dev/null', url]).then(() => true, () => false);
  });
  const tasks = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ').map(Number);
  const stop = () => {
    child.kill('SIGTERM');
    return rm(dir, { recursive: true, force: true });
  };
  return { port, pids: tasks, stop };
}
