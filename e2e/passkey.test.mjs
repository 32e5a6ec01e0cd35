// Passkeys with Chromium's own virtual authenticator: added, used to sign in, counted, removed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile } from './browser.mjs';
import { sessionCookie, signIn } from './people.mjs';
import { startServer } from './server.mjs';

const EMAIL = 'ann@example.org';
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari/604.1';

let server, browser;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A page with a device that keeps passkeys; `device` speaks with it. */
async function withDevice({ verifies = true } = {}) {
  const page = await openPage(await browser.newContext());
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: verifies,
      automaticPresenceSimulation: true,
    },
  });
  const device = {
    credentials: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    put: (credential) => cdp.send('WebAuthn.addCredential', { authenticatorId, credential }),
    clear: () => cdp.send('WebAuthn.clearCredentials', { authenticatorId }),
  };
  return { page, device };
}

async function addPasskey(page, name) {
  await page.goto(`${server.url}/dashboard/account`);
  await page.fill('#passkey-name', name);
  await page.click('#add-passkey button');
}

async function signOut(page) {
  await page.goto(`${server.url}/dashboard/account`);
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await page.waitForURL(`${server.url}/`);
  assert.equal(await sessionCookie(page), undefined);
}

test('a passkey is offered only at the name it belongs to', async () => {
  const page = await openPage(await browser.newContext());
  await page.goto(`${server.url}/login`);
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
  await page.goto(`${server.url.replace('localhost', '127.0.0.1')}/login`);
  await page.waitForSelector('#email');
  assert.equal(await page.getByRole('button', { name: 'Use a passkey' }).count(), 0);
});

test('a passkey is added, signs in without an address, is counted, and is removed', async () => {
  const { page, device } = await withDevice();
  for (const view of [{ userAgent: IPHONE }, {}]) {
    await signIn(await openPage(await browser.newContext(view)), server, EMAIL);
  }
  await signIn(page, server, EMAIL, '/dashboard/account');
  await addPasskey(page, 'My laptop');
  await page.getByText('Passkey added').waitFor();
  const row = page.locator('#passkeys li');
  await page.goto(`${server.url}/dashboard/account`);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.screenshot({ path: pictureFile('account'), fullPage: true });
  assert.match(await row.innerText(), /My laptop[^]*not used yet/);
  const [credential] = await device.credentials();
  assert.equal(credential.rpId, 'localhost');
  assert.equal(credential.isResidentCredential, true);
  assert.ok(!Buffer.from(credential.userHandle, 'base64').toString('latin1').includes('ann'));

  // The device has one already, and says so.
  await addPasskey(page, 'Again');
  await page.getByText('already has a passkey for your account').waitFor();

  for (const turn of [1, 2]) {
    await signOut(page);
    await page.goto(`${server.url}/login?next=/dashboard/account`);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL(`${server.url}/dashboard/account`);
    await page.getByText(EMAIL).first().waitFor();
    assert.match(await row.innerText(), /last used/);
    assert.match(await page.locator('#sessions').innerText(), /with a passkey/, `turn ${turn}`);
  }

  // A copy of the passkey that lags behind is refused: its counter has been seen.
  await signOut(page);
  const [used] = await device.credentials();
  assert.ok(used.signCount > credential.signCount);
  await device.clear();
  await device.put({ ...used, signCount: 0 });
  await page.goto(`${server.url}/login`);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.locator('#passkey-problem').waitFor();
  assert.equal(await sessionCookie(page), undefined);
  await device.clear();
  await device.put(used);

  await page.goto(`${server.url}/login?next=/dashboard/account`);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(`${server.url}/dashboard/account`);
  page.on('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Remove My laptop' }).click();
  await page.getByText('Passkey removed').waitFor();
  assert.equal(await row.count(), 0);
  await signOut(page);
  await page.goto(`${server.url}/login`);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.locator('#passkey-problem').waitFor();
  assert.match(await page.locator('#passkey-problem').innerText(), /unknown/);
  assert.equal(await sessionCookie(page), undefined);
  assert.deepEqual(page.complaints.filter((line) => !/400/.test(line)), []);
});

test('a device that does not ask for the person adds nothing', async () => {
  const { page, device } = await withDevice({ verifies: false });
  await signIn(page, server, 'bob@example.org', '/dashboard/account');
  await addPasskey(page, 'Unverified');
  await page.locator('#passkey-problem').waitFor();
  assert.deepEqual(await device.credentials(), []);
});

test('without a script, or without passkeys in the browser, the page offers none and the code still works', async () => {
  const page = await openPage(await browser.newContext({ javaScriptEnabled: false }));
  await page.goto(`${server.url}/login`);
  assert.equal(await page.getByRole('button', { name: 'Use a passkey' }).isVisible(), false);
  await signIn(page, server, 'cat@example.org', '/dashboard/account');
  assert.equal(await page.locator('#add-passkey').isVisible(), false);
});
