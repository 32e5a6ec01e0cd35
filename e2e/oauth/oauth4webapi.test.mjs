// oauth4webapi with its strict checks: every document and answer must be exactly what the RFCs say, `iss` included.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import { answerDevice, asked, callback, consent, start } from './person.mjs';

// Plain http on this machine; everything else stays strict.
const LOOSE = { [oauth.allowInsecureRequests]: true };
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

let ann, as;

before(async () => {
  ann = await start();
  const issuer = new URL(ann.server.url);
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...LOOSE });
  as = await oauth.processDiscoveryResponse(issuer, response);
});
after(async () => ann?.stop());

async function register(metadata) {
  const response = await oauth.dynamicClientRegistrationRequest(as, { client_name: 'strict', ...metadata }, LOOSE);
  return oauth.processDynamicClientRegistrationResponse(response);
}

/** Registers, asks, gets consent and trades the code; everything on the way is checked by the library. */
async function connect(metadata = { token_endpoint_auth_method: 'none' }, clientAuth = () => oauth.None()) {
  const { redirect, came, close } = await callback();
  const client = await register({ redirect_uris: [redirect], ...metadata });
  const proof = clientAuth(client);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(as.authorization_endpoint);
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirect,
    response_type: 'code',
    scope: 'sites:read sites:write',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource: ann.server.url,
    state,
  });
  await consent(ann.page, url);
  const params = oauth.validateAuthResponse(as, client, await came, state);
  close();
  const trade = async (by = verifier) => {
    const response = await oauth.authorizationCodeGrantRequest(as, client, proof, params, redirect, by, {
      ...LOOSE,
      additionalParameters: { resource: ann.server.url },
    });
    return oauth.processAuthorizationCodeResponse(as, client, response);
  };
  return { client, proof, trade };
}

async function refresh(client, proof, token) {
  const response = await oauth.refreshTokenGrantRequest(as, client, proof, token, LOOSE);
  return oauth.processRefreshTokenResponse(as, client, response);
}

const refused = (error) => (thrown) => thrown instanceof oauth.ResponseBodyError && thrown.error === error;

test('the documents about both resources are exact', async () => {
  for (const path of ['', '/mcp']) {
    const resource = new URL(ann.server.url + path);
    const response = await oauth.resourceDiscoveryRequest(resource, LOOSE);
    const found = await oauth.processResourceDiscoveryResponse(resource, response);
    assert.deepEqual(found.authorization_servers, [as.issuer]);
  }
  assert.deepEqual(as.code_challenge_methods_supported, ['S256']);
  assert.equal(as.authorization_response_iss_parameter_supported, true);
});

test('public and confidential clients get tokens that open the API', async () => {
  const ways = [
    [{ token_endpoint_auth_method: 'none' }, () => oauth.None()],
    [{ token_endpoint_auth_method: 'client_secret_basic' }, (client) => oauth.ClientSecretBasic(client.client_secret)],
    [{ token_endpoint_auth_method: 'client_secret_post' }, (client) => oauth.ClientSecretPost(client.client_secret)],
  ];
  for (const [metadata, proof] of ways) {
    const { trade } = await connect(metadata, proof);
    const tokens = await trade();
    assert.equal(tokens.token_type, 'bearer');
    const response = await oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL(`${ann.server.url}/sites`), undefined, null, LOOSE);
    assert.equal(response.status, 200);
  }
});

test('a wrong secret and a wrong verifier are refused by name', async () => {
  const wrong = { token_endpoint_auth_method: 'client_secret_basic' };
  const { trade } = await connect(wrong, () => oauth.ClientSecretBasic('wrong'));
  await assert.rejects(trade(), (thrown) => thrown.error === 'invalid_client' || thrown instanceof oauth.WWWAuthenticateChallengeError);
  const other = await connect();
  await assert.rejects(other.trade(oauth.generateRandomCodeVerifier()), refused('invalid_grant'));
});

test('a code that comes twice ends what it gave', async () => {
  const { trade } = await connect();
  const tokens = await trade();
  assert.equal((await asked(ann.server, tokens.access_token)).status, 200);
  await assert.rejects(trade(), refused('invalid_grant'));
  assert.equal((await asked(ann.server, tokens.access_token)).status, 401);
});

test('refresh tokens rotate, and one that comes again ends the family', async () => {
  const { client, proof, trade } = await connect();
  const first = await trade();
  const second = await refresh(client, proof, first.refresh_token);
  const third = await refresh(client, proof, second.refresh_token);
  assert.equal(new Set([first, second, third].map((tokens) => tokens.refresh_token)).size, 3);
  assert.equal((await asked(ann.server, third.access_token)).status, 200);
  await assert.rejects(refresh(client, proof, first.refresh_token), refused('invalid_grant'));
  assert.equal((await asked(ann.server, third.access_token)).status, 401);
  await assert.rejects(refresh(client, proof, third.refresh_token), refused('invalid_grant'));
});

test('revocation ends an access token, and with the refresh token everything', async () => {
  const { client, proof, trade } = await connect();
  const first = await trade();
  const revoke = async (token) => oauth.processRevocationResponse(await oauth.revocationRequest(as, client, proof, token, LOOSE));
  await revoke(first.access_token);
  assert.equal((await asked(ann.server, first.access_token)).status, 401);
  const second = await refresh(client, proof, first.refresh_token);
  assert.equal((await asked(ann.server, second.access_token)).status, 200);
  await revoke(second.refresh_token);
  assert.equal((await asked(ann.server, second.access_token)).status, 401);
  await revoke('nobody-knows-this');
});

test('a device is allowed in the page and gets its tokens', async () => {
  const client = await register({ grant_types: [DEVICE, 'refresh_token'], token_endpoint_auth_method: 'none', redirect_uris: [] });
  const proof = oauth.None();
  const begin = async () => {
    const response = await oauth.deviceAuthorizationRequest(as, client, proof, { scope: 'sites:read' }, LOOSE);
    return oauth.processDeviceAuthorizationResponse(as, client, response);
  };
  const poll = async (begun) => {
    const response = await oauth.deviceCodeGrantRequest(as, client, proof, begun.device_code, LOOSE);
    return oauth.processDeviceCodeResponse(as, client, response);
  };
  const begun = await begin();
  assert.match(begun.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  await assert.rejects(poll(begun), refused('authorization_pending'));
  await assert.rejects(poll(begun), refused('slow_down'));
  await answerDevice(ann.page, begun.verification_uri, begun.user_code);
  const tokens = await poll(begun);
  assert.equal(tokens.scope, 'sites:read');
  assert.equal((await asked(ann.server, tokens.access_token)).status, 200);
  const next = await refresh(client, proof, tokens.refresh_token);
  assert.equal((await asked(ann.server, next.access_token)).status, 200);
  await assert.rejects(poll(begun), refused('invalid_grant'));

  const denied = await begin();
  await answerDevice(ann.page, denied.verification_uri, denied.user_code, 'deny');
  await assert.rejects(poll(denied), refused('access_denied'));
});
