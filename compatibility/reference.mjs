// A plain static server, what an output is compared with. Every output has a host of its own, NAME.localhost, and its files
// stand at the root, as on the hosts that these tools are made for: index.html of a folder, about → about.html, 404.html.

import http from 'node:http';
import path from 'node:path';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.htm': 'text/html; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml',
};

export const typeOf = (name) => TYPES[path.posix.extname(name).toLowerCase()] ?? 'application/octet-stream';

/** Serves `fixtures`; gives the address of each with `rootOf(fixture)`. */
export async function startReference(fixtures) {
  const byName = new Map(fixtures.map((fixture) => [fixture.name, fixture]));
  const server = http.createServer((request, response) => {
    const url = new URL(request.url, `http://${request.headers.host}`);
    const fixture = byName.get(url.hostname.split('.')[0]);
    const answer = fixture ? find(fixture, url, request.headers) : { status: 404 };
    response.writeHead(answer.status, answer.headers);
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    rootOf: (fixture) => `http://${fixture.name}.localhost:${port}/`,
    stop: () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  };
}

const page = (name, body, status = 200) => ({ status, headers: { 'content-type': typeOf(name), 'x-content-type-options': 'nosniff' }, body });

function find({ files, spa }, url, headers) {
  const name = decodeURIComponent(url.pathname).slice(1);
  const exact = name === '' || name.endsWith('/') ? `${name}index.html` : name;
  for (const candidate of [exact, `${exact}.html`]) {
    if (files.has(candidate)) return page(candidate, files.get(candidate));
  }
  if (files.has(`${name}/index.html`)) return { status: 301, headers: { location: `${url.pathname}/${url.search}` } };
  if (spa && headers['sec-fetch-mode'] === 'navigate') return page('index.html', files.get('index.html'));
  if (files.has('404.html')) return page('404.html', files.get('404.html'), 404);
  return page('404.txt', 'Not found', 404);
}
