// A plain HTTP client, not a browser: it connects to loopback, or to the `address` of the server if it has one, whatever the
// Host header says, because names under localhost resolve in browsers only.

import http from 'node:http';

/** Options: method, path, host (Host header), headers, body, key (API key), agent, timeout. */
export function request(server, options = {}) {
  const { method = 'GET', path = '/', host, body, key, agent, timeout = 120_000 } = options;
  const headers = { host: host ?? server.host ?? `localhost:${server.port}`, ...options.headers };
  if (key) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    const call = http.request({ host: server.address ?? '127.0.0.1', port: server.port, method, path, headers, agent, timeout });
    call.once('timeout', () => call.destroy(new Error(`${method} ${path}: no answer in ${timeout} ms`)));
    call.on('error', reject);
    ignoreLateErrors(call);
    call.once('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({
          status: response.statusCode,
          headers: response.headers,
          bytes,
          text: () => bytes.toString('utf8'),
          json: () => JSON.parse(bytes.toString('utf8')),
        });
      });
    });
    call.end(body);
  });
}

const ignore = () => {};

/** A server may answer and close while the body is being sent: the socket then fails after its request has let go of it. */
export function ignoreLateErrors(call) {
  call.once('socket', (socket) => {
    if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
  });
}

/** A multipart body: `fields` are strings, `file` is {name, bytes}. */
export async function multipart({ fields = {}, file }) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (file) form.set('file', new Blob([file.bytes]), file.name);
  const encoded = new Response(form);
  return {
    headers: { 'content-type': encoded.headers.get('content-type') },
    body: Buffer.from(await encoded.arrayBuffer()),
  };
}

/** POST /sites (or PUT on `to`); gives the answer, whatever its status. */
export async function upload(server, { name, bytes, fields, key, to, headers, agent }) {
  const form = await multipart({ fields, file: { name, bytes } });
  return request(server, {
    method: to ? 'PUT' : 'POST',
    path: to ? `/sites/${to}` : '/sites',
    headers: { ...form.headers, ...headers },
    body: form.body,
    key,
    agent,
  });
}

/** Publishes and insists on success; gives the Site JSON with `path`, the path of its page under the site's address. */
export async function publish(server, options) {
  const answer = await upload(server, options);
  if (answer.status !== 201) throw new Error(`publish: ${answer.status} ${answer.text()}`);
  const site = answer.json();
  return { ...site, path: `/p/${site.unlisted_token}/` };
}

/** The Host of the shared page address. */
export const siteHost = (server) => new URL(server.siteUrl).host;

/** Calls the API with a key: `api(server, key)(method, path, body)` gives the JSON of an answer below 300. */
export const api = (server, key) => async (method, path, body) => {
  const headers = body && { 'content-type': 'application/json' };
  const answer = await request(server, { method, path, key, headers, body: body && JSON.stringify(body) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text()}`);
  return answer.json();
};
