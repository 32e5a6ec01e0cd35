// Every page of ours, judged by axe-core: light and dark, at desk and phone width. Nothing serious may be found, and an
// address that is not there fails, so that no page drops out of the list by itself.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage } from './browser.mjs';
import { api, multipart, publish, request, upload } from './http.mjs';
import { writePayments } from './money.mjs';
import { askForCode, sessionCookie, signIn, takeCookie } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import * as samples from './samples.mjs';
import { command, freePort, operatorKey, startServer, until } from './server.mjs';

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
  'sign-in link, asking': (made) => made.link,
  'sign-in link, dead': '/login/link?token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'claim, signed out': (made) => `/claim/${made.unclaimed.id}`,
};
const OPERATOR = {
  pages: '/dashboard',
  'pages, nothing found': '/dashboard?q=nothing-like-it',
  'ended pages': '/dashboard?show=ended',
  upload: '/dashboard/upload',
  'page detail': (made) => `/dashboard/pages/${made.locked.id}`,
  changes: (made) => `/dashboard/pages/${made.changed.id}/changes`,
  'changes, none': (made) => `/dashboard/pages/${made.changed.id}/changes?from=2&to=2`,
  'deleted page': (made) => `/dashboard/pages/${made.deleted.id}`,
  'taken-down page': (made) => `/dashboard/pages/${made.down.id}`,
  feedback: (made) => `/dashboard/pages/${made.discussed.id}/feedback?state=all`,
  'feedback, nothing found': (made) => `/dashboard/pages/${made.discussed.id}/feedback?query=nothing-like-it`,
  thread: (made) => `/dashboard/pages/${made.discussed.id}/feedback/${made.comments[0]}`,
  webhooks: '/dashboard/webhooks',
  webhook: (made) => `/dashboard/webhooks/${made.hook}`,
  domains: '/dashboard/domains',
  domain: '/dashboard/domains/reports.example.com',
  apps: '/dashboard/apps',
  device: '/device',
  'device, allowed': '/device?ended=allowed',
  'device, denied': '/device?ended=denied',
  'not found': '/dashboard/nothing',
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
  appeals: '/operator/appeals',
  appeal: (made) => `/operator/appeals/${made.appeal}`,
  acts: '/operator/audit',
  'acts, nothing found': '/operator/audit?subject=site_nothing',
  case: (made) => `/operator/pages/${made.locked.id}`,
  'case, taken down': (made) => `/operator/pages/${made.down.id}`,
  certificates: '/operator/certificates',
  health: '/operator/health',
  money: '/operator/payments',
  'payment, fulfilled': '/operator/payments/pay_1',
  'payment, not decided': '/operator/payments/pay_2',
};
const VIEWER = {
  'password gate': (made) => made.locked.url,
  'e-mail gate': (made) => made.gated.url,
  reveal: (made) => made.burning.url,
  report: (made) => new URL('_dropleaf/report', made.plain.url).href,
  'report sent': (made) => new URL('_dropleaf/report?sent', made.plain.url).href,
  'what changed': (made) => new URL('_dropleaf/changes', made.changed.url).href,
  'what changed, first version': (made) => new URL('_dropleaf/changes', made.first.url).href,
  'what changed, unknown version': (made) => new URL('_dropleaf/changes?from=9', made.changed.url).href,
  'encrypted page': (made) => made.encrypted.url,
  'notice 404': (made) => `${made.site}/p/${'A'.repeat(22)}/`,
  'notice 410 deleted': (made) => made.deleted.url,
  'notice 410 taken down': (made) => made.down.url,
};
// Pages that show an error by design; every other address must answer 200.
const STATUS = { 'what changed, unknown version': 404, 'sign-in link, dead': 410, 'not found': 404, 'password gate': 401, 'e-mail gate': 401, 'notice 404': 404, 'notice 410 deleted': 410, 'notice 410 taken down': 410 };

const VERIFIER = 'a-verifier-that-is-long-enough-to-be-one-0123456789';

let server, browser, cookie;
const made = {};

