// Malformed, slow and oversized requests, and crowds of idle connections: each is refused or dropped, none is answered
// with 5xx, and the page next door is served as fast as before.

import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { after, before, test } from 'node:test';
import { publish, request, siteHost } from '../e2e/http.mjs';
import { HANGS, operatorKey, sleep, startServer } from '../e2e/server.mjs';
import { LONG, memory, percentile, processorTime, UNLIMITED } from './fixture.mjs';
import { drip, exchange, holdOpen } from './raw.mjs';

const CONTENT = '<title>t</title><p>here</p>'.padEnd(10_000, 'x');

let server, key, page, host, slow;

before(async () => {
  server = await startServer({ env: UNLIMITED });
  key = await operatorKey(server);
  page = await publish(server, { name: 'page.html', bytes: CONTENT, key });
  host = `localhost:${server.port}`;
  // These take up to a minute: they run beside everything else, and the last test looks at how they ended.
  const partHead = `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `;
  const body = `POST /sites HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n--b\r\n`;
  slow = {
    headers: Promise.all(Array.from({ length: 20 }, () => drip(server.port, partHead, 'a'))),
    silent: Promise.all(Array.from({ length: 5 }, () => drip(server.port, '', ['']))),
    preface: Promise.all(Array.from({ length: 5 }, () => drip(server.port, 'PRI * HTTP/2.0\r\n', ['']))),
    idle: Promise.all(Array.from({ length: 5 }, () => drip(server.port, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`, ['']))),
    idleHttp2: Promise.all(Array.from({ length: 5 }, () => idleHttp2())),
    bodies: Promise.all(Array.from({ length: 5 }, () => drip(server.port, body, 'a'))),
    stalled: Promise.all(Array.from({ length: 5 }, () => drip(server.port, body, ['']))),
  };
});
after(() => server?.stop());

/** An HTTP/2 connection that asks once and then stays silent. */
function idleHttp2() {
  return new Promise((resolve) => {
    const client = http2.connect(`http://127.0.0.1:${server.port}`);
    const started = Date.now();
    const finish = (gaveUp) => {
      clearTimeout(timer);
      client.destroy();
      resolve({ gaveUpAfter: gaveUp ? Date.now() - started : null });
    };
    const timer = setTimeout(() => finish(false), HANGS);
    client.on('error', () => finish(true));
    client.on('close', () => finish(true));
    client.request({ ':path': '/healthz', ':authority': host }).resume();
  });
}

async function stillServing() {
  assert.ok(!server.gone, server.log);
  const view = await request(server, { path: page.path, host: siteHost(server) });
  assert.equal(view.status, 200);
  assert.equal(server.log.match(/.*panicked.*/)?.[0], undefined);
}

const get = (lines) => `GET / HTTP/1.1\r\n${lines}\r\n\r\n`;
const post = (lines, rest = '') =>
  `POST /sites HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer KEY\r\nContent-Type: multipart/form-data; boundary=b\r\n${lines}\r\n\r\n${rest}`;
const smuggled = 'GET /healthz HTTP/1.1\r\nHost: HOST\r\n\r\n';
const MALFORMED = {
  'no request line': 'GARBAGE\r\n\r\n',
  'binary noise': Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 197) % 256)),
  'a TLS hello on the plain port': Buffer.from('16030100c8010000c40303', 'hex'),
  'no Host': get('X: 1'),
  'two Hosts': get('Host: HOST\r\nHost: other.test'),
  'a space before the colon': get('Host : HOST'),
  'a folded header': get('Host: HOST\r\nX: a\r\n  b'),
  'NUL in a header': get('Host: HOST\r\nX: a\0b'),
  'a bare carriage return': get('Host: HOST\r\nX: a\rb'),
  'an unknown version': 'GET / HTTP/9.9\r\nHost: HOST\r\n\r\n',
  'a method of symbols': 'G@T / HTTP/1.1\r\nHost: HOST\r\n\r\n',
  'a target with spaces': 'GET /a b c HTTP/1.1\r\nHost: HOST\r\n\r\n',
  'a Host with a slash': get('Host: HOST/../x'),
  'a Host with user information': get('Host: root@HOST'),
  'a hundred KB of target': `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: HOST\r\n\r\n`,
  'a hundred KB of header': get(`Host: HOST\r\nX: ${'a'.repeat(100_000)}`),
  'five hundred headers': get(`Host: HOST\r\n${Array.from({ length: 500 }, (_, i) => `X-${i}: 1`).join('\r\n')}`),
  'an endless header': [get('Host: HOST').slice(0, -2), ...Array.from({ length: 64 }, () => `X: ${'b'.repeat(16_000)}\r\n`)],
  'a length that is no number': post('Content-Length: ten', 'x'),
  'a negative length': post('Content-Length: -1', 'x'),
  'a length beyond 64 bits': post('Content-Length: 99999999999999999999999', 'x'),
  'two lengths': post('Content-Length: 4\r\nContent-Length: 40', `1234${smuggled}`),
  'two lengths in one line': post('Content-Length: 4, 40', `1234${smuggled}`),
  'a chunk size that is no number': post('Transfer-Encoding: chunked', 'ZZ\r\nhello\r\n0\r\n\r\n'),
  'a chunk size beyond 64 bits': post('Transfer-Encoding: chunked', 'FFFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n'),
  'a chunk without its line end': post('Transfer-Encoding: chunked', '5\r\nhelloXX0\r\n\r\n'),
  'an unknown transfer encoding': post('Transfer-Encoding: zip', 'x'),
  'chunked twice': post('Transfer-Encoding: chunked, chunked', '0\r\n\r\n'),
};

