// Live pages in real browsers: an open page shows a new version by itself, under strict CSP, behind a password, encrypted and
// on a second node; a viewer in the middle of something is asked; nothing reloads twice.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { api, publish, upload } from './http.mjs';
import { createDatabase } from './postgres.mjs';
import { FRAGMENT, seal } from './sealed.mjs';
import { operatorKey, startServer, tempDir, until } from './server.mjs';
import { pierce } from './shadow.mjs';

const EXEMPT = { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' };
const POSTGRES = { skip: !process.env.DROPLEAF_TEST_POSTGRES && 'no PostgreSQL: run it under scripts/with-services' };
const LONG = Array.from({ length: 80 }, (_, i) => `<p id="p${i}">Paragraph ${i}</p>`).join('');
const html = (words, body = '') => `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Live</title>
<h1>${words}</h1>${body}<script>window.loads = (Number(sessionStorage.loads) || 0) + 1; sessionStorage.loads = window.loads;</script></html>`;

let server, browser, other, key;

before(async () => {
  server = await startServer({ env: EXEMPT });
  key = await operatorKey(server);
  [browser, other] = [await launch(), await launch()];
});
after(async () => {
  await browser?.close();
  await other?.close();
  await server?.stop();
});

const make = (bytes, fields = {}, name = 'page.html') => publish(server, { name, bytes, fields: { live: 'true', ...fields }, key });
async function replace(site, bytes, { on = server, name = 'page.html', fields } = {}) {
  const answer = await upload(on, { name, bytes, key, to: site.id, fields });
  assert.equal(answer.status, 200, answer.text());
}
async function visit(url, { from = browser, ...options } = {}) {
  const page = await openPage(await from.newContext(options));
  const isOpen = page.waitForResponse((response) => response.url().endsWith('_dropleaf/live'));
  await page.goto(url);
  await isOpen;
  return page;
}
/** Opens a page behind the password `secret` and waits for its stream. */
async function enter(url, from = browser) {
  const context = await from.newContext();
  await context.addInitScript(recordStreams);
  const page = await openPage(context);
  await page.goto(url);
  await page.fill('input[name=password]', 'secret');
  const isOpen = page.waitForResponse((response) => response.url().endsWith('_dropleaf/live') && response.status() === 200);
  await page.keyboard.press('Enter');
  await isOpen;
  return page;
}
/** Runs in the page ahead of its scripts: keeps the events of its streams. */
function recordStreams() {
  const Native = window.EventSource;
  window.streamed = [];
  window.EventSource = function EventSource(url) {
    const source = new Native(url);
    for (const name of ['version', 'feedback', 'gone']) source.addEventListener(name, ({ data }) => window.streamed.push({ name, ...JSON.parse(data) }));
    return source;
  };
}
const streamed = (page, wanted) => page.evaluate((name) => window.streamed.filter((event) => event.name === name), wanted).catch(() => []);
const heading = (page) => page.evaluate(() => document.querySelector('h1')?.textContent).catch(() => null);
const shows = (page, words) => until(`the heading ${words}`, async () => (await heading(page)) === words, { every: 5 });
const barOf = async (page, words) => {
  const bar = await pierce(page, 'dropleaf-live');
  await until(words, async () => (await bar.text('p').catch(() => null)) === words);
  return bar;
};

test('two browsers show a new version within a second', async (t) => {
  const site = await make(html('Version 1'));
  const pages = [await visit(site.url), await visit(site.url, { from: other })];
  const times = [];
  for (let version = 2; version <= 6; version += 1) {
    await replace(site, html(`Version ${version}`));
    const since = performance.now();
    await Promise.all(pages.map((page) => shows(page, `Version ${version}`)));
    times.push(Math.round(performance.now() - since));
  }
  t.diagnostic(`milliseconds after the answer: ${times.join(', ')}`);
  assert.ok(Math.min(...times) < 1000, `${times}`);
  for (const page of pages) {
    assert.equal(await page.evaluate(() => window.loads), 6, 'one load for each version');
    assert.deepEqual(page.complaints, []);
  }
});

test('under a strict policy, the scroll position and the fragment stay', async () => {
  const site = await make(html('Version 1', LONG), { csp_strict: 'true' });
  const page = await visit(`${site.url}#p9`);
  await page.evaluate(() => scrollTo(0, 700));
  await replace(site, html('Version 2', LONG));
  await shows(page, 'Version 2');
  await until('the scroll position', async () => (await page.evaluate(() => scrollY)) === 700);
  assert.equal(new URL(page.url()).hash, '#p9');
  assert.deepEqual(page.complaints, []);
});

test('late content is waited for, but not against the viewer', async () => {
  const late = (words) => html(words, `<main></main><script>setTimeout(() => { document.querySelector('main').innerHTML = ${JSON.stringify(LONG)}; }, 400)</script>`);
  const site = await make(late('Version 1'));
  const page = await visit(site.url);
  await page.waitForSelector('#p79');
  await page.evaluate(() => { history.scrollRestoration = 'manual'; scrollTo(0, 600); });
  await replace(site, late('Version 2'));
  await shows(page, 'Version 2');
  await until('the scroll position', async () => (await page.evaluate(() => scrollY)) === 600);
});

test('behind a password', async () => {
  const site = await make(html('Version 1'), { password: 'secret' });
  const page = await enter(site.url);
  await shows(page, 'Version 1');
  await replace(site, html('Version 2'));
  await shows(page, 'Version 2');
  // A new password ends the stream; what the viewer has stays.
  await until('the stream', async () => (await streamed(page, 'version')).length === 1);
  await api(server, key)('PATCH', `/sites/${site.id}`, { password: 'another' });
  await until('the end of the stream', async () => (await streamed(page, 'gone'))[0]?.reason === 'password_required');
  await replace(site, html('Version 3'));
  assert.equal(await heading(page), 'Version 2');
  assert.deepEqual(await streamed(page, 'version'), [{ name: 'version', version: 2 }], 'no other stream is opened');
});

describe('a viewer in the middle of something', () => {
  const FORM = '<form><label>Name <input id="name"></label><button>Send</button></form><p id="words">Some words to select</p>';
  // A page that tries to hide every element that is not its own.
  const HOSTILE = '<style>dropleaf-live, [popover], html > :not(head, body) { display: none !important; opacity: 0 !important; visibility: hidden !important }</style>';

  test('who types gets a bar that the page cannot hide, and the words stay', async () => {
    const site = await make(html('Version 1', FORM + HOSTILE));
    for (const { name, ...options } of VIEWS) {
      const version = (await api(server, key)('GET', `/sites/${site.id}`)).version;
      const page = await visit(site.url, options);
      await page.fill('#name', 'Ann');
      await replace(site, html(`Version ${version + 1}`, FORM + HOSTILE));
      const bar = await barOf(page, `Version ${version + 1} is out`);
      assert.equal(await page.inputValue('#name'), 'Ann');
      await assertAccessible(page, `the bar, ${name}`);
      await page.screenshot({ path: pictureFile(`live-bar-${name}`) });
      assert.ok((await bar.box('.show')).height >= 36);
      // By keyboard: after the page's own controls.
      await page.focus('button');
      await page.keyboard.press('Tab');
      assert.equal(await bar.focused(), 'show');
      await page.keyboard.press('Enter');
      await shows(page, `Version ${version + 1}`);
      assert.deepEqual(page.complaints, []);
      await page.context().close();
    }
  });

  test('selected text, a playing sound, an open dialog and the page itself keep it from reloading', async () => {
    // A second of silence, again and again.
    const silence = Buffer.concat([Buffer.from('RIFF'), Buffer.from([0x64, 0x1f, 0, 0]), Buffer.from('WAVEfmt '), Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0]), Buffer.from('data'), Buffer.from([0x40, 0x1f, 0, 0]), Buffer.alloc(8000, 128)]);
    const body = `${FORM}<audio loop src="data:audio/wav;base64,${silence.toString('base64')}"></audio><dialog>Open</dialog>`;
    const busy = {
      selection: (page) => page.evaluate(() => getSelection().selectAllChildren(document.querySelector('#words'))),
      sound: async (page) => { await page.click('h1'); await page.evaluate(() => document.querySelector('audio').play()); },
      dialog: (page) => page.evaluate(() => document.querySelector('dialog').show()),
      page: (page) => page.evaluate(() => addEventListener('dropleaf:beforeupdate', (event) => event.preventDefault())),
    };
    for (const [name, start] of Object.entries(busy)) {
      const site = await make(html('Version 1', body));
      const page = await visit(site.url);
      await start(page);
      await replace(site, html('Version 2', body));
      const bar = await barOf(page, 'Version 2 is out');
      assert.equal(await heading(page), 'Version 1', name);
      if (name === 'selection') {
        // Hidden for this version, shown again for the next.
        await bar.click('.hide');
        await until('the bar is gone', async () => (await page.locator('dropleaf-live').count()) === 0);
        await replace(site, html('Version 3', body));
        await barOf(page, 'Version 3 is out');
      }
      await page.context().close();
    }
  });

  test('who writes a comment keeps it, and new comments of others arrive', async () => {
    const site = await make(html('Version 1', '<p>Text</p>'), { agentation: 'true' });
    const page = await visit(site.url);
    const toolbar = await pierce(page);
    const second = await visit(site.url, { from: other });
    await toolbar.click('.pill');
    await toolbar.seen('.panel');
    await replace(site, html('Version 2', '<p>Text</p>'));
    await barOf(page, 'Version 2 is out');
    await shows(second, 'Version 2');
    const posted = await second.evaluate(() => fetch('_dropleaf/feedback', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ comment: 'From elsewhere' }) }).then((answer) => answer.status));
    assert.equal(posted, 201);
    await until('the comment', async () => (await toolbar.text('.list'))?.includes('From elsewhere'));
  });
});

