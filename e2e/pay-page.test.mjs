// The page behind a pay link and the sandbox's card form in a real browser: paid, declined, 3-D Secure, stalled, expired, by
// keyboard, without script; and `dropleaf pay` on a terminal, whose QR code leads to the page.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, OUTPUT, VIEWS } from './browser.mjs';
import { api, request } from './http.mjs';
import { runSql } from './money.mjs';
import { readBlocks, readPicture } from './qr.mjs';
import { BINARY, operatorKey, startServer, tempDir, until } from './server.mjs';
import { startProcessor } from './stripe/processor.mjs';

const CARD = { pays: '4242424242424242', declined: '4000000000000002', authenticates: '4000002500003155', stalls: '4000000000008880' };

let server, browser, home, key;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  browser = await launch();
  home = await tempDir('home');
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await rm(home, { recursive: true, force: true });
});

const session = (body = { feature: 'provision', amount_minor: 600 }) => api(server, key)('POST', '/pay/sessions', body);
const poll = ({ code }) => api(server)('GET', `/pay/sessions/${code}/poll`);

async function expire() {
  await runSql(server, 'UPDATE pay_sessions SET expires_at = created_at;');
}

async function tab(options) {
  return openPage(await browser.newContext(options));
}

/** A declined card and an expired link have an error status, which the console repeats; nothing else may be there. */
function assertQuiet(page) {
  assert.deepEqual(page.complaints.filter((text) => !/status of 4(22|10)/.test(text)), []);
}

/** From the link to the card form. */
async function openForm(page, url) {
  await page.goto(url);
  await page.getByRole('button', { name: /^Pay \$.* by card$/ }).click();
  await page.waitForURL('**/pay/sandbox/**');
}

async function submitCard(page, number) {
  await page.getByLabel('Card number').fill(number);
  await page.getByLabel('Expiry date').fill('12 / 34');
  await page.getByLabel('Security code', { exact: true }).fill('123');
  await page.getByRole('button', { name: /^Pay \$/ }).click();
}

/** Keeps a page from reloading itself while it is examined. */
async function withoutRefresh(route) {
  const response = await route.fetch();
  const { refresh, ...headers } = response.headers();
  assert.equal(refresh, '3');
  await route.fulfill({ response, headers });
}

const heading = (page, text) => page.getByRole('heading', { level: 1, name: text }).waitFor();

test('a person pays, and the program gets the key once', async () => {
  const made = await session();
  const page = await tab();
  await openForm(page, made.url);
  await submitCard(page, CARD.pays);
  await heading(page, 'Paid');
  const text = await page.innerText('main');
  for (const part of ['$1.00', '$5.00', '$6.00', 'return to your agent']) assert.ok(text.includes(part), text);
  const polled = await poll(made);
  assert.equal(polled.status, 'completed');
  assert.match(polled.api_key, /^stk_live_/);
  assert.equal((await poll(made)).api_key, undefined);
  // Neither the back button nor the link leads to a second payment.
  await page.goBack();
  await page.goto(made.url);
  await heading(page, 'Paid');
  assert.ok(!(await page.content()).includes(made.code));
  assertQuiet(page);
});

test('a declined card is explained, and another one pays', async () => {
  const made = await session();
  const page = await tab();
  await openForm(page, made.url);
  await submitCard(page, CARD.declined);
  await page.getByRole('alert').filter({ hasText: 'declined' }).waitFor();
  assert.equal((await poll(made)).status, 'pending');
  // A button of the list fills the form.
  await page.getByRole('button', { name: 'Use 5555 5555 5555 4444' }).click();
  assert.equal(await page.getByLabel('Card number').inputValue(), '5555 5555 5555 4444');
  await page.keyboard.press('Enter');
  await heading(page, 'Paid');
  assert.equal((await poll(made)).status, 'completed');
  assertQuiet(page);
});

