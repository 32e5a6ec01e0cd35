// A program asks a person for access in a real browser: sign-in on the way, consent, the code, and refusals. The pictures
// are those of the manual.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT, pictureFile } from './browser.mjs';
import { signIn } from './people.mjs';
import { startServer } from './server.mjs';

const EMAIL = 'ada@example.org';
const VIEWS = {
  'desktop-light': { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  'desktop-dark': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  'phone-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  'phone-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
};

let server, browser, callback;

/** The program's own end: a server on a port of its own that takes the answer. */
function listen() {
  const arrived = [];
  const listener = http.createServer((request, response) => {
    if (request.url.startsWith('/callback')) arrived.push(request);
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Back in the program</title><h1>You can close this</h1>');
  });
  return new Promise((resolve) => {
    listener.listen(0, '127.0.0.1', () => {
      const uri = `http://127.0.0.1:${listener.address().port}/callback`;
      resolve({ arrived, uri, close: () => listener.close() });
    });
  });
}

before(async () => {
  server = await startServer();
  browser = await launch();
  callback = await listen();
});
after(async () => {
  callback?.close();
  await browser?.close();
  await server?.stop();
});

async function post(pathname, body, json = false) {
  const response = await fetch(server.url + pathname, {
    method: 'POST',
    headers: { 'content-type': json ? 'application/json' : 'application/x-www-form-urlencoded' },
    body: json ? JSON.stringify(body) : new URLSearchParams(body),
  });
  return { status: response.status, json: await response.json().catch(() => null) };
}

/** A program that has registered: where it sends its person, and how it trades in the code. */
async function program(name = 'Report Writer') {
  const { json } = await post(
    '/oauth/register',
    // Registered without a port: it takes any that is free.
    { client_name: name, redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' },
    true,
  );
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const url = new URL('/oauth/authorize', server.url);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: json.client_id,
    redirect_uri: callback.uri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    scope: 'sites:read sites:write',
    resource: `${server.url}/mcp`,
  });
  const trade = (code) =>
    post('/oauth/token', { grant_type: 'authorization_code', client_id: json.client_id, code, code_verifier: verifier, redirect_uri: callback.uri });
  return { url: url.href, state, trade };
}

const me = (token) => fetch(`${server.url}/me`, { headers: { authorization: `Bearer ${token}` } });
const answered = () => new URL(callback.arrived.at(-1).url, callback.uri).searchParams;

test('a person signs in on the way, agrees, and the program gets in', async () => {
  const page = await openPage(await browser.newContext(VIEWS['desktop-light']));
  const { url, state, trade } = await program();
  await page.goto(url);
  assert.equal(new URL(page.url()).pathname, '/login', 'an anonymous visitor signs in first');
  const next = new URL(page.url()).searchParams.get('next');
  await signIn(page, server, EMAIL, next);
  assert.equal(await page.textContent('h1'), 'Allow Report Writer to access your account?');
  for (const text of [EMAIL, new URL(callback.uri).host, 'Unverified app', 'Publish, change and delete pages on your behalf']) {
    assert.ok(await page.getByText(text).first().isVisible(), text);
  }
  await page.screenshot({ path: pictureFile('consent'), fullPage: true });
  await page.getByRole('button', { name: 'Allow access' }).click();
  await page.waitForURL(`${callback.uri}?**`);
  const told = answered();
  assert.equal(told.get('state'), state);
  assert.equal(told.get('iss'), server.url);
  const { status, json } = await trade(told.get('code'));
  assert.equal(status, 200);
  assert.equal((await (await me(json.access_token)).json()).email, EMAIL);
  const referrer = callback.arrived.at(-1).headers.referer;
  assert.ok(!referrer, 'where the person came from is not told');
  assert.equal(callback.arrived.at(-1).method, 'GET');

  await page.goto(`${server.url}/dashboard/apps`);
  assert.ok(await page.getByRole('heading', { name: 'Report Writer' }).isVisible());
  await page.screenshot({ path: pictureFile('apps'), fullPage: true });
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Revoke Report Writer' }).click();
  await page.getByText('Access revoked.').waitFor();
  assert.ok(await page.getByText('No connected apps.').isVisible());
  assert.equal((await me(json.access_token)).status, 401, 'at once');
  assert.deepEqual(page.complaints, []);
});

test('a person refuses without script, and nothing is granted', async () => {
  const page = await openPage(await browser.newContext({ ...VIEWS['desktop-light'], javaScriptEnabled: false }));
  await signIn(page, server, EMAIL);
  const { url, state } = await program();
  await page.goto(url);
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.waitForURL(`${callback.uri}?**`);
  const told = answered();
  assert.equal(told.get('error'), 'access_denied');
  assert.equal(told.get('state'), state);
  assert.equal(told.get('code'), null);
  await page.goto(`${server.url}/dashboard/apps`);
  assert.ok(await page.getByText('No connected apps.').isVisible());
});

test('an app that is not known is explained to the person and told nothing', async () => {
  const page = await openPage(await browser.newContext(VIEWS['desktop-light']));
  const before = callback.arrived.length;
  const url = new URL((await program()).url);
  url.searchParams.set('client_id', 'client_aaaaaaaaaaaaaaaaaaaa');
  await page.goto(url.href);
  assert.equal(await page.textContent('h1'), 'This app cannot be connected');
  assert.equal(callback.arrived.length, before);
});

test('the consent page cannot be framed by another page', async () => {
  const context = await browser.newContext();
  const page = await openPage(context);
  await signIn(page, server, EMAIL);
  const { url } = await program();
  await page.goto(callback.uri.replace('/callback', '/'));
  await page.setContent(`<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`);
  await page.waitForTimeout(500);
  const frame = page.frames().find((frame) => frame !== page.mainFrame());
  const shown = await frame.locator('button').count().catch(() => 0);
  assert.equal(shown, 0, 'the browser shows nothing in the frame');
});

test('both pages in every light and on a phone', async () => {
  const desk = await browser.newContext(VIEWS['desktop-light']);
  const page = await openPage(desk);
  await signIn(page, server, 'grace@example.org');
  const { url, trade } = await program('An editor with quite a long name that has to wrap somewhere');
  await page.goto(url);
  await page.getByRole('button', { name: 'Allow access' }).click();
  await page.waitForURL(`${callback.uri}?**`);
  assert.equal((await trade(answered().get('code'))).status, 200);
  const cookies = await desk.cookies();
  for (const [name, view] of Object.entries(VIEWS)) {
    const context = await browser.newContext(view);
    await context.addCookies(cookies);
    const page = await openPage(context);
    for (const [what, target] of [['consent', url], ['apps', `${server.url}/dashboard/apps`]]) {
      await page.goto(target);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(overflow <= 0, `${what} ${name} is ${overflow} px too wide`);
      await page.screenshot({ path: path.join(OUTPUT, `${what}-${name}.png`), fullPage: true });
    }
    assert.deepEqual(page.complaints, []);
  }
});