for (const [name, request_] of Object.entries(MALFORMED)) {
  test(`malformed: ${name}`, async () => {
    const parts = [request_].flat().map((part) => (typeof part === 'string' ? part.replaceAll('HOST', host).replaceAll('KEY', key) : part));
    const seen = await exchange(server.port, parts, { enough: (text) => /\r\n\r\n/.test(text) });
    for (const status of seen.statuses) assert.ok(status >= 400 && status < 500, `${seen.statuses}\n${seen.text}`);
    assert.ok(seen.statuses.length <= 1, `more than one answer: ${seen.statuses}`);
    assert.ok(seen.statuses.length === 1 || seen.closed || seen.text === '', seen.text);
    await stillServing();
  });
}

test('a length beside chunked never makes two requests out of one', async () => {
  for (const lines of ['Content-Length: 5\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 5']) {
    const sent = post(lines, `0\r\n\r\n${smuggled}`).replaceAll('HOST', host).replaceAll('KEY', key);
    const seen = await exchange(server.port, [sent]);
    // One proxy would end the request at the chunk, another after five bytes: here nothing after it counts.
    assert.ok(seen.statuses.length <= 1 && seen.statuses.every((status) => status === 400), seen.text);
    assert.ok(seen.closed, 'the connection is closed');
    await stillServing();
  }
});

test('a length said twice, the same each time, is one length', async () => {
  const sent = post('Content-Length: 4\r\nContent-Length: 4', `1234${smuggled}`).replaceAll('HOST', host).replaceAll('KEY', key);
  const seen = await exchange(server.port, [sent], { enough: (text) => text.match(/HTTP\/1\.1 \d{3} /g)?.length === 2 });
  assert.deepEqual(seen.statuses, [400, 200], seen.text);
});

test('Expect: 100-continue with an oversized length gets 413 before the body', async () => {
  for (const length of [26 * 1024 * 1024 + 1, 10 * 1024 ** 3]) {
    const head = post(`Content-Length: ${length}\r\nExpect: 100-continue`).replaceAll('HOST', host).replaceAll('KEY', key);
    const seen = await exchange(server.port, [head], { enough: (text) => /\r\n\r\n/.test(text) });
    assert.deepEqual(seen.statuses, [413], seen.text);
    assert.match(seen.text, /content-type: application\/json/i);
  }
});

test('Expect: 100-continue with a good length is told to go on', async () => {
  const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.html"\r\n\r\n<p>hi</p>\r\n--b--\r\n';
  const head = post(`Content-Length: ${body.length}\r\nExpect: 100-continue`).replaceAll('HOST', host).replaceAll('KEY', key);
  const asked = await exchange(server.port, [head], { enough: (text) => /100 Continue\r\n\r\n/.test(text) });
  assert.deepEqual(asked.statuses, [100], asked.text);
  const seen = await exchange(server.port, [head, body], { enough: (text) => /HTTP\/1.1 201/.test(text) });
  assert.deepEqual(seen.statuses, [100, 201], seen.text);
});

test('an oversized length is refused without reading the body', async () => {
  const head = post('Content-Length: 1073741824', '--b\r\n').replaceAll('HOST', host).replaceAll('KEY', key);
  const seen = await exchange(server.port, [head], { enough: (text) => /\r\n\r\n/.test(text) });
  assert.deepEqual(seen.statuses, [413], seen.text);
});

