// The operator's day in a real browser: a report comes in, the page is looked at and taken down, another is left alone.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT, pictureFile } from './browser.mjs';
import { publish, request } from './http.mjs';
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
  assert.ok(await first.getByText('It pretends to be somebody else × 2').count());
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  const link = first.getByRole('link');
  assert.equal(await link.getAttribute('rel'), 'noreferrer noopener');
  assert.equal(await link.getAttribute('href'), bad.url);

  await first.getByLabel('Why it goes').fill('It pretends to be a bank.');
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
  await page.getByLabel('Plan of owner@example.org').selectOption('pro');
  await page.getByRole('button', { name: 'Set plan' }).click();
  await page.getByText('The account is on its new plan.').waitFor();
  await page.screenshot({ path: path.join(OUTPUT, 'operator-accounts-phone-dark.png'), fullPage: true });
  assert.match(await command(server, 'account', 'list'), /owner@example\.org\s+pro/);
  for (const name of ['', '/reports']) {
    await page.goto(`${server.url}/operator${name}`);
    await page.screenshot({ path: path.join(OUTPUT, `operator${name.replace('/', '-')}-phone-dark.png`), fullPage: true });
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