before(async () => {
  server = await startServer({ env: { DROPLEAF_WEBHOOKS__ALLOW_LOOPBACK: 'true' } });
  browser = await launch();
  const key = await operatorKey(server);
  const call = api(server, key);
  const page = (title, fields) => publish(server, { name: 'page.html', bytes: samples.html(title), fields, key });
  made.site = server.siteUrl;
  made.plain = await page('Plain');
  made.locked = await page('Locked', { password: 'correct horse' });
  made.gated = await page('Gated', { email_gate_domain: 'example.org' });
  made.burning = await page('Burning', { burn_after_read: 'true' });
  made.encrypted = await publish(server, { name: 'page.bin', bytes: Buffer.from(Array.from({ length: 64 }, (_, n) => (n * 167 + 13) % 256)), fields: { e2e: 'true' }, key });
  made.first = await page('First', { show_changes: 'true' });
  made.changed = await page('Changed', { show_changes: 'true' });
  await upload(server, { name: 'page.html', bytes: samples.html('Changed again'), key, to: made.changed.id });
  await call('POST', '/custom-domains', { hostname: 'reports.example.com', site_id: made.locked.id });
  await discuss(call, page);
  made.deleted = await page('Deleted');
  await call('DELETE', `/sites/${made.deleted.id}`);
  made.down = await page('Down');
  await command(server, 'takedown', made.down.id, '--reason', 'It pretended to be a bank.');
  made.unclaimed = await publish(server, { name: 'page.html', bytes: samples.html('Unclaimed') });
  const body = 'reason=phishing&comment=It+asks+for+my+password&contact=ada%40example.org';
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  await request(server, { method: 'POST', path: `${made.plain.path}_dropleaf/report`, headers, body });
  const refused = Buffer.from('<title>PayPal login</title><form><input type=password aria-label=Password></form>');
  const form = await multipart({ fields: { comment: 'A drill.' }, file: { name: 'page.html', bytes: refused } });
  made.appeal = (await request(server, { method: 'POST', path: '/appeals', headers: form.headers, body: form.body })).json().id;
  await writePayments(server, [
    { id: 'pay_1', item: 'publish', state: 'fulfilled', amount: 500_000, ago: 60, transaction: `0x${'5c'.repeat(32)}` },
    { id: 'pay_2', item: 'provision', state: 'unknown', amount: 1_000_000, ago: 7300, reason: 'timeout' },
  ]);
  made.device = await device();
  made.link = (await command(server, 'account', 'link', 'operator@localhost')).trim();
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

/** A page with an open, an answered and a resolved comment, and a webhook whose receiver does not answer. */
async function discuss(call, page) {
  made.discussed = await page('Discussed', { agentation: 'true' });
  const receiver = `http://127.0.0.1:${await freePort()}/hook`;
  made.hook = (await call('POST', '/webhooks', { url: receiver, events: ['feedback.created'], description: 'Build server', site_id: made.discussed.id })).id;
  made.comments = [];
  for (const severity of ['blocking', 'important', 'suggestion']) {
    const body = JSON.stringify({ comment: 'The number in this row is not the one in the table.', element: 'td.total "1,284"', selected_text: 'the total of the year', severity, intent: 'fix' });
    const answer = await request(server, { method: 'POST', path: `${made.discussed.path}_dropleaf/feedback`, headers: { 'content-type': 'application/json' }, body });
    made.comments.push(answer.json().id);
  }
  await call('POST', `/sites/${made.discussed.id}/feedback/${made.comments[0]}/replies`, { text: 'Which table do you mean?' });
  await call('POST', `/feedback/${made.comments[2]}/resolve`, { note: 'Corrected in version 2.' });
  await until('a failed delivery', async () => (await call('GET', `/webhooks/${made.hook}/deliveries`)).deliveries.some(({ attempts }) => attempts > 0));
}

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
  const asked = { response_type: 'code', client_id, redirect_uri: redirect, code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'), code_challenge_method: 'S256' };
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
  const ask = (page) => askForCode(page, server, 'operator@localhost');
  test('code', () => judge('code', '/login', { prepare: ask }));
  test('wrong code', () =>
    judge('wrong code', '/login', {
      prepare: async (page) => {
        await ask(page);
        await page.fill('#code', '00000000');
        await page.click('form[action="/login/code"] button');
        await page.waitForSelector('[role=alert]');
      },
    }));
  test('the first visit to the dashboard', () =>
    judge('the first visit to the dashboard', '/login', {
      prepare: async (page) => {
        await signIn(page, server, 'newcomer@example.org');
        await page.getByRole('heading', { name: 'No pages yet' }).waitFor();
      },
    }));
});

describe('signed in as the operator', () => {
  for (const [name, address] of Object.entries(OPERATOR)) test(name, () => judge(name, address, { signedIn: true }));
  test('a new key', () =>
    judge('a new key', '/dashboard/keys', {
      signedIn: true,
      prepare: async (page) => {
        await page.getByLabel('Name').fill('laptop');
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('heading', { name: /New key/ }).waitFor();
      },
    }));
  test('a new webhook', () =>
    judge('a new webhook', '/dashboard/webhooks', {
      signedIn: true,
      prepare: async (page) => {
        await page.getByLabel('Address').fill('https://hooks.example.com/dropleaf');
        await page.getByLabel('Pages').selectOption(made.plain.id);
        await page.getByRole('button', { name: 'Add webhook' }).click();
        await page.getByRole('heading', { name: 'Signing secret' }).waitFor();
      },
    }));
  test('comments resolved at once', () =>
    judge('comments resolved at once', `/dashboard/pages/${made.discussed.id}/feedback`, {
      signedIn: true,
      prepare: async (page) => {
        await page.locator('.answer summary').first().click();
        await page.locator('input[name=ids]').first().check();
        await page.getByRole('button', { name: /Resolve selected/ }).click();
        await page.getByRole('button', { name: 'Undo' }).waitFor();
      },
    }));
  test('apps with an app', () =>
    judge('apps with an app', made.consent, {
      signedIn: true,
      prepare: async (page) => {
        // The program itself is not there to take the answer: the browser asks for its address in vain.
        const asked = page.waitForRequest(/127\.0\.0\.1\/callback/);
        await page.getByRole('button', { name: 'Allow access' }).click();
        const { client_id, redirect_uri } = Object.fromEntries(new URL(made.consent, server.url).searchParams);
        const code = new URL((await asked).url()).searchParams.get('code');
        const trade = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier: VERIFIER };
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const traded = await request(server, { method: 'POST', path: '/oauth/token', headers, body: `${new URLSearchParams(trade)}` });
        assert.equal(traded.status, 200);
        await page.waitForURL('chrome-error://chromewebdata/');
        await page.goto(new URL('/dashboard/apps', server.url).href);
        await page.getByRole('heading', { name: 'Report Writer' }).waitFor();
      },
    }));
  test('page detail with everything open', () =>
    judge('page detail with everything open', `/dashboard/pages/${made.locked.id}`, {
      signedIn: true,
      prepare: (page) => page.evaluate(() => { for (const one of document.querySelectorAll('details')) one.open = true; }),
    }));
});

describe('viewers', () => {
  for (const [name, address] of Object.entries(VIEWER)) test(name, () => judge(name, address));
});
