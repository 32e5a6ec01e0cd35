// Forms of the dashboard: what was typed is never ignored, and after sending one the person is still where they were,
// with the message in view and focused. With a script and without one.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launch, openPage, pictureFile } from './browser.mjs';
import { api, publish, request } from './http.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer, until } from './server.mjs';

const DESK = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true };

let server, browser, cookie, call, key;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch();
  key = await operatorKey(server);
  call = api(server, key);
  cookie = await sessionOf(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const made = (title, fields) => publish(server, { name: 'page.html', bytes: samples.html(title), fields, key });
const stored = (site) => call('GET', `/sites/${site.id}`);

/** The page of a site in the dashboard, or another place of it. */
async function visit(where, options = DESK) {
  const page = await openPage(await browser.newContext(options));
  await takeCookie(page, cookie);
  await page.goto(`${server.url}${typeof where === 'string' ? where : `/dashboard/pages/${where.id}`}`);
  return page;
}

/** Opens a setting, fills it in and sends it. */
async function save(page, title, fill) {
  const details = page.locator(`.settings details:has(summary:has-text("${title}"))`);
  if (!(await details.evaluate((node) => node.open))) await details.locator('summary').click();
  await fill?.(details);
  const button = details.locator('button').first();
  await button.scrollIntoViewIfNeeded();
  const before = await seenAt(page, '#settings');
  await Promise.all([page.waitForEvent('load'), button.click()]);
  return before;
}

const seenAt = (page, selector) => page.locator(selector).evaluate((node) => node.getBoundingClientRect().top);

/** The message is on the screen and has the focus. */
async function assertToldHere(page, pattern, what) {
  await page.waitForSelector('#outcome');
  const look = () =>
    page.evaluate(() => {
      const { top, bottom } = document.getElementById('outcome').getBoundingClientRect();
      return { top, bottom, height: innerHeight, text: document.getElementById('outcome').innerText, focused: document.activeElement.id, y: scrollY };
    });
  // The browser follows the fragment, and the script sets the focus, some time after loading.
  const seen = await until(`${what}: the message in view and with the focus`, async () => {
    const now = await look();
    return now.focused === 'outcome' && now.top >= 0 && now.bottom <= now.height && now;
  });
  assert.match(seen.text, pattern, what);
  return seen;
}

describe('a typed expiry date', () => {
  const day = `${new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10)}T12:00`;
  const epoch = Date.parse(`${day}Z`) / 1000;

  test('is chosen by typing it, and given up by choosing something else', async () => {
    const site = await made('Dated');
    const page = await visit(site, { ...DESK, timezoneId: 'UTC' });
    await page.click('.settings summary:has-text("Expiry")');
    assert.equal(await page.inputValue('#expires'), 'never');
    await page.fill('#until', day);
    assert.equal(await page.inputValue('#expires'), 'date', 'the list follows the date');
    await page.selectOption('#expires', '24');
    assert.equal(await page.inputValue('#until'), '', 'what is not used is not shown');
    await page.selectOption('#expires', 'date');
    assert.equal(await page.inputValue('#until'), day, 'it comes back');
    await save(page, 'Expiry');
    await assertToldHere(page, /Expiry saved/, 'expiry');
    assert.equal((await stored(site)).expires_at, epoch);
    await save(page, 'Expiry', () => page.selectOption('#expires', 'never'));
    assert.equal((await stored(site)).expires_at, null);
    assert.deepEqual(page.complaints, []);
  });

  test('counts without a script while the list says never', async () => {
    const site = await made('Dated without a script');
    const page = await visit(site, { ...DESK, javaScriptEnabled: false });
    await save(page, 'Expiry', () => page.fill('#until', day));
    assert.equal((await stored(site)).expires_at, epoch);
    await save(page, 'Expiry', async () => {
      await page.selectOption('#expires', '24');
      await page.fill('#until', day.replace('T12', 'T13'));
    });
    await assertToldHere(page, /given twice/, 'a contradiction');
    assert.equal(await page.inputValue('#until'), day.replace('T12', 'T13'), 'what was typed is kept');
    assert.equal((await stored(site)).expires_at, epoch, 'nothing was changed');
  });
});

describe('after a form', () => {
  for (const [view, options] of [['desk', DESK], ['phone', PHONE]]) {
    test(`the settings stay where they were: ${view}`, async () => {
      const site = await made('Staying');
      const page = await visit(site, options);
      await page.locator('#settings').scrollIntoViewIfNeeded();
      const before = await save(page, 'Title', (form) => form.locator('#title').fill('Stayed'));
      const { y } = await assertToldHere(page, /Title saved/, 'title');
      const moved = Math.abs((await seenAt(page, '#settings')) - before);
      assert.ok(moved < 2, `the section moved by ${moved}`);
      assert.ok(view === 'desk' || y > 300, `scrolled to ${y}`);
      assert.equal(new URL(page.url()).search + new URL(page.url()).hash, '', 'loading the page again says nothing again');
      await page.screenshot({ path: pictureFile(`form-stays-${view}`) });
      const again = await save(page, 'Visibility', async (form) => {
        await form.locator('#v-public').check();
        await form.locator('#slug').fill('not_good');
      });
      await assertToldHere(page, /./, 'a refusal');
      assert.ok(await page.locator('#outcome.problem').count(), 'a refusal is a problem');
      assert.ok(Math.abs((await seenAt(page, '#settings')) - again) < 2, 'the section did not move');
      assert.deepEqual(page.complaints.filter((line) => !/400/.test(line)), []);
    });

    test(`the last of many comments is resolved in place: ${view}`, async () => {
      const site = await made('Commented', { agentation: 'true' });
      for (let i = 0; i < 12; i += 1) {
        const body = JSON.stringify({ comment: `Comment ${i}` });
        const headers = { 'content-type': 'application/json' };
        const answer = await request(server, { method: 'POST', path: `${new URL(site.url).pathname}_dropleaf/feedback`, headers, body });
        assert.equal(answer.status, 201, answer.text());
      }
      const page = await visit(site, options);
      await page.click('a:has-text("Review feedback")');
      await page.waitForSelector('.thread');
      const last = page.locator('.thread').last();
      await last.scrollIntoViewIfNeeded();
      const before = await page.evaluate(() => scrollY);
      assert.ok(before > 500, `the last comment is far down: ${before}`);
      await last.locator('button:has-text("Resolve")').first().click();
      await page.waitForSelector('.thread.resolved');
      assert.match(await page.textContent('#status'), /resolved/);
      const y = await page.evaluate(() => scrollY);
      assert.ok(Math.abs(y - before) < 250, `from ${before} to ${y}`);
      await page.screenshot({ path: pictureFile(`comment-resolved-${view}`) });
    });
  }

  test('the message is in view and has the focus without a script', async () => {
    const site = await made('No script');
    const page = await visit(site, { ...PHONE, javaScriptEnabled: false });
    await save(page, 'Title', (form) => form.locator('#title').fill('Renamed'));
    const { y } = await assertToldHere(page, /Title saved/, 'title');
    assert.ok(y > 100, `scrolled to ${y}`);
    await save(page, 'Visibility', async (form) => {
      await form.locator('#v-public').check();
      await form.locator('#slug').fill('not_good');
    });
    await assertToldHere(page, /./, 'a refusal');
    assert.ok(await page.locator('#outcome.problem').count(), 'a refusal is a problem');
  });

  test('a revoked key is told in the list of keys', async () => {
    const page = await visit('/dashboard/keys', PHONE);
    for (let i = 0; i < 6; i += 1) {
      await page.getByLabel('Name').fill(`key ${i}`);
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('heading', { name: /New key/ }).waitFor();
    }
    await page.goto(`${server.url}/dashboard/keys`);
    page.on('dialog', (dialog) => dialog.accept());
    const revoke = page.locator('#keys button:has-text("Revoke")').nth(4);
    await revoke.scrollIntoViewIfNeeded();
    await Promise.all([page.waitForEvent('load'), revoke.click()]);
    await assertToldHere(page, /Key revoked/, 'revoked');
  });
});
