// Burn after read in a real browser: what merely looks at a link uses nothing up; pressing the button shows the page to
// this browser for a while, and to nobody else.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile } from './browser.mjs';
import { publish, request, siteHost } from './http.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer, until } from './server.mjs';

const VIEWS = [
  { name: 'desktop', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'desktop-dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'phone-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
];

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

const burning = (title, more = {}) =>
  publish(server, { name: 'secret.html', bytes: samples.html(title), fields: { burn_after_read: 'true' }, key, ...more });

/** Whether the page is still unread, asked in a way that burns nothing. */
const unread = async (site) => (await request(server, { method: 'HEAD', path: site.path, host: siteHost(server) })).status === 200;

test('the reveal page and the gone page are designed, without script', async () => {
  for (const { name, ...options } of VIEWS) {
    const site = await burning('Photographed');
    const context = await browser.newContext({ ...options, javaScriptEnabled: false });
    const page = await openPage(context);
    assert.equal((await page.goto(site.url)).status(), 200);
    assert.equal(await page.textContent('h1'), 'This page can be viewed only once');
    assert.ok(!(await page.content()).includes('Photographed'));
    const wide = await page.locator('main').evaluate(() => document.documentElement.scrollWidth - innerWidth).catch(() => 0);
    assert.ok(wide <= 0, `${name}: ${wide} px too wide`);
    await page.screenshot({ path: pictureFile(`reveal-${name}`) });
    await page.click('button');
    assert.equal(await page.textContent('h1'), 'Photographed');
    const stranger = await openPage(await browser.newContext(options));
    assert.equal((await stranger.goto(site.url)).status(), 410);
    assert.equal(await stranger.textContent('h1'), 'This page could be viewed only once');
    await stranger.screenshot({ path: pictureFile(`gone-${name}`) });
    await stranger.context().close();
    await context.close();
  }
});

test('the viewer may reload, press twice and follow the link again', async () => {
  const site = await burning('Mine for a minute');
  const context = await browser.newContext();
  const page = await openPage(context);
  await page.goto(site.url);
  const second = await context.newPage();
  await second.goto(site.url);
  await page.click('button');
  await page.waitForSelector('h1:text("Mine for a minute")');
  assert.equal((await page.reload()).status(), 200);
  assert.equal(await page.textContent('h1'), 'Mine for a minute');
  await second.click('button');
  assert.equal(await second.textContent('h1'), 'Mine for a minute');
  const third = await context.newPage();
  assert.equal((await third.goto(site.url)).status(), 200);
  assert.equal(await third.textContent('h1'), 'Mine for a minute');
  assert.deepEqual(page.complaints, []);
  await context.close();
});

test('an archive opens with all its files after one press', async () => {
  const site = await burning('', { name: 'application.zip', bytes: await samples.application() });
  const page = await openPage(await browser.newContext());
  await page.goto(site.url);
  await page.click('button');
  await page.waitForFunction(() => window.report);
  assert.equal((await page.evaluate(() => window.report)).json, 42);
});

test('images, frames, fetches, prefetch and prerender use nothing up', async () => {
  const site = await burning('Untouched');
  const own = new URL((await (await browser.newContext()).request.get(site.url, { maxRedirects: 0, headers: { 'sec-fetch-mode': 'navigate' } })).headers().location).href;
  const rules = JSON.stringify({
    prefetch: [{ source: 'list', urls: [site.url, own], eagerness: 'immediate' }],
    prerender: [{ source: 'list', urls: [site.url, own], eagerness: 'immediate' }],
  });
  const bait = `<!doctype html><title>Bait</title><link rel=prefetch href="${site.url}"><link rel=prefetch href="${own}">
    <script type=speculationrules>${rules}</script>
    <img src="${site.url}"><img src="${own}"><iframe src="${own}"></iframe><object data="${own}"></object>
    <script>for (const url of ['${site.url}', '${own}']) { fetch(url, { mode: 'no-cors' }).catch(() => 0); navigator.sendBeacon(url); }</script>`;
  const lure = await publish(server, { name: 'bait.html', bytes: bait, key });
  const context = await browser.newContext();
  const page = await context.newPage();
  const seen = [];
  context.on('request', (sent) => sent.url().includes(site.unlisted_token) && seen.push(sent.resourceType()));
  await page.goto(lure.url, { waitUntil: 'networkidle' });
  await until('the bait to be taken', () => seen.includes('image') && seen.length >= 4);
  assert.ok(await unread(site), 'nothing of this is reading');
  await page.goto(site.url);
  assert.equal(await page.textContent('h1'), 'This page can be viewed only once');
  await page.click('button');
  assert.equal(await page.textContent('h1'), 'Untouched');
  await context.close();
});

test('a sibling page cannot press the button', async () => {
  const site = await burning('Pressed by nobody');
  const own = new URL((await (await browser.newContext()).request.get(site.url, { maxRedirects: 0, headers: { 'sec-fetch-mode': 'navigate' } })).headers().location).href;
  const attack = `<!doctype html><title>Attack</title><form method=post action="${own}_dropleaf/reveal"></form>
    <script>fetch('${own}_dropleaf/reveal', { method: 'POST', mode: 'no-cors', credentials: 'include' }).finally(() => document.forms[0].submit());</script>`;
  const lure = await publish(server, { name: 'attack.html', bytes: attack, key });
  const page = await openPage(await browser.newContext());
  await page.goto(own);
  await page.goto(lure.url);
  await page.waitForURL(/_dropleaf\/reveal$/);
  assert.ok(await unread(site));
});
