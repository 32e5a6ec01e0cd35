// Clients that request large files and do not read them: what they make the server hold is bounded, they are
// ended although their PINGs go on, others are served meanwhile, and a client that is merely slow gets every byte.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { publish } from '../e2e/http.mjs';
import { operatorKey, sleep, startServer, until } from '../e2e/server.mjs';
import { zip } from '../e2e/zip.mjs';
import { hash, LONG, memory, SMALL_CACHES } from './fixture.mjs';
import { connect } from './http2.mjs';
import { assertServed, measure, OTHER_NETWORK, say } from './others.mjs';

const MIB = 1024 * 1024;
const ARCHIVES = 10;
const FILES = 24;
const FILE_BYTES = 4 * MIB;
/** Enough that cannot be compressed to stay below the accepted ratio of 200. */
const NOISE = 24 * 1024;
const STREAMS = 100;
/** What one network may make the server hold, in MiB; many together may use its whole budget, and a little each. */
const MOST_GROWTH = 200;
const NETWORKS = LONG ? 200 : 40;
const MOST_GROWTH_TOGETHER = MOST_GROWTH + 128 + NETWORKS;
/** The attack stops here: it has succeeded, and the machine is shared. */
const ENOUGH_GROWTH = 1_000;
/** The shortest time for a client that takes nothing; the slow but honest clients below read more often than that. */
const IDLE_SECONDS = 5;
/**
 * The longest that a connection may live by the rules of the server: half a minute waiting for memory, then up to eight idle
 * times in which it takes nothing. Half a minute more is for a busy machine.
 */
const LONGEST_MS = 30_000 + 8 * IDLE_SECONDS * 1_000 + 30_000;
/** A download of a byte a second is ended within this time. */
const TRICKLE_MS = 600_000;

const PAGE = { name: 'page.html', bytes: '<title>t</title><p>here</p>' };

let server, calm, key, files, pages, uploaded, calmMemory;
const open = [];

before(async () => {
  // More than one network may store without an account, so that what is measured is the reading.
  const env = { ...SMALL_CACHES, DROPLEAF_LIMITS__IDLE_SECONDS: `${IDLE_SECONDS}`, DROPLEAF_LIMITS__ANONYMOUS_NETWORK_BYTES: `${4096 * MIB}` };
  [server, calm] = await Promise.all([startServer({ env }), startServer({ env })]);
  key = await operatorKey(server);
  pages = await Promise.all([server, calm].map(async (at) => ({ server: at, path: (await publish(at, { ...PAGE, key: await operatorKey(at) })).path })));
  files = [];
  uploaded = 0;
  for (let archive = 0; archive < ARCHIVES; archive += 1) {
    const bytes = zip([
      { name: 'index.html', bytes: '<!doctype html><title>Files</title>' },
      ...Array.from({ length: FILES }, (_, i) => ({ name: `${i}.bin`, bytes: Buffer.concat([randomBytes(NOISE), Buffer.alloc(FILE_BYTES - NOISE)]) })),
    ]);
    uploaded += bytes.length;
    // Without a key: any client that reaches the server can do this.
    const site = await publish(server, { name: 'site.zip', bytes });
    for (let i = 0; i < FILES; i += 1) files.push(`${site.path}${i}.bin`);
  }
  // Before the first attack: memory that one of them has taken may stay with the process and would hide the next one's.
  calmMemory = (await memory(server.pid)).now;
});
after(async () => {
  for (const connection of open) connection.destroy();
  await Promise.all([server?.stop(), calm?.stop()]);
});

/** Watches the server's memory; `most()` is the highest growth seen so far, in MiB. */
function watchMemory() {
  let most = 0;
  const look = async () => (most = Math.max(most, (await memory(server.pid)).now - calmMemory));
  const timer = setInterval(() => look().catch(() => {}), 100);
  return { look, most: () => Math.round(most), stop: () => clearInterval(timer) };
}

