// Event streams of MCP are open for as long as a client likes. One credential opens as many as it can: the number is bounded,
// closing them gives the room back, and others open theirs and are served meanwhile.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { api, publish, request } from '../e2e/http.mjs';
import { command, operatorKey, startServer, until } from '../e2e/server.mjs';
import { LONG, memory } from './fixture.mjs';
import { assertServed, measure, OTHER_NETWORK, say } from './others.mjs';

/** Open streams of one credential on a node: docs/security.md, MCP. */
const MOST_STREAMS = 200;
const ATTEMPTS = LONG ? 2_000 : 300;
const NEWEST = '2026-07-28';
const BOTH = 'application/json, text/event-stream';

let server, calm, pages, keys, other;
const open = [];

before(async () => {
  // Requests are counted per minute as well, which only hides how many streams may be open.
  const env = { DROPLEAF_LIMITS__KEY_PER_MINUTE: '1000000', DROPLEAF_LIMITS__ACCOUNT_PER_MINUTE: '1000000' };
  [server, calm] = await Promise.all([startServer({ env }), startServer({ env })]);
  const create = async (email) => (await command(server, 'account', 'create', email, '--plan', 'solo')).match(/stk_live_\w+/)[0];
  const first = await create('attacker@example.org');
  keys = [first, (await api(server, first)('POST', '/api-keys', { name: 'second' })).key];
  other = await create('other@example.org');
  pages = await Promise.all([server, calm].map(async (at) => ({ server: at, path: (await publish(at, { name: 'page.html', bytes: '<p>here</p>', key: await operatorKey(at) })).path })));
});
after(async () => {
  for (const stream of open) stream.close();
  await Promise.all([server?.stop(), calm?.stop()]);
});

/** A session of the revisions that have one; gives its id. */
async function begin(key) {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'streams', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const answer = await request(server, { method: 'POST', path: '/mcp', key, headers: { 'content-type': 'application/json', accept: BOTH }, body });
  assert.equal(answer.status, 200, answer.text());
  return answer.headers['mcp-session-id'];
}

/** One request on a connection of its own, whose answer stays open; gives {status, headers, isOpen, close}. */
function hold({ method = 'GET', headers, body, from = '127.0.0.1' }) {
  return new Promise((resolve) => {
    const all = { host: `localhost:${server.port}`, ...headers, ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }) };
    const call = http.request({ host: '127.0.0.1', port: server.port, method, path: '/mcp', headers: all, agent: false, localAddress: from });
    const stream = { status: 0, headers: {}, isOpen: false, close: () => call.destroy() };
    call.on('error', () => resolve(stream));
    call.once('response', (response) => {
      const isStream = /^text\/event-stream/.test(response.headers['content-type'] ?? '');
      Object.assign(stream, { status: response.statusCode, headers: response.headers, isOpen: response.statusCode === 200 && isStream });
      response.on('error', () => {});
      response.once('close', () => (stream.isOpen = false));
      response.resume();
      open.push(stream);
      resolve(stream);
    });
    call.end(body);
  });
}

/** The ways to open an event stream: each begins with a key and gives a function that opens one more. */
const KINDS = {
  'of a session': async (key) => {
    const session = await begin(key);
    return (from) => hold({ headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', 'mcp-session-id': session }, from });
  },
  'of a subscription': async (key) => {
    const { id } = await publish(server, { name: 'page.html', bytes: '<p>watched</p>', fields: { agentation: 'true' }, key });
    const headers = { authorization: `Bearer ${key}`, accept: BOTH, 'mcp-protocol-version': NEWEST, 'mcp-method': 'subscriptions/listen' };
    const about = 'io.modelcontextprotocol';
    const _meta = { [`${about}/protocolVersion`]: NEWEST, [`${about}/clientCapabilities`]: {}, [`${about}/clientInfo`]: { name: 'streams', version: '1' } };
    const params = { notifications: { resourceSubscriptions: [`dropleaf://sites/${id}`] }, _meta };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params });
    return (from) => hold({ method: 'POST', headers, body, from });
  },
};

/** Opens `count` streams, some at a time. */
async function flood(openOne, count) {
  const streams = [];
  while (streams.length < count) streams.push(...(await Promise.all(Array.from({ length: Math.min(50, count - streams.length) }, () => openOne()))));
  return streams;
}

const accepted = (streams) => streams.filter(({ isOpen }) => isOpen).length;

for (const [kind, start] of Object.entries(KINDS)) {
  test(`one credential holds at most ${MOST_STREAMS} event streams ${kind}, and others are served meanwhile`, async (context) => {
    const before = (await memory(server.pid)).now;
    const openOne = await start(keys[0]);
    const streams = await flood(openOne, ATTEMPTS);
    const held = accepted(streams);
    const refused = streams.filter(({ isOpen }) => !isOpen);
    const theirs = await (await start(other))(OTHER_NETWORK);
    const [others, alone] = await measure(pages, 100);
    context.diagnostic(`${held} of ${ATTEMPTS} streams held; ${Math.round((await memory(server.pid)).now - before)} MiB more`);
    context.diagnostic(`others meanwhile: ${say(others)}; at a server that is not attacked: ${say(alone)}`);
    assert.ok(held > 0 && held <= MOST_STREAMS, `${held} streams`);
    // 429 by the bound on streams; no answer where the bound on connections of a network is met first.
    const odd = refused.filter(({ status, headers }) => status !== 0 && !((status === 429 || status === 503) && headers['retry-after']));
    assert.deepEqual(odd.map(({ status }) => status), []);
    assert.ok(theirs.isOpen, `another account opens its stream: ${theirs.status}`);
    assertServed(others, alone);
    for (const stream of streams) stream.close();
    const again = await until('room for a new stream', async () => {
      const stream = await openOne();
      return stream.isOpen && stream;
    }, { every: 200 });
    again.close();
    theirs.close();
  });
}

test('the bound holds for each of two keys of one account', async (context) => {
  const held = [];
  for (const key of keys) held.push(accepted(await flood(await KINDS['of a session'](key), ATTEMPTS)));
  context.diagnostic(`${held.join(' and ')} streams of one account`);
  assert.ok(held.every((count) => count <= MOST_STREAMS), held.join(', '));
});
