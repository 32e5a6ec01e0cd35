// Stands before the server and adds a key, for programs that cannot send one: the conformance suite has no option for it.

import http from 'node:http';

/** What is asked of the proxy by its own name is asked of the server by its own; every other Host arrives as it is sent. */
export async function bearerProxy(server, key) {
  const listener = http.createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${key}` };
    if (own.has(headers.host)) headers.host = `localhost:${server.port}`;
    const call = http.request({ host: '127.0.0.1', port: server.port, method: asked.method, path: asked.url, headers });
    call.once('response', (found) => {
      answer.writeHead(found.statusCode, found.headers);
      // A stream that has nothing to say yet is open all the same.
      answer.flushHeaders();
      found.pipe(answer);
      found.once('error', () => answer.destroy());
    });
    call.once('error', () => answer.destroy());
    // To end a stream is to say something, in both directions.
    answer.once('close', () => call.destroy());
    asked.pipe(call);
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address();
  const own = new Set([`127.0.0.1:${port}`, `localhost:${port}`]);
  const stop = () => {
    listener.closeAllConnections();
    return new Promise((resolve) => listener.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/mcp`, stop };
}