/** Opens connections one after another by `begin` until there are `count`, or the server has grown more than enough. */
async function attack(count, begin, growth) {
  const connections = [];
  while (connections.length < count && (await growth.look()) < ENOUGH_GROWTH) {
    const connection = begin(connections.length);
    connections.push(connection);
    open.push(connection);
    // A server that lets requests wait is not waited for; one without bounds is noticed before it has taken all memory.
    await Promise.race([connection.settled(), sleep(250)]);
  }
  return connections;
}

/** Waits until every connection is closed, or the time is over. */
async function allClosed(connections, milliseconds) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([Promise.all(connections.map((connection) => connection.closed)), late]);
  // A pending timer would keep this process alive.
  clearTimeout(timer);
}

/** An HTTP/2 connection whose streams have no window, so that no byte of a body may be sent. */
function withoutWindow(number, localAddress) {
  const connection = connect(server.port, { window: 0, pingEvery: 1_000, localAddress });
  for (let i = 0; i < STREAMS; i += 1) connection.get(`localhost:${server.port}`, files[(number * STREAMS + i) % files.length]);
  const begun = () => [...connection.streams.values()].every((stream) => stream.status200 !== null || stream.reset);
  connection.settled = () => until('the answers to begin', () => !connection.isOpen || connection.isGoingAway || begun(), { every: 10 });
  return connection;
}

/** An HTTP/1.1 connection that reads the head of the answer and nothing after it. */
function withoutReading(number) {
  const socket = net.connect({ port: server.port, host: '127.0.0.1' });
  const connection = { startedAt: Date.now(), endedAfter: null, begun: false, isOpen: true, destroy: () => socket.destroy() };
  connection.blocked = () => (connection.isOpen && connection.begun ? 1 : 0);
  const first = new Promise((resolve) => {
    socket.once('data', (chunk) => {
      connection.begun = chunk.toString('latin1').startsWith('HTTP/1.1 200');
      socket.pause();
      resolve();
    });
    socket.once('close', resolve);
  });
  connection.settled = () => first;
  connection.closed = new Promise((resolve) => {
    // A socket that does not read learns of a reset only when it writes: a byte of a next request, never a whole one.
    const ticker = setInterval(() => socket.writable && socket.write('\r'), 1_000);
    socket.on('error', () => {});
    socket.once('close', () => {
      clearInterval(ticker);
      connection.isOpen = false;
      connection.endedAfter = Date.now() - connection.startedAt;
      resolve();
    });
  });
  socket.write(`GET ${files[number % files.length]} HTTP/1.1\r\nHost: localhost:${server.port}\r\n\r\n`);
  return connection;
}

const ATTACKS = {
  'HTTP/1.1, nothing read after the head': { count: LONG ? 2_000 : 400, begin: withoutReading },
  'HTTP/2, every stream without a window': { count: LONG ? 100 : 10, begin: (number) => withoutWindow(number) },
  'HTTP/2, the same from a network for each connection': { count: NETWORKS, most: MOST_GROWTH_TOGETHER, begin: (number) => withoutWindow(number, `127.0.2.${1 + number}`) },
};

for (const [name, { count, begin, most = MOST_GROWTH }] of Object.entries(ATTACKS)) {
  test(`clients that read nothing make the server hold little, and are ended: ${name}`, async (context) => {
    const watched = watchMemory();
    const connections = await attack(count, begin, watched);
    const blocked = connections.reduce((sum, connection) => sum + connection.blocked(), 0);
    const [others, alone] = await measure(pages, 100);
    await allClosed(connections, LONGEST_MS);
    watched.stop();
    const growth = watched.most();
    context.diagnostic(`${(uploaded / 1e6).toFixed(1)} MB uploaded; ${connections.length} connections, ${blocked} blocked answers: ${Math.round(calmMemory)} MiB grew by ${growth} MiB`);
    context.diagnostic(`others meanwhile: ${say(others)}; at a server that is not attacked: ${say(alone)}`);
    const held = connections.filter((connection) => connection.isOpen);
    const ends = connections.map((connection) => connection.endedAfter).filter((ms) => ms !== null);
    const when = ends.length ? `after ${(Math.min(...ends) / 1000).toFixed(1)} to ${(Math.max(...ends) / 1000).toFixed(1)} s` : 'never';
    context.diagnostic(`${ends.length} connections ended, ${when}; ${held.length} still open`);
    for (const connection of connections) connection.destroy();
    assertServed(others, alone);
    assert.ok(growth < most, `grew by ${growth} MiB`);
    assert.equal(held.length, 0, 'connections that take nothing are ended');
  });
}

