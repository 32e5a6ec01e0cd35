// A gateway in front of the CA that answers some requests itself, for faults that the CA would produce by chance or not at all.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import https from 'node:https';

/**
 * `intercept` gets {method, path} of a request and gives {status, type, detail, headers}, an ACME error, or nothing to let it
 * pass. It may give a promise; the request is held until then. The CA names all its addresses after the Host it was called at,
 * so that every request comes this way.
 */
export async function startGateway(pebble, intercept) {
  const [key, cert, ca] = await Promise.all([pebble.privateKey, pebble.certificate, pebble.caFile].map((file) => readFile(file)));
  const send = (method, path, headers, body) =>
    new Promise((resolve, reject) => {
      const call = https.request({ host: '127.0.0.1', port: pebble.port, ca, method, path, headers, agent: false });
      call.once('error', reject);
      call.once('response', async (response) => resolve({ response, body: Buffer.concat(await response.toArray()) }));
      call.end(body);
    });
  const answer = async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { method, url, headers } = request;
    const fault = await intercept({ method, path: url });
    if (!fault) {
      const passed = await send(method, url, headers, body);
      return response.writeHead(passed.response.statusCode, passed.response.headers).end(passed.body);
    }
    const nonce = (await send('HEAD', '/nonce-plz', { host: headers.host, 'user-agent': headers['user-agent'] })).response.headers['replay-nonce'];
    const problem = { type: `urn:ietf:params:acme:error:${fault.type}`, detail: fault.detail ?? fault.type, status: fault.status };
    response.writeHead(fault.status, { 'content-type': 'application/problem+json', 'replay-nonce': nonce, ...fault.headers });
    return response.end(JSON.stringify(problem));
  };
  const server = https.createServer({ key, cert }, (request, response) => answer(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    directoryUrl: `https://127.0.0.1:${server.address().port}/dir`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
