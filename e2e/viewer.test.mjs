// The viewer of end-to-end encrypted pages in real Chromium: the vectors of the format, every kind of content, every
// message, and the policies it has to live under. The page is the real template, served by a small static server.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { launch, openPage, pictureFile } from './browser.mjs';
import { SITE, startImitation, strict, viewerPage, viewerScript } from './imitation.mjs';
import { DEMO } from './demo.mjs';
import * as samples from './samples.mjs';
import { FRAGMENT, fragment, seal, sealBare, SECRET, VECTORS } from './sealed.mjs';
import { ROOT, until } from './server.mjs';
import { pierce } from './shadow.mjs';

let browser, server, script;
const context = {};

before(async () => {
  server = await startImitation({});
  browser = await launch({ hosts: ['insecure.test'] });
  script = await viewerScript();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The viewer with `payload` at `at`, opened with `key` (a fragment). */
async function view(payload, key, { options = {}, headers = {}, host = `localhost:${server.port}`, look = {} } = {}) {
  server.pages['index.html'] = { html: await viewerPage({ payload, ...options }), headers: { 'cache-control': 'no-store', ...headers }, toolbar: false };
  await context.open?.close();
  context.open = await browser.newContext(look);
  const page = await openPage(context.open);
  await page.goto(`http://${host}${SITE}${key}`);
  return page;
}
const heading = (page, text) => page.getByRole('heading', { level: 1, name: text }).waitFor();
const shown = (page, text) => page.getByText(text).first().waitFor();
const notice = (page) => pierce(page, 'div');

describe('the vectors', () => {
  test('without a passphrase', async () => {
    const page = await view(VECTORS.plain, FRAGMENT);
    await shown(page, 'hi');
    assert.equal(await page.evaluate(() => document.body.innerHTML), '<p>hi</p>');
    assert.deepEqual(page.complaints, []);
  });

  test('with a passphrase, a wrong one first', async () => {
    const page = await view(VECTORS.passphrase, FRAGMENT);
    await heading(page, 'This page requires a passphrase');
    const field = page.getByLabel('Passphrase', { exact: true });
    assert.ok(await field.evaluate((node) => node === document.activeElement));
    await page.keyboard.type('Pass');
    await page.keyboard.press('Enter');
    await shown(page, 'Incorrect passphrase');
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    await page.keyboard.type('pass');
    await page.getByRole('button', { name: 'Open page' }).click();
    await shown(page, 'hi');
    assert.deepEqual(page.complaints, []);
  });
});

describe('what it opens', () => {
  test('gzip, bare with 16 and with 32 bytes, a padded key, other parameters beside the key', async () => {
    const short = SECRET.subarray(0, 16);
    const cases = [
      [seal('<p>packed</p>', { gzip: true }), FRAGMENT],
      [seal('<p>packed</p>', { gzip: true, passphrase: 'größe 🌿' }), FRAGMENT, 'größe 🌿'],
      [sealBare('<p>packed</p>'), FRAGMENT],
      [sealBare('<p>packed</p>', short), fragment(short)],
      [seal('<p>packed</p>'), `${FRAGMENT}=`],
      [seal('<p>packed</p>'), `#from=mail&${FRAGMENT.slice(1)}&x=1`],
    ];
    for (const [payload, key, words] of cases) {
      const page = await view(payload, key);
      if (words) {
        await page.getByLabel('Passphrase', { exact: true }).fill(words);
        await page.keyboard.press('Enter');
      }
      await shown(page, 'packed');
    }
  });

  test('a whole document with scripts, styles and another encoding', async () => {
    const html = '<!doctype html><html lang="de"><head><meta charset="utf-8"><title>Geheim</title><style>p{color:rgb(1,2,3)}</style></head><body><p>äöü</p><script>document.body.dataset.ran = document.compatMode;</script></body></html>';
    const page = await view(seal(html), FRAGMENT);
    await shown(page, 'äöü');
    assert.deepEqual(await page.evaluate(() => [document.title, document.body.dataset.ran, getComputedStyle(document.querySelector('p')).color]), ['Geheim', 'CSS1Compat', 'rgb(1, 2, 3)']);
    const old = Buffer.from('<meta charset=iso-8859-1><p>caf\xe9</p>', 'latin1');
    await shown(await view(seal(old), FRAGMENT), 'café');
  });

  test('text as text, whatever it says', async () => {
    const page = await view(seal('Notes\n\n<script>window.hacked = 1</script>\n'), FRAGMENT);
    await shown(page, 'Notes');
    assert.equal(await page.locator('pre').textContent(), 'Notes\n\n<script>window.hacked = 1</script>\n');
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.ok(await page.getByText('this server has not checked it').isVisible());
  });

  test('a PDF and other files for download', async () => {
    const pdf = samples.pdf();
    let page = await view(seal(pdf), FRAGMENT);
    let [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /^Download/ }).click()]);
    assert.equal(download.suggestedFilename(), 'page.pdf');
    assert.deepEqual(await readFile(await download.path()), pdf);
    const bytes = Buffer.from([0, 1, 2, 255, 254, 0, 7]);
    page = await view(seal(bytes), FRAGMENT, { headers: { 'content-security-policy': strict(`'sha256-${createHash('sha256').update(script).digest('base64')}'`) } });
    await heading(page, 'File download');
    [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /^Download/ }).click()]);
    assert.deepEqual(await readFile(await download.path()), bytes);
  });

  test('ten megabytes, saying what it does', async () => {
    const payload = seal(`<p>large</p><!--${'x'.repeat(10 * 1024 * 1024)}-->`);
    server.pages['index.html'] = { html: await viewerPage({ payload }), toolbar: false };
    await context.open?.close();
    context.open = await browser.newContext();
    const page = await openPage(context.open);
    await page.addInitScript(() => {
      window.said = [];
      new MutationObserver(() => {
        const text = document.getElementById('doing')?.textContent;
        if (text && window.said.at(-1) !== text) window.said.push(text);
      }).observe(document, { childList: true, subtree: true, characterData: true });
    });
    await page.goto(`${server.url}${SITE}${FRAGMENT}`);
    await page.getByText('large').waitFor();
    const said = await page.evaluate(() => window.said.join());
    assert.match(said, /Loading the page: \d+%/);
    assert.match(said, /Decrypting 10\.0 MiB/);
  });
});

