// Fills the tables of people: sign-ins, sessions, passkeys, and what programs may do in their name.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { openPage } from '../browser.mjs';
import { answerDevice, asked, callback, consent } from '../oauth/person.mjs';
import { askForCode, sessionCookie, signIn } from '../people.mjs';
import { publish, request, upload } from '../http.mjs';
import * as samples from '../samples.mjs';
import { record } from './publishing.mjs';

const EMAIL = 'ann@example.org';
const VERIFIER = 'a-verifier-that-is-long-enough-to-be-one-0123456789';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const json = { 'content-type': 'application/json' };

/** Gives the signed-in page of Ann, and an access token of a program that she allowed. */
export async function people(server, browser) {
  const page = await openPage(await browser.newContext());
  await signIn(page, server, EMAIL);
  await signInByLink(server, browser);
  await passkey(server, browser);
  await openSignIn(server, browser);
  const accessToken = await programs(server, page);
  await devices(server, page);
  return { page, accessToken };
}

async function signInByLink(server, browser) {
  const page = await openPage(await browser.newContext());
  const { link } = await askForCode(page, server, EMAIL);
  await page.goto(link);
  await page.click('form[action="/login/link"] button');
  await page.waitForURL((url) => !url.pathname.startsWith('/login'));
  await page.context().close();
}

/** A passkey of Chromium's virtual authenticator, used once to sign in. */
async function passkey(server, browser) {
  const page = await openPage(await browser.newContext());
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
  await signIn(page, server, EMAIL, '/dashboard/account');
  await page.fill('#passkey-name', 'My laptop');
  await page.click('#add-passkey button');
  await page.getByText('Passkey added').waitFor();
  await page.goto(`${server.url}/dashboard/account`);
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await page.waitForURL(`${server.url}/`);
  await page.goto(`${server.url}/login?next=/dashboard/account`);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(`${server.url}/dashboard/account`);
  await beginPasskey(page, '/dashboard/account/passkeys/begin');
  await page.context().close();
}

/** A code that was sent and not entered, and a passkey challenge that was not answered. */
async function openSignIn(server, browser) {
  const page = await openPage(await browser.newContext());
  await askForCode(page, server, 'bob@example.org');
  await page.goto(`${server.url}/login`);
  await beginPasskey(page, '/login/passkey/begin');
  await page.context().close();
}

/** Asks for a passkey challenge, as the script of the page does. */
async function beginPasskey(page, path) {
  const status = await page.evaluate(async (path) => {
    const token = document.querySelector('[name=form_token]').value;
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-form-token': token };
    return (await fetch(path, { method: 'POST', headers, body: '{}' })).status;
  }, path);
  assert.equal(status, 200);
}

const post = (server, path, form) => fetch(server.url + path, { method: 'POST', body: new URLSearchParams(form) });

async function succeeded(response) {
  const text = await response.text();
  assert.ok(response.ok, `${response.status} ${text}`);
  return text && JSON.parse(text);
}

async function register(server, name, redirect, auth_method) {
  const metadata = {
    client_name: name,
    client_uri: 'https://app.example.org',
    redirect_uris: [redirect],
    token_endpoint_auth_method: auth_method,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  return succeeded(await fetch(`${server.url}/oauth/register`, { method: 'POST', headers: json, body: JSON.stringify(metadata) }));
}

function authorizeUrl(server, client, redirect, scope = 'sites:read sites:write') {
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirect,
    response_type: 'code',
    scope,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    resource: server.url,
    state: 'a-state',
  };
  return `${server.url}/oauth/authorize?${new URLSearchParams(parameters)}`;
}

/** Registers a client that the person allows; gives it with its code. */
async function allowed(server, page, name, { auth_method = 'none', scope } = {}) {
  const { redirect, came, close } = await callback();
  const client = await register(server, name, redirect, auth_method);
  await consent(page, authorizeUrl(server, client, redirect, scope));
  const code = (await came).get('code');
  close();
  const trade = async () =>
    succeeded(await post(server, '/oauth/token', { grant_type: 'authorization_code', client_id: client.client_id, code, code_verifier: VERIFIER, redirect_uri: redirect }));
  return { client, trade };
}

