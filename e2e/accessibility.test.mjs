// Every page of ours, judged by axe-core: light and dark, at desk and phone width. Nothing serious may be found, and an
// address that is not there fails, so that no page drops out of the list by itself.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage } from './browser.mjs';
import { api, publish, request } from './http.mjs';
import { askForCode, sessionCookie, signIn, takeCookie } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import * as samples from './samples.mjs';
import { command, operatorKey, startServer } from './server.mjs';

const VIEWS = [
  { width: 1280, height: 900, colorScheme: 'light' },
  { width: 1280, height: 900, colorScheme: 'dark' },
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
];

// Addresses by who looks at them. A function gets what `before` has made.
const SIGNED_OUT = {
  landing: '/',
  'API reference': '/docs',
  'design guide': '/design-guide',
  'auth.md': '/auth.md',
  login: '/login',
};
const OPERATOR = {
  pages: '/dashboard',
  'pages, nothing found': '/dashboard?q=nothing-like-it',
  'ended pages': '/dashboard?show=ended',
  upload: '/dashboard/upload',
  'page detail': (made) => `/dashboard/pages/${made.locked.id}`,
  'deleted page': (made) => `/dashboard/pages/${made.deleted.id}`,
  'taken-down page': (made) => `/dashboard/pages/${made.down.id}`,
  apps: '/dashboard/apps',
  device: '/device',
  'device, asking': (made) => made.device,
  consent: (made) => made.consent,
  'sign in again': '/login?again=1&next=/dashboard/keys',
  keys: '/dashboard/keys',
  account: '/dashboard/account',
  'claim a page': (made) => `/claim/${made.unclaimed.id}`,
  operator: '/operator',
  accounts: '/operator/accounts',
  'accounts, nothing found': '/operator/accounts?q=nobody%40nowhere',
  reports: '/operator/reports',
};
const VIEWER = {
  'password gate': (made) => made.locked.url,
  'e-mail gate': (made) => made.gated.url,
  reveal: (made) => made.burning.url,
  report: (made) => new URL('_dropleaf/report', made.plain.url).href,
  'report sent': (made) => new URL('_dropleaf/report?sent', made.plain.url).href,
  'encrypted page': (made) => made.encrypted.url,
  'notice 404': (made) => `${made.site}/p/${'A'.repeat(22)}/`,
  'notice 410 deleted': (made) => made.deleted.url,
  'notice 410 taken down': (made) => made.down.url,
};
// Pages that show an error by design; every other address must answer 200.
const STATUS = { 'password gate': 401, 'e-mail gate': 401, 'notice 404': 404, 'notice 410 deleted': 410, 'notice 410 taken down': 410 };

let server, browser, cookie;
const made = {};

before(async () => {
  server = await startServer();
  browser = await launch();
  const key = await operatorKey(server);
  const call = api(server, key);
  const page = (title, fields) => publish(server, { name: 'page.html', bytes: samples.html(title), fields, key });
  made.site = server.siteUrl;
  made.plain = await page('Plain');
  made.locked = await page('Locked', { password: 'correct horse' });
  made.gated = await page('Gated', { email_gate_domain: 'example.org' });
  made.burning = await page('Burning', { burn_after_read: 'true' });
  made.encrypted = await publish(server, { name: 'page.bin', bytes: Buffer.alloc(64, 7), fields: { e2e: 'true' }, key });
  made.deleted = await page('Deleted');
  await call('DELETE', `/sites/${made.deleted.id}`);
  made.down = await page('Down');
  await command(server, 'takedown', made.down.id, '--reason', 'It pretended to be a bank.');
  made.unclaimed = await publish(server, { name: 'page.html', bytes: samples.html('Unclaimed') });
  const body = 'reason=phishing&comment=It+asks+for+my+password&contact=ada%40example.org';
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  await request(server, { method: 'POST', path: `${made.plain.path}_dropleaf/report`, headers, body });
  made.device = await device();
  made.consent = await consent();
  const signer = await openPage(await browser.newContext());
  await signIn(signer, server, 'operator@localhost', '/dashboard/keys');
  cookie = await sessionCookie(signer);
  await signer.context().close();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A device that waits for its person. */
async function device() {
  const headers = { 'content-type': 'application/json' };
  const answer = await request(server, { method: 'POST', path: '/device/code', headers, body: '{"client_name": "Build agent"}' });
  return new URL(answer.json().verification_uri_complete).href;
}

/** What a program that has registered asks of its person. */
async function consent() {
  const redirect = 'http://127.0.0.1/callback';
  const body = JSON.stringify({ client_name: 'Report Writer', redirect_uris: [redirect], token_endpoint_auth_method: 'none' });
  const headers = { 'content-type': 'application/json' };
  const { client_id } = (await request(server, { method: 'POST', path: '/oauth/register', headers, body })).json();
  const asked = { response_type: 'code', client_id, redirect_uri: redirect, code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' };
  return `/oauth/authorize?${new URLSearchParams(asked)}`;
}

async function judge(name, address, { signedIn, prepare } = {}) {
  const page = await openPage(await browser.newContext());
  if (signedIn) await takeCookie(page, cookie);
  const target = typeof address === 'function' ? address(made) : address;
  const answer = await page.goto(new URL(target, server.url).href);
  assert.equal(answer.status(), STATUS[name] ?? 200, name);
  await prepare?.(page);
  for (const { width, height, colorScheme } of VIEWS) {
    const what = `${name} ${width} ${colorScheme}`;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await assertAccessible(page, what);
    const seen = await page.evaluate(examine);
    assertReadable(seen, what);
    assert.equal(seen.headings, 1, what);
    assert.equal(seen.lang, 'en', what);
  }
  assert.deepEqual(page.complaints.filter((text) => /Content.Security.Policy/i.test(text)), [], name);
  await page.context().close();
}

describe('signed out', () => {
  for (const [name, address] of Object.entries(SIGNED_OUT)) test(name, () => judge(name, address));
  test('code', () => judge('code', '/login', { prepare: (page) => askForCode(page, server, 'operator@localhost') }));
});

describe('signed in as the operator', () => {
  for (const [name, address] of Object.entries(OPERATOR)) test(name, () => judge(name, address, { signedIn: true }));
  test('a new key', () =>
    judge('a new key', '/dashboard/keys', {
      signedIn: true,
      prepare: async (page) => {
        await page.getByLabel('Name').fill('laptop');
        await page.getByRole('button', { name: 'Make a key' }).click();
        await page.getByRole('heading', { name: /Your new key/ }).waitFor();
      },
    }));
});

describe('viewers', () => {
  for (const [name, address] of Object.entries(VIEWER)) test(name, () => judge(name, address));
});
