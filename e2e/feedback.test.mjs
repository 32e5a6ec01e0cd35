// Feedback from end to end: a viewer comments through the toolbar on a page the real server shows, the owner reads and
// settles it, and the next viewer sees what is left. Strict policy, password, public name; desk and phone.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { DEMO } from './demo.mjs';
import { api, publish } from './http.mjs';
import { operatorKey, startServer } from './server.mjs';
import { pierce } from './shadow.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true };

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

const annotated = (fields) => publish(server, { name: 'report.html', bytes: DEMO, fields: { agentation: 'true', ...fields }, key });
const listed = async (site) => (await call('GET', `/sites/${site.id}/feedback`)).feedback;

async function visit(url, view) {
  const context = await browser.newContext(view);
  const page = await openPage(context);
  await page.goto(url);
  return page;
}

/** Comments on the page's button through the toolbar. */
async function comment(page, words) {
  const bar = await pierce(page);
  await bar.seen('.pill');
  await bar.click('.pill');
  await bar.seen('.act');
  await bar.click('.act');
  await bar.seen('.pickbar');
  const { x, y, width, height } = await page.locator('#order').boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
  await bar.seen('textarea');
  await bar.type(words);
  await bar.click('.chip.change input');
  await bar.click('.send');
  await bar.says('.note', /sent/);
  return bar;
}

test('a comment reaches the owner, later viewers see it until it is settled, and the page runs on', async () => {
  const site = await annotated();
  const page = await visit(site.url);
  await comment(page, 'Say by <b>when</b>.');
  assert.deepEqual(page.complaints, []);
  const [item] = await listed(site);
  assert.equal(item.comment, 'Say by <b>when</b>.');
  assert.equal(item.element_path, '#order');
  assert.equal(item.intent, 'change');
  assert.equal(item.page_url, page.url());
  assert.equal(item.resolved_at, null);

  const next = await visit(site.url);
  const bar = await pierce(next);
  await bar.click('.pill');
  await bar.says('.item', /Say by <b>when<\/b>\./);
  await bar.seen('.dot');

  await call('POST', `/feedback/${item.id}/resolve`, { note: 'On Friday.' });
  assert.equal((await listed(site))[0].resolved_note, 'On Friday.');
  const last = await visit(site.url);
  const quiet = await pierce(last);
  await quiet.click('.pill');
  await quiet.says('.empty', /No open comments/);
  assert.equal(await quiet.count('.dot'), 0);
});

test('it works under the strict policy, behind a password and on a phone', async () => {
  const site = await annotated({ csp_strict: 'true', password: 'correct horse' });
  const page = await visit(site.url, PHONE);
  await page.fill('input[type=password]', 'correct horse');
  await page.click('button');
  await page.waitForSelector('#order');
  await page.locator('#order').scrollIntoViewIfNeeded();
  await comment(page, 'Seen on a phone.');
  assert.deepEqual((await listed(site)).map((item) => item.comment), ['Seen on a phone.']);
  assert.deepEqual(page.complaints.filter((line) => !/401/.test(line)), []);
});

test('it works under a public name, and in the frames of a page there is only one toolbar', async () => {
  const site = await annotated({ slug: 'orchard-report' });
  const page = await visit(site.url);
  assert.match(page.url(), /^http:\/\/orchard-report\.localhost:/);
  await comment(page, 'In public.');
  assert.deepEqual((await listed(site)).map((item) => item.comment), ['In public.']);
  await page.evaluate(() => {
    const frame = document.createElement('iframe');
    frame.src = location.pathname;
    document.body.append(frame);
    return new Promise((resolve) => frame.addEventListener('load', resolve));
  });
  assert.equal(await page.frames()[1].locator('dropleaf-feedback').count(), 0);
});

test('the toolbar is on a page of five megabytes, keeps standards mode and changes no selector of the body', async () => {
  const bytes =
    '<!-- saved --><!doctype html><html><head><meta charset="utf-8"><title>Large</title><style>body > :last-child { color: rgb(1, 2, 3) }</style>' +
    `<script>/*${'x'.repeat(5_000_000)}*/ window.ran = true;</script></head><body><p>first</p><p id="last">last</p></body></html>`;
  const site = await publish(server, { name: 'large.html', bytes, fields: { agentation: 'true' }, key });
  const page = await visit(site.url);
  await (await pierce(page)).seen('.pill');
  const seen = await page.evaluate(() => ({
    ran: window.ran,
    mode: document.compatMode,
    last: document.querySelector('body > :last-child').id,
    color: getComputedStyle(document.getElementById('last')).color,
    children: document.body.childElementCount,
  }));
  assert.deepEqual(seen, { ran: true, mode: 'CSS1Compat', last: 'last', color: 'rgb(1, 2, 3)', children: 2 });
  assert.deepEqual(page.complaints, []);
});

test('the toolbar is on a page in UTF-16', async () => {
  const wide = Buffer.from('\ufeff<!doctype html><title>Wide \u6f22</title><p id="order">wide</p>', 'utf16le');
  const page = await visit((await publish(server, { name: 'wide.html', bytes: wide, fields: { agentation: 'true' }, key })).url);
  await (await pierce(page)).seen('.pill');
  assert.equal(await page.title(), 'Wide \u6f22');
});