test('a hidden page waits until it is seen', async () => {
  const site = await make(html('Version 1'));
  const context = await browser.newContext();
  await context.addInitScript(() => {
    let state = 'visible';
    Object.defineProperty(Document.prototype, 'visibilityState', { configurable: true, get: () => state });
    window.setVisibility = (next) => { state = next; document.dispatchEvent(new Event('visibilitychange')); };
  });
  await context.addInitScript(recordStreams);
  const page = await openPage(context);
  const isOpen = page.waitForResponse((response) => response.url().endsWith('_dropleaf/live'));
  await page.goto(site.url);
  await isOpen;
  await page.evaluate(() => window.setVisibility('hidden'));
  await replace(site, html('Version 2'));
  await until('the page hears of it', async () => (await streamed(page, 'version')).at(-1)?.version === 2);
  assert.equal(await heading(page), 'Version 1');
  await page.evaluate(() => window.setVisibility('visible'));
  await shows(page, 'Version 2');
});

test('a cache that keeps the version before causes one reload, then the bar', async () => {
  const site = await make(html('Version 1'));
  const context = await browser.newContext();
  const page = await openPage(context);
  const isOpen = page.waitForResponse((response) => response.url().endsWith('_dropleaf/live'));
  await page.goto(site.url);
  await isOpen;
  const stale = await page.content();
  await page.route((url) => url.pathname.endsWith('/') && !url.pathname.includes('_dropleaf'), (route) => route.fulfill({ contentType: 'text/html', body: stale }));
  await replace(site, html('Version 2'));
  await barOf(page, 'Version 2 is out');
  assert.equal(await page.evaluate(() => window.loads), 2);
});