async function programs(server, page) {
  // Tokens in use: refreshed, again because the response was lost, and with a key of the program's own.
  const used = await allowed(server, page, 'Report writer', { scope: 'sites:write' });
  const first = await used.trade();
  const refresh = { grant_type: 'refresh_token', client_id: used.client.client_id, refresh_token: first.refresh_token };
  await succeeded(await post(server, '/oauth/token', refresh));
  const tokens = await succeeded(await post(server, '/oauth/token', refresh));
  assert.equal((await asked(server, tokens.access_token)).status, 200);
  const headers = { ...json, authorization: `Bearer ${tokens.access_token}` };
  await succeeded(await fetch(`${server.url}/api-keys`, { method: 'POST', headers, body: '{"name":"of the program"}' }));

  const revoked = await allowed(server, page, 'Revoked');
  const { refresh_token } = await revoked.trade();
  await succeeded(await post(server, '/oauth/revoke', { client_id: revoked.client.client_id, token: refresh_token }));

  // A code that was not traded yet, and a consent page that is still open.
  await allowed(server, page, 'Confidential', { auth_method: 'client_secret_basic' });
  const redirect = 'http://127.0.0.1:7777/callback';
  const waiting = await register(server, 'Waiting', redirect, 'none');
  await page.goto(authorizeUrl(server, waiting, redirect));
  await page.waitForSelector('form[action="/oauth/consent"]');
  return tokens.access_token;
}

/** Device logins in every state. */
async function devices(server, page) {
  const begin = async (name) => succeeded(await post(server, '/device/code', { client_name: name }));
  const answered = async (name, answer) => {
    const begun = await begin(name);
    await answerDevice(page, begun.verification_uri, begun.user_code, answer);
    return begun;
  };
  const pending = await begin('pending device');
  const polled = await post(server, '/device/token', { device_code: pending.device_code });
  assert.equal((await polled.json()).error, 'authorization_pending');
  await answered('allowed device', 'allow');
  await answered('denied device', 'deny');
  const { device_code } = await answered('connected device', 'allow');
  await succeeded(await post(server, '/device/token', { device_code }));
}

/** A page with two versions by a program, of which the person restores the first in the dashboard. */
export async function programPage(server, page, accessToken) {
  const bytes = samples.html('Report of a program');
  const site = await publish(server, { name: 'page.html', bytes, key: accessToken });
  const replaced = await upload(server, { to: site.id, name: 'page.html', bytes: samples.html('Worse report'), key: accessToken });
  assert.equal(replaced.status, 200, replaced.text());
  await page.goto(`${server.url}/dashboard/pages/${site.id}`);
  await page.click('button[aria-label="Restore version 1"]');
  await page.waitForSelector('.done:has-text("Version restored")');
  return record({ ...site, version: 3 }, bytes);
}

/** A session of an older MCP revision that watches a page, and has replied to a comment. */
export async function mcpSession(server, key, page, commentId) {
  const version = '2025-11-25';
  const headers = { ...json, accept: 'application/json, text/event-stream', 'mcp-protocol-version': version };
  const send = (message, more) =>
    request(server, { method: 'POST', path: '/mcp', key, headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'fixture', version: '1' } };
  const begun = await send({ id: 1, method: 'initialize', params });
  assert.equal(begun.status, 200, begun.text());
  const session = { 'mcp-session-id': begun.headers['mcp-session-id'] };
  await send({ method: 'notifications/initialized' }, session);
  const watched = await send({ id: 2, method: 'resources/subscribe', params: { uri: `dropleaf://sites/${page.id}` } }, session);
  assert.equal(watched.status, 200, watched.text());
  const reply = { name: 'reply_to_feedback', arguments: { id: commentId, text: 'Corrected below, too.' } };
  const replied = await send({ id: 3, method: 'tools/call', params: reply }, session);
  assert.match(replied.text(), /"isError":false/);
}

/** The operator opens the overview, for which the server counts. */
export async function operatorOverview(server, browser) {
  const page = await openPage(await browser.newContext());
  await signIn(page, server, 'operator@localhost', '/operator');
  await page.waitForSelector('main');
  await page.context().close();
}

/** A ticket to a page of the person's own that is not used: the redirect is not followed. */
export async function ownerTicket(server, page, site) {
  const cookie = await sessionCookie(page);
  const path = `/dashboard/pages/${site.id}`;
  const shown = await request(server, { path, headers: { cookie } });
  assert.equal(shown.status, 200, shown.text());
  const token = shown.text().match(/name="form_token" value="([^"]+)"/)[1];
  const headers = { cookie, origin: server.url, 'content-type': 'application/x-www-form-urlencoded' };
  const sent = await request(server, { method: 'POST', path: `${path}/open`, headers, body: new URLSearchParams({ form_token: token }).toString() });
  assert.equal(sent.status, 303, sent.text());
}