/** Some way of taking a byte now and then must not keep an answer for ever. Minutes, so in the long form alone. */
test('clients that take one byte a second are ended', { skip: !LONG && 'only in the long form' }, async (context) => {
  const connections = Array.from({ length: 10 }, (_, number) => {
    const connection = connect(server.port, { window: 1, pingEvery: 1_000 });
    const stream = connection.get(`localhost:${server.port}`, files[number]);
    const pace = setInterval(() => connection.grant(stream, 1), 1_000);
    connection.closed.then(() => clearInterval(pace));
    open.push(connection);
    return connection;
  });
  await allClosed(connections, TRICKLE_MS);
  const held = connections.filter((connection) => connection.blocked() > 0);
  const oldest = Math.max(...connections.map((connection) => connection.endedAfter ?? Date.now() - connection.startedAt));
  context.diagnostic(`${held.length} of ${connections.length} still held, the oldest for ${Math.round(oldest / 1000)} s`);
  for (const connection of connections) connection.destroy();
  assert.equal(held.length, 0);
});

test('a client that reads slowly gets every byte, over HTTP/2 and over HTTP/1.1', async (context) => {
  // Over HTTP/1.1 more than the buffers of the operating system take at once.
  const sizes = { http2: MIB / 2, http1: 16 * MIB };
  const sent = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, randomBytes(size)]));
  const entries = Object.entries(sent).map(([name, bytes]) => ({ name: `${name}.bin`, bytes, method: 0 }));
  const site = await publish(server, { name: 'site.zip', bytes: zip([{ name: 'index.html', bytes: '<p>x</p>' }, ...entries]), key });
  const began = Date.now();
  const readers = { http2: slowHttp2, http1: slowHttp1 };
  await Promise.all(
    Object.entries(readers).map(async ([name, read]) => {
      const bytes = await read(`${site.path}${name}.bin`);
      const seconds = (Date.now() - began) / 1000;
      context.diagnostic(`${name}: ${bytes.length} bytes in ${seconds.toFixed(1)} s`);
      assert.equal(hash(bytes), hash(sent[name]), `${name}: ${bytes.length} of ${sizes[name]} bytes`);
      assert.ok(seconds > IDLE_SECONDS, 'it took longer than a client may take nothing');
    }),
  );
});

/** Reads 64 KiB in a second. */
async function slowHttp2(path) {
  const connection = connect(server.port, { window: 16 * 1024, localAddress: OTHER_NETWORK, keep: true });
  open.push(connection);
  const number = connection.get(`localhost:${server.port}`, path);
  const stream = connection.streams.get(number);
  const pace = setInterval(() => connection.grant(number, 16 * 1024), 250);
  await until('the end of the file', () => stream.ended || stream.reset || !connection.isOpen).finally(() => clearInterval(pace));
  return Buffer.concat(stream.chunks);
}

/** Reads 2 MiB in a second. */
async function slowHttp1(path) {
  const socket = net.connect({ port: server.port, host: '127.0.0.1', localAddress: OTHER_NETWORK });
  const received = [];
  let allowed = 0;
  const pace = setInterval(() => {
    allowed += 256 * 1024;
    socket.resume();
  }, 125);
  socket.on('data', (chunk) => {
    received.push(chunk);
    allowed -= chunk.length;
    if (allowed <= 0) socket.pause();
  });
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost:${server.port}\r\nConnection: close\r\n\r\n`);
  await until('the end of the file', () => socket.closed).finally(() => {
    clearInterval(pace);
    socket.destroy();
  });
  const answer = Buffer.concat(received);
  return answer.subarray(answer.indexOf('\r\n\r\n') + 4);
}