test('an oversized body without a length is cut off at the limit', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'a');
  const head = post('Transfer-Encoding: chunked').replaceAll('HOST', host).replaceAll('KEY', key);
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.html"\r\n\r\n';
  const sized = (bytes) => [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n'];
  const parts = [head, ...sized(Buffer.from(part)), ...Array.from({ length: 60 }, () => sized(chunk)).flat()];
  const seen = await exchange(server.port, parts, { enough: (text) => /\r\n\r\n/.test(text) });
  assert.ok(seen.statuses.length === 0 ? seen.closed : seen.statuses[0] === 413, seen.text);
  await stillServing();
});

test('clients that leave in the middle of a request do no harm', async () => {
  const head = post('Content-Length: 100000', '--b\r\n').replaceAll('HOST', host).replaceAll('KEY', key);
  await Promise.all(Array.from({ length: 200 }, () => exchange(server.port, [head], { patience: 100 })));
  await stillServing();
});

test('HTTP/2: noise, and streams opened and reset by the thousand', async () => {
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  await exchange(server.port, [preface, Buffer.alloc(9000, 255)], { patience: 1_000 });
  const client = http2.connect(`http://127.0.0.1:${server.port}`);
  client.on('error', () => {});
  const streams = LONG ? 20_000 : 2_000;
  for (let i = 0; i < streams && !client.destroyed && !client.closed; i += 1) {
    const stream = client.request({ ':path': page.path, ':authority': siteHost(server) });
    stream.on('error', () => {});
    stream.close(http2.constants.NGHTTP2_CANCEL);
    if (i % 100 === 0) await sleep(1);
  }
  client.destroy();
  await stillServing();
});

/** Asks for a page of each server in turn, so that whatever else the machine does delays all of them alike. */
async function latencies(sites, count) {
  const taken = sites.map(() => []);
  for (let i = 0; i < count; i += 1) {
    for (const [at, site] of sites.entries()) {
      const start = performance.now();
      const view = await request(site.server, { path: site.page.path, host: siteHost(site.server) });
      assert.equal(view.status, 200);
      taken[at].push(performance.now() - start);
    }
  }
  return taken.map((times) => ({ p50: percentile(times, 0.5), p99: percentile(times, 0.99) }));
}

for (const crowd of LONG ? [1_000, 9_000] : [1_000]) {
  test(`${crowd} half-open connections leave the service as fast as one that has none`, async (context) => {
    const other = await startServer({ env: UNLIMITED });
    const alone = { server: other, page: await publish(other, { name: 'page.html', bytes: CONTENT, key: await operatorKey(other) }) };
    const among = { server, page };
    const sockets = await holdOpen(server.port, crowd, `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Half:`);
    // Answered once every connection before it has been accepted.
    await latencies([among, alone], 1);
    const used = async () => Promise.all([server, other].map(({ pid }) => processorTime(pid)));
    const before = await used();
    const [crowded, calm] = await latencies([among, alone], 200);
    const [busy, idle] = (await used()).map((seconds, at) => seconds - before[at]);
    const { now } = await memory(server.pid);
    for (const socket of sockets) socket.destroy();
    await other.stop();
    const say = ({ p50, p99 }, processor) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${processor.toFixed(2)} s of processor time`;
    context.diagnostic(`alone ${say(calm, idle)}; among ${sockets.length} ${say(crowded, busy)}; ${Math.round(now)} MiB`);
    assert.ok(crowded.p50 < calm.p50 * 3 + 50, say(crowded, busy));
    assert.ok(busy < idle * 3 + 0.1, say(crowded, busy));
    assert.ok(now < 500, `${now} MiB`);
  });
}

test('slow and silent clients are dropped', async (context) => {
  // The server's own limits, 10, 30 and 60 s, and half a minute for a busy machine. Unit tests prove them to the second.
  const limits = { headers: 40_000, silent: 60_000, preface: 60_000, idle: 60_000, idleHttp2: 65_000, bodies: 90_000, stalled: 90_000 };
  const late = [];
  for (const [kind, limit] of Object.entries(limits)) {
    const ends = (await slow[kind]).map((end) => end.gaveUpAfter);
    context.diagnostic(`${kind}: dropped after ${ends.map((ms) => (ms === null ? 'never' : `${Math.round(ms / 1000)} s`)).join(', ')}`);
    if (ends.some((ms) => ms === null || ms > limit)) late.push(kind);
  }
  assert.deepEqual(late, []);
  await stillServing();
});
