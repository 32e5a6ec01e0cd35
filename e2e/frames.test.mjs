// Sandboxed frames of pages that only some may see: the frame has no origin and sends no cookie, and still gets its files.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { publish } from './http.mjs';
import { operatorKey, startServer } from './server.mjs';
import { zip } from './zip.mjs';

const PASSWORD = 'correct horse';
// The smallest GIF there is, one pixel.
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const files = (query) => zip([
  {
    name: 'index.html',
    bytes: `<!doctype html><title>Frames</title><p id="told"></p>
      <script>addEventListener('message', (event) => { told.textContent = JSON.stringify({ ...event.data, origin: event.origin }); });</script>
      <iframe sandbox="allow-scripts" src="widget/frame.html?${query}"></iframe>`,
  },
  {
    name: 'widget/frame.html',
    bytes: `<!doctype html><script src="frame.js"></script><link rel="stylesheet" href="../style.css"><img src="../pixel.gif">
      <iframe src="inner.html"></iframe>`,
  },
  { name: 'widget/inner.html', bytes: '<!doctype html><script>parent.postMessage("inner", "*")</script>' },
  {
    name: 'widget/frame.js',
    bytes: `const inner = new Promise((done) => addEventListener('message', () => done(true)));
      addEventListener('load', async () => {
        if (location.search === '?nested') await inner;
        const fetched = await fetch('../style.css').then(() => true, () => false);
        const colour = getComputedStyle(document.body).color;
        const picture = document.querySelector('img').naturalWidth;
        parent.postMessage({ colour, picture, fetched, query: location.search }, '*');
      });`,
  },
  { name: 'style.css', bytes: 'body { color: rgb(1, 2, 3) }' },
  { name: 'pixel.gif', bytes: PIXEL },
]);
// As on any host without CORS headers, a script without an origin may load files and not read them.
const TOLD = { colour: 'rgb(1, 2, 3)', picture: 1, fetched: false, origin: 'null' };

let server, browser, key;

before(async () => {
  server = await startServer();
  key = await operatorKey(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const told = async (page) => {
  await page.waitForFunction(() => document.getElementById('told')?.textContent);
  return JSON.parse(await page.textContent('#told'));
};

const enterPassword = async (page) => {
  await page.fill('input[name=password]', PASSWORD);
  await page.press('input[name=password]', 'Enter');
};

for (const [name, fields, open] of [
  ['an open page', {}, async () => {}],
  ['a page behind a password', { password: PASSWORD }, enterPassword],
  ['a public page behind a password', { password: PASSWORD, slug: 'frames-of-a-slug' }, enterPassword],
  ['a page that burns', { burn_after_read: 'true' }, (page) => page.click('button')],
  // The strict policy lets only the page itself show frames, not a frame without an origin.
  ['a strict page behind a password', { password: PASSWORD, csp_strict: 'true' }, enterPassword],
]) {
  test(`a sandboxed frame of ${name} gets its files`, async () => {
    const query = fields.csp_strict ? 'flat' : 'nested';
    const site = await publish(server, { name: 'frames.zip', bytes: files(query), key, fields });
    const page = await openPage(await browser.newContext());
    await page.goto(site.url);
    await open(page);
    assert.deepEqual(await told(page), { ...TOLD, query: `?${query}` });
  });
}
