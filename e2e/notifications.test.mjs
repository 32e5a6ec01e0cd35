// Emails to owners, from the real binary: what waits survives a kill, is sent once, and its link ends the emails.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile } from './browser.mjs';
import { api, publish, request } from './http.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer, tempDir, until } from './server.mjs';

let server, browser, key, call, dataDir, link;

before(async () => {
  dataDir = await tempDir('notifications');
  server = await startServer({ dataDir });
  browser = await launch();
  key = await operatorKey(server);
  call = api(server, key);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** The emails about comments that were sent. */
async function emails() {
  const outbox = path.join(dataDir, 'outbox');
  const names = (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith('.eml'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(outbox, name), 'utf8')));
  return texts.filter((text) => text.includes('new comment'));
}

test('a comment is emailed once, though the server was killed after it was stored', async () => {
  await call('PATCH', '/me', { notify: 'instant' });
  const site = await publish(server, { name: 'page.html', bytes: samples.html('Commented'), fields: { agentation: 'true' }, key });
  const response = await fetch(`${server.siteUrl}${site.path}_dropleaf/feedback`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ comment: 'A private remark' }),
  });
  assert.equal(response.status, 201, await response.text());
  await server.kill();
  assert.equal((await emails()).length, 0);
  server = await startServer({ dataDir, port: server.port });
  // Emails are sent every 30 seconds.
  const [text] = await until('the email', async () => { const sent = await emails(); return sent.length > 0 && sent; });
  assert.ok(text.includes('Subject: 1 new comment on 1 page') && !text.includes('private remark'), text);
  link = text.match(/^Unsubscribe: (.*)\r$/m)[1];
  assert.ok(text.includes(`List-Unsubscribe: <${link}>`), text);
});

test('the link shows a form on every screen, unsubscribes by its button, and undoes it', async () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const viewport of [{ width: 1280, height: 900 }, { width: 390, height: 844 }]) {
      const context = await browser.newContext({ colorScheme, viewport });
      const page = await openPage(context);
      await page.goto(link);
      await assertAccessible(page, `unsubscribe, ${colorScheme}, ${viewport.width}`);
      await page.screenshot({ path: pictureFile(`unsubscribe-${colorScheme}-${viewport.width}`) });
      await context.close();
    }
  }
  assert.equal((await call('GET', '/me')).notify, 'instant', 'opening it changes nothing');
  const page = await openPage(await browser.newContext({ javaScriptEnabled: false }));
  await page.goto(link);
  await page.getByRole('button', { name: 'Unsubscribe' }).click();
  await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
  assert.equal((await call('GET', '/me')).notify, 'off');
  await page.screenshot({ path: pictureFile('unsubscribed') });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { name: 'Emails are turned on' }).waitFor();
  assert.equal((await call('GET', '/me')).notify, 'instant');
  await page.context().close();
  const address = new URL(link);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await request(server, { method: 'POST', path: address.pathname, headers, body: 'List-Unsubscribe=One-Click' });
  assert.equal(answer.status, 200);
  assert.equal((await call('GET', '/me')).notify, 'off');
});
