// A proxy that can stop a request before it is forwarded, or its answer before it is returned: the moments at which a test
// kills the program that waits for it.

import { once } from 'node:events';
import http from 'node:http';

/**
 * A gateway to `target()`, an address; `host()` is the Host header if it is another. `hold` stops the next request whose line
 * begins with the text and gives a promise of the moment it is held; it is never answered. While `paused`, every request is
 * refused. `seen` keeps the bodies that passed.
 */
export async function startGateway(target, host) {
  const holds = [];
  const gateway = { paused: false, seen: [] };
  const server = http.createServer(async (request, response) => {
    const body = await readAll(request);
    const line = `${request.method} ${request.url}`;
    gateway.seen.push(body.toString());
    if (gateway.paused) return response.writeHead(503).end();
    const at = holds.findIndex(({ start }) => line.startsWith(start));
    const [hold] = at < 0 ? [] : holds.splice(at, 1);
    if (hold?.when === 'before') return hold.held();
    try {
      const answer = await forward(target(), host?.(), request, body);
      if (hold) return hold.held();
      response.writeHead(answer.status, answer.headers).end(answer.body);
    } catch {
      // The target is being killed or restarted.
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway.url = `http://127.0.0.1:${server.address().port}`;
  gateway.hold = (start, when) => new Promise((held) => holds.push({ start, when, held }));
  gateway.stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return gateway;
}

async function forward(target, host, request, body) {
  const at = new URL(target);
  const headers = { ...request.headers, host: host ?? at.host };
  const call = http.request({ hostname: at.hostname, port: at.port, method: request.method, path: request.url, headers, agent: false });
  call.end(body);
  const [response] = await once(call, 'response');
  return { status: response.statusCode, headers: response.headers, body: await readAll(response) };
}

async function readAll(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