test('3-D Secure: a failed confirmation charges nothing, an approved one pays', async () => {
  const made = await session();
  const page = await tab();
  await openForm(page, made.url);
  await submitCard(page, CARD.authenticates);
  await heading(page, 'Approve this test payment?');
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByRole('alert').waitFor();
  assert.equal((await poll(made)).status, 'pending');
  await submitCard(page, CARD.authenticates);
  await heading(page, 'Approve this test payment?');
  await page.getByRole('button', { name: 'Approve' }).click();
  await heading(page, 'Paid');
  assert.equal((await poll(made)).status, 'completed');
  assertQuiet(page);
});

test('a payment that stalls is shown as being processed, and cannot be made twice', async () => {
  const made = await session();
  const page = await tab();
  await openForm(page, made.url);
  const form = page.url();
  await submitCard(page, CARD.stalls);
  await heading(page, 'Your payment is being processed');
  assert.equal((await poll(made)).status, 'processing');
  assertQuiet(page);
  // Each in a tab of its own, because the page reloads itself.
  for (const url of [made.url, form]) {
    const again = await tab();
    const answer = await again.goto(url);
    assert.equal(answer.headers().refresh, '3');
    await heading(again, 'Your payment is being processed');
    assert.equal(await again.locator('main button').count(), 0);
  }
});

test('a payment that stalls is completed when the money arrives, and the page says so by itself', async () => {
  const processor = await startProcessor(null, { data: path.join(server.dataDir, 'dropleaf.db') });
  try {
    const made = await session();
    const page = await tab();
    await openForm(page, made.url);
    const checkout = page.url().split('/').at(-1);
    await submitCard(page, CARD.stalls);
    await heading(page, 'Your payment is being processed');
    assert.equal((await poll(made)).status, 'processing');
    assert.equal((await processor.post(`/sandbox/${checkout}/receive_funds`)).status, 200);
    await heading(page, 'Paid');
    const polled = await poll(made);
    assert.equal(polled.status, 'completed');
    assert.match(polled.api_key, /^stk_live_/);
    assertQuiet(page);
  } finally {
    await processor.stop();
  }
});

test('an expired link says so and has nothing to press', async () => {
  const made = await session();
  await expire();
  const page = await tab();
  const answer = await page.goto(made.url);
  assert.equal(answer.status(), 410);
  await heading(page, 'This payment link has expired');
  assert.equal(await page.locator('main button').count(), 0);
  assert.equal((await poll(made)).status, 'expired');
  assertQuiet(page);
  const unknown = await request(server, { path: '/pay/nothing-like-it', headers: { accept: 'text/html' } });
  assert.equal(unknown.status, 404);
});