test('after a restart of the server the page follows again', async () => {
  const dataDir = await tempDir('live');
  let own = await startServer({ dataDir, env: EXEMPT });
  const ownKey = await operatorKey(own);
  const site = await publish(own, { name: 'a.html', bytes: html('Version 1'), key: ownKey, fields: { live: 'true' } });
  const page = await visit(site.url);
  await own.stop();
  own = await startServer({ dataDir, port: own.port, env: EXEMPT });
  const answer = await upload(own, { name: 'a.html', bytes: html('Version 2'), key: ownKey, to: site.id });
  assert.equal(answer.status, 200);
  await shows(page, 'Version 2');
  await page.context().close();
  await own.stop();
  await rm(dataDir, { recursive: true, force: true });
});

describe('an encrypted page', () => {
  const sealed = (words, options) => seal(html(words), options);

  test('keeps its key and shows the new version', async () => {
    for (const fields of [{}, { csp_strict: 'true' }]) {
      const site = await make(sealed('Version 1'), { e2e: 'true', ...fields }, 'page.e2e');
      const page = await visit(`${site.url}${FRAGMENT}`);
      if (!fields.csp_strict) await shows(page, 'Version 1');
      await replace(site, sealed('Version 2'), { name: 'page.e2e', fields: { e2e: 'true' } });
      if (!fields.csp_strict) await shows(page, 'Version 2');
      assert.equal(new URL(page.url()).hash, FRAGMENT);
      await page.context().close();
    }
  });

  test('with a passphrase asks first', async () => {
    const site = await make(sealed('Version 1', { passphrase: 'leaf' }), { e2e: 'true' }, 'page.e2e');
    const page = await visit(`${site.url}${FRAGMENT}`);
    await page.fill('#passphrase', 'leaf');
    await page.keyboard.press('Enter');
    await shows(page, 'Version 1');
    await replace(site, sealed('Version 2', { passphrase: 'leaf' }), { name: 'page.e2e', fields: { e2e: 'true' } });
    await barOf(page, 'Version 2 is out');
    assert.equal(await heading(page), 'Version 1');
  });
});

test('a page behind a password on a second node shows a version published on the first', POSTGRES, async (t) => {
  const database = await createDatabase('live');
  const blobs = await tempDir('live-blobs');
  const env = { ...EXEMPT, DROPLEAF_DATABASE_URL: database.url, DROPLEAF_BLOBS_URL: `file:${blobs}`, DROPLEAF_SECRET_KEY: 'c0ffee'.padEnd(64, '0') };
  const nodes = [await startServer({ env }), await startServer({ env })];
  try {
    const nodeKey = await operatorKey(nodes[0]);
    const site = await publish(nodes[0], { name: 'a.html', bytes: html('Version 1'), key: nodeKey, fields: { live: 'true', csp_strict: 'true', password: 'secret' } });
    const pages = [await enter(`${nodes[0].url}${site.path}`, browser), await enter(`${nodes[1].url}${site.path}`, other)];
    assert.deepEqual(pages.map((page) => new URL(page.url()).port), nodes.map((node) => String(node.port)));
    const times = [];
    for (let version = 2; version <= 6; version += 1) {
      await upload(nodes[0], { name: 'a.html', bytes: html(`Version ${version}`), key: nodeKey, to: site.id });
      const since = performance.now();
      await Promise.all(pages.map((page) => shows(page, `Version ${version}`)));
      times.push(Math.round(performance.now() - since));
    }
    t.diagnostic(`milliseconds after the answer: ${times.join(', ')}`);
    assert.ok(Math.min(...times) < 1000, `${times}`);
    for (const page of pages) await page.context().close();
  } finally {
    for (const node of nodes) await node.stop();
    await database.drop();
    await rm(blobs, { recursive: true, force: true });
  }
});
