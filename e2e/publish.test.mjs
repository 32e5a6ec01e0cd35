// The main job, end to end: a file goes up, a link comes back, a browser and a plain client open it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { publish, request, siteHost, upload } from './http.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer } from './server.mjs';

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

async function opened(site, path = '') {
  const page = await openPage(await browser.newContext());
  const response = await page.goto(site.url + path);
  return { page, response };
}

test('an html page published with a key opens on a host of its own', async () => {
  const site = await publish(server, { name: 'report.html', bytes: samples.html('Quarterly report'), key });
  assert.match(site.url, /^http:\/\/localhost:\d+\/p\/[A-Za-z0-9_-]{22}\/$/);
  assert.equal(site.visibility, 'unlisted');
  assert.equal(site.title, 'Quarterly report');
  const { page, response } = await opened(site);
  assert.equal(response.status(), 200);
  assert.match(new URL(page.url()).hostname, /^s-[a-z2-7]{26}\.localhost$/);
  assert.equal(await page.title(), 'Quarterly report');
  assert.equal(await page.textContent('h1'), 'Quarterly report');
  assert.deepEqual(page.complaints, []);
});

test('a plain client reads the same bytes without a redirect', async () => {
  const bytes = samples.html('Plain');
  const site = await publish(server, { name: 'plain.html', bytes, key });
  const answer = await request(server, { path: site.path, host: siteHost(server) });
  assert.equal(answer.status, 200);
  assert.equal(answer.text(), bytes);
  assert.match(answer.headers['content-type'], /^text\/html/);
});

test('an anonymous page opens and tells how to claim it', async () => {
  const site = await publish(server, { name: 'note.html', bytes: samples.html('Anonymous') });
  assert.match(site.claim_token, /^clm_/);
  const life = site.expires_at - site.created_at;
  assert.ok(life > 0 && life <= 24 * 3600, `lives ${life} s`);
  const { page } = await opened(site);
  assert.equal(await page.textContent('h1'), 'Anonymous');
});

test('markdown is rendered, highlighted and free of script', async () => {
  const site = await publish(server, { name: 'notes.md', bytes: samples.markdown, key });
  const { page } = await opened(site);
  assert.equal(await page.getByRole('heading', { level: 1, name: 'Field notes', exact: true }).count(), 1);
  assert.equal(await page.textContent('td'), 'oak');
  assert.equal(await page.locator('input[type=checkbox]').count(), 2);
  assert.ok((await page.locator('pre code span').count()) > 2, 'code is highlighted');
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test('a zip opens with its files, folders and its own 404', async () => {
  const site = await publish(server, { name: 'application.zip', bytes: await samples.application(), key });
  const { page, response } = await opened(site);
  assert.equal(response.status(), 200);
  await page.waitForFunction(() => window.report);
  assert.equal((await page.evaluate(() => window.report)).json, 42);
  const folder = await opened(site, 'docs/');
  assert.equal(await folder.page.title(), 'Docs');
  const missing = await opened(site, 'no/such/file');
  assert.equal(missing.response.status(), 404);
  assert.equal(await missing.page.textContent('h1'), 'Nothing here, says the archive');
});

test('a pdf is served as itself', async () => {
  const bytes = samples.pdf();
  const site = await publish(server, { name: 'paper.pdf', bytes, key });
  const plain = await request(server, { path: site.path, host: siteHost(server) });
  assert.equal(plain.headers['content-type'], 'application/pdf');
  assert.ok(plain.bytes.equals(bytes));
  const page = await openPage(await browser.newContext());
  const download = page.waitForEvent('download').catch(() => null);
  const response = page.waitForResponse((seen) => seen.status() === 200);
  // Headless Chromium either shows a PDF or offers it as a download, which ends the navigation.
  await page.goto(site.url).catch(() => download);
  assert.equal((await response).headers()['content-type'], 'application/pdf');
});

test('an update keeps the address and a delete answers 410', async () => {
  const site = await publish(server, { name: 'draft.html', bytes: samples.html('First'), key });
  const { page } = await opened(site);
  const put = await upload(server, { to: site.id, name: 'draft.html', bytes: samples.html('Second'), key });
  assert.equal(put.status, 200);
  assert.equal(put.json().url, site.url);
  await page.reload();
  assert.equal(await page.textContent('h1'), 'Second');
  const gone = await request(server, { method: 'DELETE', path: `/sites/${site.id}`, key });
  assert.equal(gone.status, 200);
  assert.equal((await page.reload()).status(), 410);
});

test('a public page opens at its name', async () => {
  const site = await publish(server, { name: 'public.html', bytes: samples.html('Public'), fields: { slug: 'garden' }, key });
  assert.equal(site.visibility, 'public');
  const { page, response } = await opened({ url: `http://garden.localhost:${server.port}/` });
  assert.equal(response.status(), 200);
  assert.equal(await page.textContent('h1'), 'Public');
});
