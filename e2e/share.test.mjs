// Share links in a real browser: the gate opens, the token leaves the address bar and the history, revoking shuts the
// door, and comments of the page itself go through while those of other sites do not.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { api, publish } from './http.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer } from './server.mjs';

let server, browser, key, call;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  call = api(server, key);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const locked = (title, fields) =>
  publish(server, { name: 'page.html', bytes: samples.html(title), fields: { password: 'correct horse', ...fields }, key });
const share = (site, wish = {}) => call('POST', `/sites/${site.id}/share-tokens`, wish);
const uses = async (site) => (await call('GET', `/sites/${site.id}/share-tokens`)).tokens[0].uses;

test('a share link opens the page and leaves no token in the address', async () => {
  const site = await locked('Shared');
  const link = await share(site);
  const page = await openPage(await browser.newContext());
  const response = await page.goto(`${link.url}&chapter=2#part`);
  assert.equal(response.status(), 200);
  assert.equal(await page.textContent('h1'), 'Shared');
  const address = new URL(page.url());
  assert.equal(address.search, '?chapter=2');
  assert.equal(address.hash, '#part');
  assert.match(address.hostname, /^s-[a-z2-7]{26}\.localhost$/);
  assert.equal(await page.evaluate(() => document.referrer + document.cookie), '', 'the page itself learns nothing');
  await page.reload();
  assert.equal(await page.textContent('h1'), 'Shared');
  assert.equal(await uses(site), 1, 'looking again uses nothing up');
});

test('the back button leads to where one came from, never to the token', async () => {
  const site = await locked('Shared with a way back');
  const start = await publish(server, { name: 'start.html', bytes: samples.html('Start'), key });
  const link = await share(site);
  const page = await openPage(await browser.newContext());
  const seen = [];
  page.on('framenavigated', (frame) => seen.push(frame.url()));
  await page.goto(start.url);
  await page.evaluate((url) => (location.href = url), link.url);
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Shared with a way back');
  await page.goBack();
  assert.equal(await page.textContent('h1'), 'Start');
  await page.goForward();
  assert.equal(await page.textContent('h1'), 'Shared with a way back');
  assert.ok(!seen.some((url) => url.includes('shr_')), `${seen}`);
  assert.equal(await uses(site), 1);
});

test('files of a shared archive load too', async () => {
  const site = await publish(server, {
    name: 'application.zip', bytes: await samples.application(), fields: { password: 'correct horse' }, key,
  });
  const link = await share(site);
  const page = await openPage(await browser.newContext());
  await page.goto(link.url);
  await page.waitForFunction(() => window.report);
  assert.equal((await page.evaluate(() => window.report)).json, 42);
});

test('a revoked link shuts the door on the next request', async () => {
  const site = await locked('Revoked');
  const link = await share(site);
  const page = await openPage(await browser.newContext());
  assert.equal((await page.goto(link.url)).status(), 200);
  await call('DELETE', `/share-tokens/${link.id}`);
  assert.equal((await page.reload()).status(), 401);
  const bad = await page.goto(link.url);
  assert.equal(bad.status(), 401);
  assert.ok(!page.url().includes('shr_'), 'a bad token is taken out of the address as well');
});

test('one use is one browser, and that one may look again', async () => {
  const site = await locked('Once');
  const link = await share(site, { max_uses: 1 });
  const first = await openPage(await browser.newContext());
  assert.equal((await first.goto(link.url)).status(), 200);
  const second = await openPage(await browser.newContext());
  assert.equal((await second.goto(link.url)).status(), 401);
  assert.equal((await first.goto(link.url)).status(), 200);
});

test('a page whose password was removed still takes the token out', async () => {
  const site = await locked('Open by now');
  const link = await share(site);
  await call('PATCH', `/sites/${site.id}`, { password: null });
  const page = await openPage(await browser.newContext());
  assert.equal((await page.goto(link.url)).status(), 200);
  assert.equal(new URL(page.url()).search, '');
});

/** Runs in a page: posts a comment and tells the status, or that the browser did not let it see one. */
const post = ([url, mode]) =>
  fetch(url, { method: 'POST', mode, headers: { 'content-type': 'application/json' }, body: '{"comment":"hello"}', credentials: 'include' })
    .then((answer) => answer.status, (error) => error.name);

test('a page may be commented on from itself and from nowhere else', async () => {
  const fields = { agentation: 'true' };
  const site = await locked('Commented', { ...fields, csp_strict: 'true' });
  const other = await publish(server, { name: 'other.html', bytes: samples.html('Other'), fields, key });
  const context = await browser.newContext();
  const page = await openPage(context);
  await page.goto((await share(site)).url);
  assert.equal(await page.locator('script[src*="_dropleaf/toolbar.js"]').count(), 1);
  const target = new URL('_dropleaf/feedback', page.url()).href;
  // A request that is no CORS request hides its origin on a page without referrers.
  for (const mode of ['cors', 'same-origin']) assert.equal(await page.evaluate(post, [target, mode]), 201, mode);
  const stranger = await openPage(context);
  await stranger.goto(other.url);
  assert.equal(await stranger.evaluate(post, [target, 'cors']), 'TypeError');
  const simple = (url) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"comment":"x"}' }).then(() => 0);
  await stranger.evaluate(simple, target);
  assert.equal(await stranger.evaluate((url) => fetch(url).then(() => 'read', (error) => error.name), target), 'TypeError');
  const { feedback } = await call('GET', `/sites/${site.id}/feedback`);
  assert.deepEqual(feedback.map((item) => item.comment), ['hello', 'hello']);
});
