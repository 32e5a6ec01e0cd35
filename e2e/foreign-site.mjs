// A web server that is not dropleaf's: what an attacker publishes, and what arrives there.

import http from 'node:http';

/**
 * Listens on 127.0.0.1, to which tests map names of their own. `pages` maps paths to HTML; `seen` holds {method, url, headers, body} of all requests.
 * Anything else is answered with an empty text, and every answer may be read by every origin.
 */
export async function startForeignSite(pages = {}) {
  const seen = [];
  const listener = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    seen.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
    const page = pages[new URL(request.url, 'http://foreign.example').pathname];
    response.writeHead(200, { 'content-type': page === undefined ? 'text/plain' : 'text/html; charset=utf-8', 'access-control-allow-origin': '*' });
    response.end(page ?? '');
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address();
  return {
    port,
    pages,
    seen,
    stop: () => {
      listener.closeAllConnections();
      return new Promise((resolve) => listener.close(resolve));
    },
  };
}
