// The operator's day in a real browser: a report comes in, the page is looked at and taken down, another is left alone.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT, pictureFile } from './browser.mjs';
import { publish, request } from './http.mjs';
import { writePayments } from './money.mjs';
import { signIn } from './people.mjs';
import * as samples from './samples.mjs';
import { command, operatorKey, startServer } from './server.mjs';

const WIDE = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' };

let server, browser, context, bad, fine;

async function report(site, fields) {
  const body = new URLSearchParams(fields).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await request(server, { method: 'POST', path: `${site.path}_dropleaf/report`, headers, body });
  assert.equal(answer.status, 200);
}

before(async () => {
  server = await startServer();
  browser = await launch();
  const key = await command(server, 'account', 'create', 'owner@example.org');
  await operatorKey(server);
  bad = await publish(server, { name: 'page.html', bytes: samples.html('Your bank: confirm your card'), key });
  fine = await publish(server, { name: 'page.html', bytes: samples.html('Orchard report') });
  await report(fine, { reason: 'other', comment: 'I do not like pears.' });
  await report(bad, { reason: 'phishing', comment: 'It asks for my card number in the name of my bank.', contact: 'ada@example.org' });
  await report(bad, { reason: 'phishing', comment: '<script>window.hacked = true</script>' });
  context = await browser.newContext(WIDE);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('a reported page is taken down and another one stays', async () => {
  const page = await openPage(context);
  await signIn(page, server, 'operator@localhost', '/operator');
  await page.getByRole('link', { name: 'Reports' }).click();
  await page.screenshot({ path: pictureFile('reports') });
  const cases = page.getByRole('article');
  assert.equal(await cases.count(), 2);
  const first = cases.filter({ hasText: 'Your bank' });
  assert.ok(await first.getByText('It impersonates someone × 2').count());
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  // The address is there to be read, but no link leads to it.
  assert.ok(await first.getByText(bad.url).count());
  assert.equal(await first.locator(`a[href^="${bad.url}"]`).count(), 0);

  await first.getByLabel('Reason for takedown').fill('It pretends to be a bank.');
  page.once('dialog', (dialog) => dialog.accept());
  await first.getByRole('button', { name: 'Take down' }).click();
  await page.getByRole('status').waitFor();
  const gone = await openPage(await browser.newContext());
  assert.equal((await gone.goto(bad.url)).status(), 410);
  assert.equal(await gone.textContent('h1'), 'This page was taken down');

  page.once('dialog', (dialog) => dialog.accept());
  await cases.filter({ hasText: 'Orchard' }).getByRole('button', { name: 'dismiss' }).click();
  await page.getByText('No open reports').waitFor();
  assert.equal((await request(server, { path: fine.path })).status, 200);

  await page.getByRole('navigation', { name: 'Operator' }).getByRole('link', { name: 'Overview' }).click();
  await page.getByText('It pretends to be a bank.').waitFor();
  await page.screenshot({ path: pictureFile('operator') });
  assert.deepEqual(page.complaints, []);
});

test('an account is found and moved to another plan, without script on a phone', async () => {
  const phone = await browser.newContext({ javaScriptEnabled: false, ...PHONE });
  const page = await openPage(phone);
  await signIn(page, server, 'operator@localhost', '/operator/accounts');
  await page.getByRole('searchbox').fill('owner@');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByLabel('Plan for owner@example.org').selectOption('pro');
  await page.getByRole('button', { name: 'Set plan' }).click();
  await page.getByText('Plan changed.').waitFor();
  await page.screenshot({ path: path.join(OUTPUT, 'operator-accounts-phone-dark.png'), fullPage: true });
  assert.match(await command(server, 'account', 'list'), /owner@example\.org\s+pro/);
  for (const name of ['', '/reports']) {
    await page.goto(`${server.url}/operator${name}`);
    await page.screenshot({ path: path.join(OUTPUT, `operator${name.replace('/', '-')}-phone-dark.png`), fullPage: true });
  }
  await phone.close();
});

test('money is looked at and a payment is decided on by hand', async () => {
  const solana = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
  const [day, hash] = [86_400, `0x${'5c'.repeat(32)}`];
  await writePayments(server, [
    { id: 'pay_1', item: 'publish', state: 'fulfilled', amount: 500_000, ago: 40 * day, transaction: hash },
    { id: 'pay_2', item: 'publish', state: 'fulfilled', amount: 500_000, ago: 60, transaction: hash },
    { id: 'pay_3', item: 'provision', state: 'fulfilled', amount: 1_000_000, ago: 3 * day, network: solana, transaction: '5'.repeat(88) },
    { id: 'pay_4', item: 'higher_limits', state: 'refused', amount: 25_000_000, ago: 2 * day, reason: 'insufficient_funds' },
    { id: 'pay_5', item: 'publish', state: 'unknown', amount: 500_000, ago: 7300, reason: 'timeout' },
    { id: 'pay_6', item: 'publish', state: 'settling', amount: 500_000, ago: 5, valid: 180 },
  ]);
  await command(server, 'account', 'credit', 'owner@example.org', '--amount', '10.00', '--reason', 'an outage of ours');
  assert.match(await command(server, 'ledger', 'audit'), /^Ledger check passed: 4 transactions/);
  const page = await openPage(context);
  await page.goto(`${server.url}/operator/payments`);
  const row = page.getByRole('row', { name: 'base' });
  assert.match(await row.innerText(), /0\.50\s+0\.50\s+1\.00/);
  await page.screenshot({ path: pictureFile('money'), fullPage: true });
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download CSV' }).click()]);
  assert.match(file.suggestedFilename(), /^revenue-\d{4}-\d{2}-to-\d{4}-\d{2}\.csv$/);
  assert.match(await readFile(await file.path(), 'utf8'), /^month,rail,item,currency,payments,gross,returned,net\r\n(\d{4}-\d{2},x402,\w+,USDC,\d+,[\d.]+,0\.00,[\d.]+\r\n){3}$/);
  await page.getByRole('region', { name: 'Open payments' }).getByRole('link', { name: '0.50 USDC for publish' }).first().click();
  await page.getByText('The outcome of the payment is unknown').waitFor();
  await page.screenshot({ path: path.join(OUTPUT, 'payment.png'), fullPage: true });
  await page.getByLabel('How you know').fill('The nonce is unused.');
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Mark as not settled' }).click();
  await page.getByText('Payment marked as not settled.').waitFor();
  assert.match(await command(server, 'payments', 'show', 'pay_5'), /state\s+refused/);
  assert.deepEqual(page.complaints, []);

  const phone = await browser.newContext({ javaScriptEnabled: false, ...PHONE });
  const small = await openPage(phone);
  await signIn(small, server, 'operator@localhost', '/operator/payments');
  for (const [name, at] of [['money', ''], ['payment', '/pay_6']]) {
    await small.goto(`${server.url}/operator/payments${at}`);
    await small.screenshot({ path: path.join(OUTPUT, `${name}-phone-dark.png`), fullPage: true });
    const { width, scroll } = await small.evaluate(() => ({ width: innerWidth, scroll: document.documentElement.scrollWidth }));
    assert.ok(scroll <= width, `${name} is wider than the phone: ${scroll}`);
  }
  await phone.close();
});

test('the front page is photographed', async () => {
  for (const [name, view] of [['landing', WIDE], ['landing-dark', { ...WIDE, colorScheme: 'dark' }], ['landing-phone-dark', PHONE]]) {
    const page = await openPage(await browser.newContext(view));
    await page.goto(server.url);
    await page.screenshot({ path: pictureFile(name), fullPage: name !== 'landing' });
    await page.goto(`${server.url}/design-guide`);
    await page.screenshot({ path: path.join(OUTPUT, `design-guide-${name}.png`) });
    await page.context().close();
  }
});
