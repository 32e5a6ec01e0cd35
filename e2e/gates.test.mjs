// The gates of a page in a real browser: a password, a code by e-mail, with and without script, at desk and phone width.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT, pictureFile } from './browser.mjs';
import { publish, request } from './http.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer, until } from './server.mjs';

const DESK = { viewport: { width: 1120, height: 720 }, colorScheme: 'light' };
const PHONE = { viewport: { width: 390, height: 780 }, colorScheme: 'dark', isMobile: true, hasTouch: true };
const PASSWORD = 'correct horse';

let server, browser, key;

before(async () => {
  server = await startServer();
  key = await operatorKey(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const locked = (title, fields = { password: PASSWORD }) =>
  publish(server, { name: 'page.html', bytes: samples.html(title), fields, key });

async function picture(page, name) {
  await page.screenshot({ path: pictureFile(name), caret: 'hide' });
}

/** Submits the form of a gate and gives the answer to the page that follows. */
async function submit(page, field, text) {
  await page.fill(`input[name=${field}]`, text);
  const [response] = await Promise.all([page.waitForNavigation(), page.click('button')]);
  return response;
}

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
const cookies = async (page) => (await page.context().cookies()).map((cookie) => cookie.name);

for (const [width, options] of Object.entries({ desktop: DESK, 'phone-dark': PHONE })) {
  test(`a wrong password is told and the right one opens the page (${width})`, async () => {
    const site = await locked('Behind the gate');
    const page = await openPage(await browser.newContext(options));
    const asked = await page.goto(`${site.url}?chapter=2#part`);
    assert.equal(asked.status(), 401);
    assert.equal(await page.textContent('h1'), 'This page requires a password');
    assert.ok(await page.getByLabel('Password').evaluate((field) => field === document.activeElement), 'ready to type');
    if (width === 'desktop') await picture(page, 'gate-desktop');

    const wrong = await submit(page, 'password', 'battery staple');
    assert.equal(wrong.status(), 401);
    assert.match(await page.textContent('[role=alert]'), /Wrong password/);
    assert.equal(await page.inputValue('input[name=password]'), '');
    assert.deepEqual(await cookies(page), []);
    if (width !== 'desktop') await picture(page, 'gate-phone-dark');
    assert.ok((await overflow(page)) <= 0);

    const right = await submit(page, 'password', PASSWORD);
    assert.equal(right.status(), 200);
    assert.equal(await page.textContent('h1'), 'Behind the gate');
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, `${site.path}?chapter=2`);
    assert.deepEqual(await cookies(page), ['__Host-g']);
    assert.equal((await page.reload()).status(), 200);
    // Followed from elsewhere, the link opens without another question.
    const again = await page.context().newPage();
    assert.equal((await again.goto(site.url)).status(), 200);
    const unloaded = page.complaints.filter((text) => !/401 \(Unauthorized\)/.test(text));
    assert.deepEqual(unloaded, []);
  });
}

test('the gate works without script', async () => {
  const site = await locked('No script needed');
  const page = await openPage(await browser.newContext({ ...PHONE, javaScriptEnabled: false }));
  assert.equal((await page.goto(site.url)).status(), 401);
  assert.equal((await submit(page, 'password', 'wrong')).status(), 401);
  assert.equal((await submit(page, 'password', PASSWORD)).status(), 200);
  assert.equal(await page.textContent('h1'), 'No script needed');
});

test('after too many attempts the page says how long to wait', async () => {
  const site = await locked('Guessed');
  const page = await openPage(await browser.newContext(PHONE));
  await page.goto(site.url);
  for (let n = 0; n < 5; n += 1) await submit(page, 'password', `guess ${n}`);
  const refused = await submit(page, 'password', PASSWORD);
  assert.equal(refused.status(), 429);
  assert.match(await page.textContent('[role=alert]'), /Too many attempts\. Wait (\d+ seconds|a second), then try again\./);
  assert.equal(await page.locator('input[name=password]').count(), 1);
});

test('a gated site of many files works with all its parts', async () => {
  const site = await publish(server, {
    name: 'application.zip',
    bytes: await samples.application(),
    fields: { password: PASSWORD },
    key,
  });
  const page = await openPage(await browser.newContext(DESK));
  await page.goto(site.url);
  assert.equal((await submit(page, 'password', PASSWORD)).status(), 200);
  await page.waitForFunction(() => window.report);
  const report = await page.evaluate(() => window.report);
  assert.deepEqual(
    { module: report.module, json: report.json, localStorage: report.localStorage, font: report.font, worker: report.worker },
    { module: 'imported', json: 42, localStorage: 'kept', font: 1, worker: 21 },
  );
  const stranger = await openPage(await browser.newContext(DESK));
  const origin = new URL(page.url()).origin;
  for (const part of ['assets/main.js', 'data/values.json', 'docs/', 'missing']) {
    assert.equal((await stranger.goto(`${origin}${site.path}${part}`)).status(), 401, part);
  }
});

test('the form of another page opens nothing', async () => {
  const site = await locked('Target');
  const page = await openPage(await browser.newContext(DESK));
  await page.goto(site.url);
  const gate = page.url() + '_dropleaf/gate';
  const form = `<form method="post" action="${gate}"><input name="password" value="${PASSWORD}"><button>Win</button></form>`;
  const trap = await publish(server, { name: 'trap.html', bytes: samples.html('Trap', form), key });
  await page.goto(trap.url);
  const [refused] = await Promise.all([page.waitForNavigation(), page.click('button')]);
  assert.equal(refused.status(), 403);
  assert.equal(await page.textContent('h1'), 'Request blocked');
  assert.deepEqual(await cookies(page), []);
});

test('a gated page is not shown in the frame of another', async () => {
  const site = await locked('Framed');
  const page = await openPage(await browser.newContext(DESK));
  await page.goto(site.url);
  await submit(page, 'password', PASSWORD);
  const inner = page.url();
  const frame = await publish(server, { name: 'frame.html', bytes: samples.html('Frame', `<iframe src="${inner}"></iframe>`), key });
  await page.goto(frame.url);
  await until('the refusal', async () => page.complaints.some((text) => /frame-ancestors|X-Frame-Options/i.test(text)));
  assert.equal(await page.frameLocator('iframe').getByText('Framed').count(), 0);
});

async function letters() {
  const outbox = path.join(server.dataDir, 'outbox');
  const names = await readdir(outbox).catch(() => []);
  return Promise.all(names.filter((name) => name.endsWith('.eml')).map((name) => readFile(path.join(outbox, name), 'utf8')));
}

for (const [width, options] of Object.entries({ desktop: DESK, 'phone-dark': PHONE })) {
  test(`a code by e-mail opens the page (${width})`, async () => {
    const site = await locked('For colleagues', { email_gate_domain: 'example.org' });
    const address = `ann.${width}@example.org`;
    const page = await openPage(await browser.newContext({ ...options, javaScriptEnabled: width === 'desktop' }));
    assert.equal((await page.goto(site.url)).status(), 401);
    assert.equal(await page.textContent('h1'), 'This page requires your email address');
    await page.screenshot({ path: path.join(OUTPUT, `code-address-${width}.png`) });
    assert.equal((await submit(page, 'email', address)).status(), 200);
    assert.equal(await page.textContent('h1'), 'Enter the code from the email');
    const letter = await until('the letter', async () => (await letters()).find((text) => text.includes(`To: ${address}`)));
    const code = letter.match(/Your code is (\d{4} \d{4})/)[1];
    const wrong = code.startsWith('1') ? '2000 0000' : '1000 0000';
    assert.equal((await submit(page, 'code', wrong)).status(), 401);
    assert.match(await page.textContent('[role=alert]'), /Wrong code/);
    await picture(page, `code-${width}`);
    assert.ok((await overflow(page)) <= 0);
    assert.equal((await submit(page, 'code', code)).status(), 200);
    assert.equal(await page.textContent('h1'), 'For colleagues');
    assert.deepEqual(await cookies(page), ['__Host-e']);
  });
}

test('a stranger sees the same page and gets no letter', async () => {
  const site = await locked('Not for you', { email_gate_domain: 'example.org' });
  const page = await openPage(await browser.newContext(DESK));
  await page.goto(site.url);
  assert.equal((await submit(page, 'email', 'eve@evil.example')).status(), 200);
  assert.equal(await page.textContent('h1'), 'Enter the code from the email');
  await page.click('text=enter your address again');
  assert.equal((await submit(page, 'email', 'bob@example.org')).status(), 200);
  await until('the letter', async () => (await letters()).some((text) => text.includes('To: bob@example.org')));
  assert.ok(!(await letters()).some((text) => text.includes('evil.example')));
});

test('the password comes first and the address second', async () => {
  const site = await locked('Both', { password: PASSWORD, email_gate_domain: 'example.org' });
  const page = await openPage(await browser.newContext(PHONE));
  await page.goto(site.url);
  assert.equal((await submit(page, 'password', PASSWORD)).status(), 401);
  assert.equal(await page.textContent('h1'), 'This page requires your email address');
  await submit(page, 'email', 'both@example.org');
  const letter = await until('the letter', async () => (await letters()).find((text) => text.includes('To: both@example.org')));
  assert.equal((await submit(page, 'code', letter.match(/Your code is (\d{4} \d{4})/)[1])).status(), 200);
  assert.equal(await page.textContent('h1'), 'Both');
});

test('the key of an encrypted page survives its gate', async () => {
  const bytes = Buffer.from(Array.from({ length: 64 }, (_, n) => (n * 167 + 13) % 256));
  const site = await publish(server, { name: 'payload', bytes, fields: { password: PASSWORD, e2e: 'true' }, key });
  const page = await openPage(await browser.newContext(DESK));
  await page.goto(`${site.url}#k=secret-key`);
  await submit(page, 'password', 'wrong');
  await submit(page, 'password', PASSWORD);
  assert.equal(new URL(page.url()).pathname, site.path);
  assert.equal(new URL(page.url()).hash, '#k=secret-key');
  assert.deepEqual(page.complaints.filter((text) => /Content.Security.Policy/i.test(text)), []);
  const plain = await request(server, { path: site.path, headers: { authorization: `Basic ${btoa(`x:${PASSWORD}`)}` } });
  assert.ok(plain.bytes.equals(bytes));
});
