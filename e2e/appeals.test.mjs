// An appeal in a real browser: a page that was refused is looked at without running, and let in.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT } from './browser.mjs';
import { multipart, request } from './http.mjs';
import { signIn } from './people.mjs';
import { operatorKey, startServer } from './server.mjs';

const PAGE = `<!doctype html><title>PayPal login</title><h1>Log in to PayPal</h1>
<form action="/elsewhere"><label>Password <input type=password name=p></label><button>Log in</button></form>
<script>document.title = 'it ran'; parent.hacked = true;</script>`;

let server, browser, key;

async function send(to, fields, key) {
  const form = await multipart({ fields, file: { name: 'page.html', bytes: PAGE } });
  return request(server, { method: 'POST', path: to, headers: form.headers, body: form.body, key });
}

before(async () => {
  server = await startServer();
  browser = await launch();
  key = await operatorKey(server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('a refused page is looked at, allowed with a word, and published', async () => {
  assert.equal((await send('/sites', {}, key)).status, 422);
  const sent = await send('/appeals', { comment: 'A drill for our own staff. The form goes nowhere.', contact: 'sam@example.org' });
  assert.equal(sent.status, 201);
  const appeal = sent.json();

  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await openPage(context);
  await signIn(page, server, 'operator@localhost', '/operator');
  await page.getByRole('navigation', { name: 'Operator' }).getByRole('link', { name: 'Appeals' }).click();
  await page.getByText('A drill for our own staff').waitFor();
  await page.screenshot({ path: path.join(OUTPUT, 'appeals.png'), fullPage: true });
  await page.getByRole('link', { name: 'PayPal login' }).click();
  const frame = page.frameLocator('iframe');
  await frame.getByRole('heading', { name: 'Log in to PayPal' }).waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined, 'its script did not run');
  await page.screenshot({ path: path.join(OUTPUT, 'appeal.png'), fullPage: true });
  const phone = await openPage(await browser.newContext({
    viewport: { width: 390, height: 844 }, colorScheme: 'dark', storageState: await context.storageState(),
  }));
  await phone.goto(page.url());
  await phone.frameLocator('iframe').getByRole('heading', { name: 'Log in to PayPal' }).waitFor();
  await phone.screenshot({ path: path.join(OUTPUT, 'appeal-phone-dark.png'), fullPage: true });
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it fits a phone');

  await page.getByLabel('Reply to the publisher').fill('A drill: fine.');
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Allow content' }).click();
  await page.getByText('No open appeals').waitFor();
  await page.getByRole('region', { name: 'Recently decided' }).getByText('A drill: fine.').waitFor();
  await page.screenshot({ path: path.join(OUTPUT, 'appeals-decided.png'), fullPage: true });
  const status = await request(server, { path: new URL(appeal.status_url).pathname });
  assert.equal(status.json().answer, 'A drill: fine.');
  assert.equal((await send('/sites', {}, key)).status, 201);
});
