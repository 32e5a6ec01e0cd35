// Archives and documents made to exhaust memory or time, over HTTP, several at once: each is refused with a reason and
// the process grows by less than 300 MiB. A minute later it has given most of that back.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { constants, deflateRawSync } from 'node:zlib';
import { publish, request, siteHost, upload } from '../e2e/http.mjs';
import { operatorKey, startServer, until } from '../e2e/server.mjs';
import { zip } from '../e2e/zip.mjs';
import { LONG, memory, processorTime, SMALL_CACHES, UNLIMITED } from './fixture.mjs';

const MIB = 1024 * 1024;
/** In MiB. The goal is 50, and 47 to 50 were left; on a busy machine it may be more. */
const MOST_LEFT = 60;
const index = { name: 'index.html', bytes: '<title>t</title>' };

/** `packed` bytes of deflate that unpack to about a thousand times as much: one block of zeros, over and over. */
function endlessZeros(packed) {
  const block = deflateRawSync(Buffer.alloc(16 * MIB), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const last = deflateRawSync(Buffer.alloc(0));
  return Buffer.concat([...Array.from({ length: Math.floor(packed / block.length) }, () => block), last]);
}

function overlapping(count) {
  const kernel = Buffer.alloc(2 * MIB);
  const entry = { bytes: kernel, compressed: deflateRawSync(kernel) };
  const others = Array.from({ length: count }, (_, i) => ({ ...entry, name: `a${i + 1}.bin`, at: 0 }));
  return zip([{ ...entry, name: 'a0.bin' }, ...others, index]);
}

const bomb = (size, claims) => zip([index, { name: 'zeros.bin', compressed: endlessZeros(size), bytes: '', ...claims }]);
const many = (count) => zip([index, ...Array.from({ length: count }, (_, i) => ({ name: `f/${i}.txt`, bytes: 'x', method: 0 }))]);

const HOSTILE = {
  'a flat bomb that claims 4 GB': () => bomb(24 * MIB, { size: 0xfffffff0 }),
  'a flat bomb that claims 90 MB': () => bomb(24 * MIB, { size: 90 * MIB }),
  'a flat bomb that claims ten bytes': () => bomb(24 * MIB, { size: 10 }),
  'zeros within the limit, packed a thousandfold': () => zip([index, { name: 'zeros.bin', bytes: Buffer.alloc(90 * MIB) }]),
  'twenty files of zeros': () => zip([index, ...Array.from({ length: 20 }, (_, i) => ({ name: `${i}.bin`, bytes: Buffer.alloc(8 * MIB) }))]),
  'a thousand entries over one another': () => overlapping(1000),
  '60 thousand entries': () => many(60_000),
  '100 thousand entries': () => many(100_000),
  'a bomb inside an archive inside an archive': () => zip([{ name: 'inner.zip', bytes: zip([{ name: 'inner.zip', bytes: bomb(MIB, { size: 10 }) }]) }]),
  'a directory that claims more than there is': () => Buffer.concat([zip([index]).subarray(0, 60), Buffer.alloc(100, 0x50)]),
  'a wrong checksum': () => zip([{ ...index, crc: 1 }]),
  'a way out of the folder': () => zip([index, { name: '../../etc/passwd', bytes: 'x' }]),
  'a link': () => zip([index, { name: 'link', bytes: '/etc/passwd', mode: 0o120777 }]),
};

const HEAVY = {
  'deep HTML': ['a.html', () => '<div>'.repeat((LONG ? 4 : 1) * 200_000)],
  'an endless attribute': ['a.html', () => `<p title="${'a'.repeat(8 * MIB)}`],
  'brackets in Markdown': ['a.md', () => '['.repeat(200_000)],
  'nested quotes in Markdown': ['a.md', () => `${'>'.repeat(50_000)} x`],
  'emphasis in Markdown': ['a.md', () => '*a **b '.repeat(50_000)],
  'a wide table in Markdown': ['a.md', () => `|${'a|'.repeat(5_000)}\n|${'-|'.repeat(5_000)}\n${'|\n'.repeat(5_000)}`],
  'a long line of code in Markdown': ['a.md', () => `\`\`\`rust\n${'fn f() { "'.repeat(40_000)}\n\`\`\``],
};

let server, key, page, baseline;

before(async () => {
  server = await startServer({ env: { ...UNLIMITED, ...SMALL_CACHES } });
  key = await operatorKey(server);
  page = await publish(server, { name: 'page.html', bytes: '<p>here</p>', key });
  baseline = await memory(server.pid);
});
after(() => server?.stop());

for (const [name, make] of Object.entries(HOSTILE)) {
  test(`refused: ${name}`, async () => {
    const bytes = make();
    const copies = Array.from({ length: LONG ? 8 : 3 }, () => upload(server, { name: 'site.zip', bytes, key }));
    for (const answer of await Promise.all(copies)) {
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text()}`);
      assert.match(answer.headers['content-type'], /^application\/json/);
      assert.ok(answer.json().error_description.length > 10);
    }
  });
}

for (const [name, [file, make]] of Object.entries(HEAVY)) {
  test(`bounded: ${name}`, async (context) => {
    const bytes = make();
    const start = await processorTime(server.pid);
    const answers = await Promise.all(Array.from({ length: 3 }, () => upload(server, { name: file, bytes, key })));
    const seconds = (await processorTime(server.pid)) - start;
    context.diagnostic(`${answers.map((answer) => answer.status)} in ${seconds.toFixed(1)} s of processor time`);
    for (const answer of answers) assert.ok(answer.status < 500, answer.text());
    assert.ok(seconds < 20, `${seconds} s`);
  });
}

test('memory grew by less than 300 MiB, and the page next door is served', async (context) => {
  const { peak, now } = await memory(server.pid);
  context.diagnostic(`${Math.round(baseline.now)} MiB before, ${Math.round(peak)} at most, ${Math.round(now)} now`);
  assert.ok(peak - baseline.now < 300, `grew by ${Math.round(peak - baseline.now)} MiB`);
  const view = await request(server, { path: page.path, host: siteHost(server) });
  assert.equal(view.text(), '<p>here</p>');
  assert.equal(server.log.match(/.*panicked.*/)?.[0], undefined);
});

test(`memory comes back to within ${MOST_LEFT} MiB of before`, async (context) => {
  const started = Date.now();
  let own;
  const isBack = async () => {
    ({ own } = await memory(server.pid));
    return own - baseline.own < MOST_LEFT;
  };
  await until('memory', isBack, { timeout: 120_000, every: 250 }).catch(() => assert.fail(`${Math.round(baseline.own)} MiB before, ${Math.round(own)} now`));
  context.diagnostic(`${Math.round(baseline.own)} MiB of its own before, ${Math.round(own)} after ${((Date.now() - started) / 1000).toFixed(1)} s`);
});
