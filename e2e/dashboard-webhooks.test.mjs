// Webhooks in the dashboard, in a real browser: adding one, the secret that is shown once, test events, a receiver that
// fails, retrying, changing, pausing and deleting; on a desk and on a phone.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import { startServer, until } from './server.mjs';

let server, browser, cookie, receiver;
const received = [];
let status = 204;

before(async () => {
  server = await startServer({ env: { DROPLEAF_WEBHOOKS__ALLOW_LOOPBACK: 'true', DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  receiver = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ id: request.headers['webhook-id'], path: request.url, ...JSON.parse(body) });
    response.writeHead(status).end();
  });
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  browser = await launch();
  cookie = await sessionOf(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  receiver?.closeAllConnections();
  receiver?.close();
});

const address = (path) => `http://127.0.0.1:${receiver.address().port}${path}`;

async function owner(view) {
  const page = await openPage(await browser.newContext(view));
  await takeCookie(page, cookie);
  page.on('dialog', (dialog) => dialog.accept());
  return page;
}

/** Presses a button and waits for the page that answers; loading another one before that would give up the form. */
async function press(page, button) {
  const loaded = page.waitForEvent('load');
  await page.click(button);
  await loaded;
}

/** Reloads the page until the newest delivery says this. */
const newest = (page, words) => until(`the delivery to say ${words}`, async () => {
  await page.reload();
  return (await page.textContent('#deliveries .rows > li:first-child')).includes(words);
}, { every: 200 });

async function judge(page, name) {
  for (const { name: view, viewport, colorScheme } of VIEWS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await assertAccessible(page, `${name} ${view}`);
    assertReadable(await page.evaluate(examine), `${name} ${view}`);
    await page.screenshot({ path: pictureFile(`${name}-${view}`), fullPage: true });
  }
}

test('a person adds a webhook, tries it, works off a failure, changes and deletes it', async () => {
  const page = await owner();
  await page.goto(`${server.url}/dashboard/webhooks`);
  await page.fill('#url', 'http://hooks.example.com/');
  await page.check('input[value="feedback.created"]');
  await press(page, 'button:has-text("Add webhook")');
  assert.match(await page.textContent('#outcome'), /must begin with https/);
  assert.ok(await page.isChecked('input[value="feedback.created"]'), 'what was chosen is kept');
  await page.fill('#url', address('/first'));
  await page.fill('#description', 'Build server');
  await press(page, 'button:has-text("Add webhook")');
  assert.match(await page.textContent('#new-secret'), /^whsec_/);
  await judge(page, 'webhook-secret');
  await press(page, 'a:has-text("I\'ve saved it")');
  assert.equal(await page.locator('#new-secret').count(), 0);

  await press(page, 'button:has-text("Send test event")');
  await page.waitForSelector('#deliveries .done');
  await until('the message', () => received.length === 1);
  assert.equal(received[0].type, 'webhook.test');
  await newest(page, 'Delivered');
  status = 500;
  await press(page, 'button:has-text("Send test event")');
  await newest(page, 'Retrying');
  await judge(page, 'webhook-deliveries');
  status = 204;
  await press(page, '#deliveries .rows > li:first-child button:has-text("Retry")');
  await newest(page, 'Delivered');
  assert.equal(received.at(-1).id, received.at(-2).id, 'it is the same message');

  await page.click('summary:has-text("Change")');
  await page.fill('#url', address('/second'));
  await page.check('input[value="site.expiring"]');
  await page.click('#webhook button:has-text("Save")');
  await page.waitForSelector('#webhook .done');
  assert.match(await page.textContent('#webhook .facts'), /feedback\.created, site\.expiring/);
  await press(page, 'button:has-text("Send test event")');
  await until('the message at the other address', () => received.at(-1).path === '/second');

  await press(page, 'button:has-text("Rotate secret")');
  await page.waitForSelector('#new-secret');
  await page.goto(page.url().replace(/\/rotate.*/, ''));
  await page.click('button:has-text("Pause")');
  await page.waitForSelector('#webhook .done:has-text("paused")');
  assert.ok(await page.isDisabled('button:has-text("Send test event")'));
  await page.goto(`${server.url}/dashboard/webhooks`);
  assert.match(await page.textContent('#webhooks .rows'), /Paused/);
  await judge(page, 'webhooks');
  await page.click('#webhooks a:has-text("Manage")');
  await press(page, 'button:has-text("Delete webhook")');
  await page.waitForSelector('#webhooks .done');
  assert.match(await page.textContent('#webhooks'), /No webhooks yet/);
  assert.deepEqual(page.complaints.filter((text) => !/400/.test(text)), []);
});

test('without a script everything works too', async () => {
  const page = await owner({ javaScriptEnabled: false });
  const count = received.length;
  await page.goto(`${server.url}/dashboard/webhooks`);
  await page.fill('#url', address('/plain'));
  await press(page, 'button:has-text("Add webhook")');
  assert.match(await page.textContent('#new-secret'), /^whsec_/);
  await press(page, 'button:has-text("Send test event")');
  await until('the message', () => received.length > count);
  await newest(page, 'Delivered');
  await press(page, 'button:has-text("Delete webhook")');
  assert.match(await page.textContent('#webhooks'), /Webhook deleted\./);
});