test('everything can be done with the keyboard', async () => {
  const made = await session();
  const page = await tab();
  await page.goto(made.url);
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  for (let presses = 0; !/by card$/.test(await focused()); presses += 1) {
    assert.ok(presses < 5, 'the button is among the first things that Tab reaches');
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.waitForURL('**/pay/sandbox/**');
  await page.waitForFunction(() => document.activeElement.id === 'number');
  await page.keyboard.type(CARD.authenticates);
  await page.keyboard.press('Tab');
  await page.keyboard.type('1234');
  await page.keyboard.press('Tab');
  await page.keyboard.type('123');
  assert.equal(await page.getByLabel('Card number').inputValue(), '4000 0025 0000 3155');
  assert.equal(await page.getByLabel('Expiry date').inputValue(), '12 / 34');
  await page.keyboard.press('Enter');
  await heading(page, 'Approve this test payment?');
  for (let presses = 0; (await focused()) !== 'Approve'; presses += 1) {
    assert.ok(presses < 5, 'Approve is among the first things that Tab reaches');
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await heading(page, 'Paid');
  assertQuiet(page);
});

test('without script everything works', async () => {
  const made = await session();
  const page = await tab({ javaScriptEnabled: false });
  await openForm(page, made.url);
  assert.equal(await page.getByRole('button', { name: /^Use / }).count(), 0, 'they need script');
  await submitCard(page, CARD.declined);
  await page.getByRole('alert').waitFor();
  await submitCard(page, CARD.pays);
  await heading(page, 'Paid');
  assert.equal((await poll(made)).status, 'completed');
});

test('cancelling leads back to the link, which can still be paid', async () => {
  const made = await session({ feature: 'topup', amount_minor: 1500 });
  const page = await tab();
  await openForm(page, made.url);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.waitForURL(made.url);
  await openForm(page, made.url);
  await submitCard(page, CARD.pays);
  await heading(page, 'Paid');
  assert.match(await page.innerText('main'), /added to your account/);
  assertQuiet(page);
});

test('the QR codes of the page and of the API lead to the link', async () => {
  const made = await session();
  assert.equal(readBlocks(made.qr), made.url);
  const reader = await tab();
  for (const colorScheme of ['light', 'dark']) {
    const page = await tab({ viewport: { width: 1280, height: 800 }, colorScheme });
    await page.goto(made.url);
    assert.equal(await readPicture(reader, await page.locator('svg.qr').screenshot()), made.url, colorScheme);
    assertQuiet(page);
  }
  const phone = await tab({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await phone.goto(made.url);
  assert.ok(!(await phone.locator('svg.qr').isVisible()), 'a phone cannot scan its own screen');
});

// Gives the program a terminal and passes on what it prints there.
const TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

test('dropleaf pay shows a code on a terminal, waits, and saves the key', async () => {
  const env = { PATH: process.env.PATH, HOME: home, DROPLEAF_URL: server.url, TERM: 'xterm-256color' };
  const child = spawn('python3', ['-c', TERMINAL, BINARY, 'pay'], { cwd: home, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (shown += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  await until('the progress line', () => shown.includes('Waiting for the payment…'));
  const plain = shown.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').replaceAll('\r', '');
  const url = plain.match(/open {2}(\S+)/)[1];
  const code = plain.split('\n').filter((line) => /^[ ▀▄█]+$/.test(line));
  assert.equal(readBlocks(code.join('\n')), url);
  const page = await tab();
  await openForm(page, url);
  await submitCard(page, CARD.pays);
  await heading(page, 'Paid');
  assert.equal(await ended, 0, shown);
  assert.match(shown, /Paid \$1\.00\. You have a new account .* The key was saved in /);
  assert.ok(!shown.includes('stk_live_'));
});

test('it looks right and is accessible in light and dark, on a desk and on a phone', async () => {
  for (const { name, ...view } of VIEWS) {
    const isPhone = name.startsWith('phone');
    const page = await tab({ ...view, hasTouch: isPhone, isMobile: isPhone });
    const look = async (what, at = page) => {
      await at.screenshot({ path: path.join(OUTPUT, `pay-${what}-${name}.png`), fullPage: true });
      await assertAccessible(at, `${what} ${name}`);
      const isWide = await at.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!isWide, `${what} ${name} scrolls sideways`);
    };
    const made = await session();
    await page.goto(made.url);
    await look('ready');
    await openForm(page, made.url);
    await look('form');
    await submitCard(page, CARD.declined);
    await page.getByRole('alert').waitFor();
    await look('declined');
    await submitCard(page, CARD.authenticates);
    await heading(page, 'Approve this test payment?');
    await look('authentication');
    await page.getByRole('button', { name: 'Approve' }).click();
    await heading(page, 'Paid');
    await look('paid');
    const stalled = await session({ feature: 'make_permanent' });
    const stalling = await openPage(page.context());
    await openForm(stalling, stalled.url);
    await submitCard(stalling, CARD.stalls);
    await heading(stalling, 'Your payment is being processed');
    await stalling.close();
    const processing = await openPage(page.context());
    await processing.route(stalled.url, withoutRefresh);
    await processing.goto(stalled.url);
    await look('processing', processing);
    assertQuiet(processing);
    const late = await session({ feature: 'topup' });
    await expire();
    await page.goto(late.url);
    await heading(page, 'This payment link has expired');
    await look('expired');
    assertQuiet(page);
  }
});
