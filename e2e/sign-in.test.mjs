// Signing up and in as people do it: an address, a letter, a code or a link; sessions that are seen and ended.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile } from './browser.mjs';
import { askForCode, sessionCookie, signIn, takeCookie } from './people.mjs';
import { command, startServer } from './server.mjs';

const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true };

let server, browser;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = async (view = DESK) => openPage(await browser.newContext(view));
const shot = (page, name) => page.screenshot({ path: pictureFile(name) });

test('a new user signs up with a code, on a desktop and on a phone', async () => {
  for (const [view, name] of [[DESK, 'desk'], [PHONE, 'phone']]) {
    const page = await visit(view);
    await page.goto(`${server.url}/login`);
    await shot(page, name === 'desk' ? 'login' : `login-${name}`);
    const email = `ann-${name}@example.org`;
    const { code } = await askForCode(page, server, email, '/dashboard/account');
    await shot(page, `login-code-${name}`);
    await page.fill('#code', '0000 0000');
    await page.click('form[action="/login/code"] button');
    await page.waitForSelector('[role=alert]');
    await page.fill('#code', `${code.slice(0, 4)} ${code.slice(4)}`);
    await page.click('form[action="/login/code"] button');
    await page.waitForURL(`${server.url}/dashboard/account`);
    await page.getByText(email).first().waitFor();
    await shot(page, `account-${name}`);
    const [cookie] = (await page.context().cookies()).filter((found) => found.name === '__Host-session');
    assert.deepEqual(
      [cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.domain, cookie.path],
      [true, true, 'Lax', 'localhost', '/'],
    );
    assert.equal(await page.evaluate(() => document.cookie), '');
    assert.deepEqual(page.complaints.filter((line) => !/400/.test(line)), []);
  }
});

test('the link from the letter signs in another browser after a question, once', async () => {
  const page = await visit();
  const { link } = await askForCode(page, server, 'bob@example.org', '/dashboard/account');
  const phone = await visit(PHONE);
  await phone.goto(link);
  await phone.getByText('bob@example.org').waitFor();
  await shot(phone, 'login-link-phone');
  assert.equal(await sessionCookie(phone), undefined);
  await phone.click('form[action="/login/link"] button');
  // Only the browser that asked is led to where it was going.
  await phone.waitForURL(`${server.url}/dashboard`);
  const late = await page.goto(link);
  assert.equal(late.status(), 410);
  assert.equal(await sessionCookie(page), undefined);
});

test('signing out ends the session, and a page that needs one leads to the sign-in and back', async () => {
  const page = await visit();
  await signIn(page, server, 'cat@example.org', '/dashboard/account');
  const kept = await sessionCookie(page);
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await page.waitForURL(`${server.url}/`);
  assert.equal(await sessionCookie(page), undefined);
  await takeCookie(page, kept);
  await page.goto(`${server.url}/dashboard/account?x=1`);
  assert.equal(page.url(), `${server.url}/login?next=${encodeURIComponent('/dashboard/account?x=1')}`);
});

test('sessions are listed, and one or all others are ended', async () => {
  const email = 'dan@example.org';
  const pages = [];
  for (let n = 0; n < 4; n += 1) {
    const page = await visit(n === 0 ? DESK : PHONE);
    await signIn(page, server, email, '/dashboard/account');
    pages.push(page);
  }
  const [page, ...others] = pages;
  await page.reload();
  const rows = page.locator('#sessions li');
  assert.equal(await rows.count(), 4);
  assert.equal(await rows.filter({ hasText: 'This browser' }).count(), 1);
  await rows.filter({ hasNotText: 'This browser' }).first().getByRole('button').click();
  await page.getByText('That browser was signed out.').waitFor();
  assert.equal(await rows.count(), 3);
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await page.getByText('All other browsers were signed out.').waitFor();
  assert.equal(await rows.count(), 1);
  for (const other of others) {
    await other.goto(`${server.url}/dashboard/account`);
    assert.match(other.url(), /\/login\?next=/);
  }
  await page.reload();
  assert.equal(await rows.count(), 1);
});

test('the operator signs in with the link from the terminal, or with one made later', async () => {
  const first = server.log.match(/http:\/\/\S+\/login\/link\?token=\S+/)[0];
  const made = await command(server, 'account', 'link', 'operator@localhost');
  assert.match(made, /^http:\/\/localhost:\d+\/login\/link\?token=[\w-]{43}$/);
  for (const link of [first, made]) {
    const page = await visit();
    await page.goto(link);
    await page.click('form[action="/login/link"] button');
    await page.waitForURL(`${server.url}/dashboard`);
    await page.goto(`${server.url}/dashboard/account`);
    await page.getByText('operator@localhost').first().waitFor();
  }
});