describe('where it lives', () => {
  const own = () => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  const SANDBOX = 'sandbox allow-scripts allow-popups allow-modals allow-downloads';

  test('the script may stand inline', () => {
    assert.doesNotMatch(script, /<\/script|<!--|<script/i);
  });

  test('under the strict policy, which its content obeys too', async () => {
    const html = '<p>strict</p><script>window.ran = true</script><img src="https://elsewhere.example/x.png">';
    const page = await view(seal(html, { passphrase: 'pass' }), FRAGMENT, { headers: { 'content-security-policy': strict(own()) } });
    await page.getByLabel('Passphrase', { exact: true }).fill('pass');
    await page.keyboard.press('Enter');
    await shown(page, 'strict');
    assert.equal(await page.evaluate(() => window.ran), undefined);
  });

  test('in a sandbox without an origin and without forms', async () => {
    const page = await view(seal('<p>boxed</p><script>document.body.dataset.origin = origin</script>', { passphrase: 'pass', gzip: true }), FRAGMENT, { headers: { 'content-security-policy': SANDBOX } });
    await page.getByLabel('Passphrase', { exact: true }).fill('pass');
    await page.getByRole('button', { name: 'Open page' }).click();
    await shown(page, 'boxed');
    assert.equal(await page.evaluate(() => document.body.dataset.origin), 'null');
  });

  test('with one request only, and the key in none', async () => {
    const asked = [];
    server.pages['index.html'] = { html: await viewerPage({ payload: seal('<p>alone</p>') }), toolbar: false };
    await context.open?.close();
    context.open = await browser.newContext();
    const page = await openPage(context.open);
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${server.url}${SITE}${FRAGMENT}`);
    await shown(page, 'alone');
    assert.deepEqual(asked.filter((url) => !url.endsWith('favicon.ico')).map((url) => url.split('#')[0]), [server.url + SITE]);
  });
});

describe('the notice over an opened page', () => {
  test('says that nobody checked it, links the report and can be dismissed', async () => {
    const page = await view(seal('<p>hi</p>'), FRAGMENT);
    const bar = await notice(page);
    assert.match(await bar.text('.bar'), /Encrypted page\. This server has not checked the content\. Report/);
    assert.equal(await bar.run((root) => root.querySelector('a').getAttribute('href')), `${SITE}_dropleaf/report`);
    await bar.click('button');
    await until('it is gone', () => page.evaluate(() => !document.querySelector('[popover]')));
  });

  test('stays when the page hides or removes it, and names a publisher without an account', async () => {
    const hostile = '<style>body,body *,[popover]{display:none!important;opacity:0!important;transform:scale(0)!important}</style><body><p>hi</p><div style="position:fixed;inset:0;z-index:2147483647;background:#fff"></div><script>document.querySelectorAll("[popover]").forEach((x) => x.remove()); setTimeout(() => document.querySelector("[popover]").remove(), 50); setTimeout(() => (window.done = true), 200)</script>';
    const page = await view(seal(hostile), FRAGMENT, { options: { anonymous: true } });
    await until('the attack', () => page.evaluate(() => window.done));
    const bar = await notice(page);
    assert.match(await bar.text('.bar'), /published without an account/);
    const { x, y, width, height } = await bar.box('.bar');
    assert.ok(await page.evaluate(([left, top]) => document.elementFromPoint(left, top).hasAttribute('popover'), [x + width / 2, y + height / 2]), 'it lies on top');
    assert.equal(await page.evaluate(() => document.querySelector('[popover]').shadowRoot), null);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await bar.count('.bar'), 0);
  });
});

describe('what goes wrong', () => {
  const good = seal('<p>secret</p>');
  const other = Buffer.from(good);
  other[50] ^= 1;
  const moved = Buffer.from(good);
  moved[13] ^= 1;
  const CASES = {
    'no key in the link': [good, '', 'The key is missing'],
    'another fragment': [good, '#summary', 'The key is missing'],
    'an empty key': [good, '#k=', 'The key is missing'],
    'a cut key': [good, FRAGMENT.slice(0, -3), 'The key is incomplete'],
    'a key with a stray character': [good, `${FRAGMENT})`, 'The key is incomplete'],
    'a short key for the framed format': [good, fragment(SECRET.subarray(0, 16)), 'The key is incomplete'],
    'the key of another page': [good, fragment(Buffer.alloc(32, 9)), 'This key does not open the page'],
    'a changed byte': [other, FRAGMENT, 'This key does not open the page'],
    'a changed head, which is authenticated': [moved, FRAGMENT, 'This key does not open the page'],
    'not base64': ['!!!!', FRAGMENT, 'The content is damaged'],
    'cut base64': [good.toString('base64').slice(0, -1), FRAGMENT, 'The content is damaged'],
    'nothing at all': ['', FRAGMENT, 'The content is damaged'],
    'too short to be bare': [Buffer.alloc(28), FRAGMENT, 'The content is damaged'],
    'a head alone': [good.subarray(0, 48), FRAGMENT, 'The content is damaged'],
    'too few iterations': [seal('x', { passphrase: 'p', iterations: 1000 }), FRAGMENT, 'The content is damaged'],
    'too many iterations': [(() => { const bytes = Buffer.from(VECTORS.passphrase); bytes.writeUInt32BE(10_000_001, 8); return bytes; })(), FRAGMENT, 'The content is damaged'],
    'iterations without a passphrase': [seal('x', { iterations: 600_000 }), FRAGMENT, 'The content is damaged'],
    'an unknown key derivation': [seal('x', { kdf: 2 }), FRAGMENT, 'This page needs a newer viewer'],
    'unknown flags': [seal('x', { flags: 2 }), FRAGMENT, 'This page needs a newer viewer'],
    'a reserved byte in use': [seal('x', { zero: 1 }), FRAGMENT, 'This page needs a newer viewer'],
    'gzip that is none': [seal('plain', { flags: 1 }), FRAGMENT, 'The content is damaged'],
    'gzip that is cut': [seal('', { flags: 1, raw: gzipSync('x'.repeat(10_000)).subarray(0, 20) }), FRAGMENT, 'The content is damaged'],
    'gzip that unpacks to 300 MiB': [seal('', { flags: 1, raw: gzipSync(Buffer.alloc(300 * 1024 * 1024), { level: 1 }) }), FRAGMENT, 'The page is too large'],
  };
  for (const [name, [payload, key, words]] of Object.entries(CASES)) {
    test(name, async () => {
      const page = await view(payload, key);
      await heading(page, words);
      assert.equal(await page.getByText('secret').count(), 0);
      assert.ok(await page.locator('#progress').isHidden());
      assert.deepEqual(page.complaints, []);
    });
  }

  test('the right link pasted over a wrong one opens the page', async () => {
    const page = await view(good, '');
    await heading(page, 'The key is missing');
    await page.evaluate((key) => (location.hash = key), fragment(Buffer.alloc(32, 9)));
    await heading(page, 'This key does not open the page');
    await page.evaluate((key) => (location.hash = key), FRAGMENT);
    await shown(page, 'secret');
  });

  test('a link or a key pasted into the page opens it', async () => {
    for (const text of [`https://pages.example/p/x/${FRAGMENT}`, FRAGMENT, FRAGMENT.slice(3), ` ${FRAGMENT.slice(1)} `]) {
      const page = await view(good, '', { headers: { 'content-security-policy': 'sandbox allow-scripts' } });
      await heading(page, 'The key is missing');
      const field = page.getByLabel('Paste the complete link or its key');
      await field.fill('nonsense!');
      await page.keyboard.press('Enter');
      await heading(page, 'The key is incomplete');
      await field.fill(text);
      await page.getByRole('button', { name: 'Open page' }).click();
      await shown(page, 'secret');
    }
  });

  test('a connection on which browsers do not decrypt', async () => {
    const page = await view(good, FRAGMENT, { host: `insecure.test:${server.port}` });
    await heading(page, 'This browser cannot decrypt the page');
    await shown(page, 'opened over plain http');
  });

  test('no script', async () => {
    const page = await view(good, FRAGMENT, { headers: { 'content-security-policy': 'sandbox' } });
    await page.locator('noscript p').waitFor();
  });
});

describe('the looks', () => {
  const VIEWS = {
    'desktop-light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
    'phone-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark', deviceScaleFactor: 2 },
  };
  for (const [name, look] of Object.entries(VIEWS)) {
    test(`are photographed: ${name}`, async () => {
      const shoot = (page, what) => page.screenshot({ path: pictureFile(`viewer-${what}-${name}`) });
      let page = await view(VECTORS.passphrase, FRAGMENT, { look });
      await heading(page, 'This page requires a passphrase');
      await shoot(page, 'passphrase');
      await page.keyboard.type('wrong');
      await page.keyboard.press('Enter');
      await shown(page, 'Incorrect passphrase');
      await shoot(page, 'retry');
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      page = await view(VECTORS.plain, '', { look });
      await heading(page, 'The key is missing');
      await shoot(page, 'no-key');
      page = await view(seal('12:01 pressed 1284 crates\n12:04 cleaned the press\n'), FRAGMENT, { look });
      await shown(page, '12:01 pressed');
      await shoot(page, 'text');
      page = await view(seal(DEMO), FRAGMENT, { look });
      await shown(page, 'Orchard report, autumn');
      await notice(page);
      await shoot(page, 'opened');
    });
  }
});
