// Threads from end to end: a viewer and the owner talk about a comment in two browsers, the owner works off 300 comments
// in the dashboard, and goes from one to its place on a page behind a password.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile } from './browser.mjs';
import { DEMO } from './demo.mjs';
import { api, publish, request } from './http.mjs';
import { signIn } from './people.mjs';
import { operatorKey, startServer, until } from './server.mjs';
import { pierce } from './shadow.mjs';

const DESK = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true };

let server, browser, other, key, call;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  call = api(server, key);
  [browser, other] = [await launch(), await launch()];
});
after(async () => {
  await browser?.close();
  await other?.close();
  await server?.stop();
});

const annotated = (fields) => publish(server, { name: 'report.html', bytes: DEMO, fields: { agentation: 'true', ...fields }, key });

/** The operator, who owns the pages, signed in. */
async function owner(view = DESK) {
  const context = await other.newContext(view);
  const page = await openPage(context);
  await signIn(page, server, 'operator@localhost');
  return page;
}

async function comments(site, number) {
  const severities = ['suggestion', 'important', 'blocking'];
  for (let i = 0; i < number; i += 1) {
    const body = JSON.stringify({ comment: `Comment ${i}: the number in this row is not the one in the table.`, element: 'button#order.primary "Order juice"', element_path: '#order', severity: severities[i % 3], intent: 'fix' });
    const answer = await request(server, { method: 'POST', path: `${new URL(site.url).pathname}_dropleaf/feedback`, headers: { 'content-type': 'application/json' }, body });
    assert.equal(answer.status, 201, answer.text());
  }
}

test('a viewer and the owner talk in two browsers, and the viewer reopens what is not done', async () => {
  const site = await annotated({ csp_strict: 'true' });
  const viewer = await openPage(await browser.newContext(DESK));
  await viewer.goto(site.url);
  const bar = await pierce(viewer);
  await bar.click('.pill');
  await bar.click('.act.quiet');
  await bar.seen('textarea');
  await bar.type('Which year is this?');
  await bar.click('.send');
  await bar.says('.note', /sent/);

  const page = await owner();
  await page.goto(`${server.url}/dashboard/pages/${site.id}/feedback`);
  await page.click('.answer summary');
  await page.fill('.answer textarea', 'Last year. Better now?');
  await page.click('button:has-text("Reply and resolve")');
  await page.waitForSelector('.thread.resolved .replies');

  // The toolbar is open, so the reply arrives without a reload.
  await bar.says('.last', /Owner Last year\. Better now\?/);
  await bar.click('.item .link');
  await bar.run((root) => root.querySelector('#answer').focus());
  await bar.type('No.');
  await bar.click('.thread .foot input');
  await bar.click('.thread .send');
  await bar.says('.state', /Reopened/);
  await viewer.screenshot({ path: pictureFile('toolbar-thread-desktop-light') });
  assert.deepEqual(viewer.complaints, []);

  await page.reload();
  await page.waitForSelector('.thread.reopened');
  assert.match(await page.textContent('.thread'), /Reopened by a viewer/);
  assert.match(await page.textContent('.replies'), /Viewer.*No\./s);
  assert.deepEqual(page.complaints, []);

  const stranger = await openPage(await browser.newContext(PHONE));
  await stranger.goto(site.url);
  const seen = await pierce(stranger);
  await seen.click('.pill', { tap: true });
  await seen.says('.item', /Which year/);
  assert.equal(await seen.count('.last'), 0, 'another viewer does not see the replies');
});

test('300 comments open in under two seconds, and working them off keeps the place', async () => {
  const site = await annotated();
  await comments(site, 300);
  for (const [name, view] of [['desktop-light', DESK], ['phone-dark', PHONE]]) {
    const page = await owner(view);
    await page.goto(`${server.url}/dashboard`);
    const start = performance.now();
    await page.goto(`${server.url}/dashboard/pages/${site.id}/feedback`);
    await page.waitForSelector('.thread');
    const took = performance.now() - start;
    console.log(`# 300 comments opened in ${Math.round(took)} ms: ${name}`);
    assert.ok(took < 2000, `${took} ms`);
    while (await page.locator('#more a').count()) {
      const before = await page.locator('.thread').count();
      await page.locator('#more a').click();
      await until('more threads', async () => (await page.locator('.thread').count()) > before);
    }
    assert.ok((await page.locator('.thread').count()) >= 290);
    const at = page.locator('.thread:not(.resolved)').nth(150);
    await at.scrollIntoViewIfNeeded();
    const id = await at.getAttribute('id');
    const button = page.locator(`#${id} .thread-actions button[aria-label^="Resolve:"]`);
    await button.scrollIntoViewIfNeeded();
    const topOf = () => page.evaluate((one) => document.getElementById(one).getBoundingClientRect().top, id);
    const top = await topOf();
    await button.click();
    await page.waitForSelector(`#${id}.resolved`);
    assert.ok(Math.abs((await topOf()) - top) < 2, `the thread stays where it is: ${top}, ${await topOf()}`);
    assert.ok(await page.evaluate(() => { const { top, bottom } = document.querySelector('#status .done').getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }), 'what was done is seen');
    await page.screenshot({ path: pictureFile(`triage-${name}`) });
    for (const index of [0, 1, 2]) await page.locator('.thread:not(.resolved) input[name=ids]').nth(index).check();
    await page.click('#bulk button');
    await page.waitForSelector('.done:has-text("3 comments resolved")');
    const resolved = await page.locator('.thread.resolved').count();
    await page.screenshot({ path: pictureFile(`triage-undo-${name}`) });
    await page.click('.done button:has-text("Undo")');
    await page.waitForSelector('.done:has-text("Undone")');
    assert.equal(await page.locator('.thread.resolved').count(), resolved - 3);
    assert.deepEqual(page.complaints, []);
  }
});

test('a reply that was begun stays when its comment is resolved', async () => {
  const site = await annotated();
  await comments(site, 1);
  const page = await owner();
  await page.goto(`${server.url}/dashboard/pages/${site.id}/feedback`);
  await page.click('.answer summary');
  await page.fill('.answer textarea', 'Half a');
  await page.click('.thread-actions form[action*="/resolve"] button');
  await page.waitForSelector('.thread.resolved');
  assert.equal(await page.inputValue('.answer textarea'), 'Half a');
  assert.equal(await page.locator('.answer[open]').count(), 1);
  assert.deepEqual(page.complaints, []);
});

test('without a script the same forms work', async () => {
  const site = await annotated();
  await comments(site, 3);
  const page = await owner({ ...DESK, javaScriptEnabled: false });
  await page.goto(`${server.url}/dashboard/pages/${site.id}/feedback`);
  await page.check('.thread input[name=ids] >> nth=0');
  await page.click('#bulk button');
  await page.waitForSelector('.done:has-text("1 comment resolved")');
  await page.click('.done button:has-text("Undo")');
  await page.waitForSelector('.done:has-text("Undone")');
  assert.equal(await page.locator('.thread').count(), 3);
});

test('a comment is shown at its place, past the password', async () => {
  const site = await annotated();
  await comments(site, 1);
  await call('PATCH', `/sites/${site.id}`, { password: 'correct horse' });
  const page = await owner();
  await page.goto(`${server.url}/dashboard/pages/${site.id}/feedback`);
  const [shown] = await Promise.all([page.context().waitForEvent('page'), page.click('button:has-text("Show on page")')]);
  await shown.waitForSelector('#order');
  const bar = await pierce(shown);
  await bar.seen('.item.current');
  await bar.seen('.box');
  assert.doesNotMatch(shown.url(), /owner=|#/);
});
