// API keys in the dashboard: made, copied, used by a program, revoked.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT, pictureFile } from './browser.mjs';
import { request, upload } from './http.mjs';
import { signIn } from './people.mjs';
import * as samples from './samples.mjs';
import { startServer } from './server.mjs';


let server, browser;

before(async () => {
  server = await startServer();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('a key is made, shown once, works, and stops working when it is revoked', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await openPage(context);
  await signIn(page, server, 'ada@example.org', '/dashboard/keys');
  await page.getByLabel('Name').fill('build server');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.locator('#new-key').textContent();
  assert.match(key, /^stk_live_[0-9A-Za-z]{36}$/);
  assert.equal(page.url(), `${server.url}/dashboard/keys`, 'the address does not hold it');
  await page.getByRole('button', { name: 'Copy key' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key);

  const made = await upload(server, { name: 'page.html', bytes: samples.html('By key'), key });
  assert.equal(made.status, 201);
  await page.getByRole('link', { name: "I've saved it" }).click();
  await page.getByText('build server').first().waitFor();
  assert.equal(await page.getByText(key).count(), 0, 'it is shown once');
  assert.ok(await page.getByText('last used').count());
  await page.screenshot({ path: pictureFile('keys') });

  page.once('dialog', (dialog) => dialog.dismiss());
  await page.getByRole('button', { name: 'Revoke build server' }).click();
  assert.equal((await request(server, { path: '/me', key })).status, 200, 'nothing happens unless it is confirmed');
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Revoke build server' }).click();
  await page.getByRole('status').waitFor();
  assert.equal((await request(server, { path: '/me', key })).status, 401);
  assert.deepEqual(page.complaints, []);
  await context.close();
});

test('it works without script, on a phone in the dark', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  const page = await openPage(context);
  await signIn(page, server, 'grace@example.org', '/dashboard/keys');
  await page.getByLabel('Name').fill('phone');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.locator('#new-key').textContent();
  await page.screenshot({ path: path.join(OUTPUT, 'keys-new-phone-dark.png'), fullPage: true });
  assert.equal((await request(server, { path: '/me', key })).status, 200);
  await page.getByRole('link', { name: "I've saved it" }).click();
  await page.getByRole('button', { name: 'Revoke phone' }).click();
  await page.getByText('No keys yet').waitFor();
  assert.equal((await request(server, { path: '/me', key })).status, 401);
  await context.close();
});
