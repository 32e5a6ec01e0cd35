// The official MCP TypeScript SDK's OAuth client: discovery from the MCP address, registration, consent, tokens,
// renewal; a renewed token that comes again ends everything.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { asked, callback, consent, start } from './person.mjs';
import { Provider } from './provider.mjs';

let ann;

before(async () => (ann = await start()));
after(async () => ann?.stop());

async function connected(scope) {
  const { redirect, came, close } = await callback();
  const provider = new Provider(redirect);
  const serverUrl = `${ann.server.url}/mcp`;
  assert.equal(await auth(provider, { serverUrl, scope }), 'REDIRECT');
  const said = await consent(ann.page, provider.stored.url);
  const answer = await came;
  close();
  assert.equal(answer.get('state'), 'a-state-of-the-test');
  assert.equal(answer.get('iss'), ann.server.url);
  assert.equal(await auth(provider, { serverUrl, authorizationCode: answer.get('code') }), 'AUTHORIZED');
  return { provider, serverUrl, said };
}

test('it finds its way from the address alone, and its token opens the API', async () => {
  const { provider, said } = await connected('sites:read sites:write');
  assert.match(said, /SDK test/);
  assert.match(said, /127\.0\.0\.1/);
  const { tokens } = provider.stored;
  assert.equal(tokens.scope, 'sites:read sites:write');
  assert.equal((await asked(ann.server, tokens.access_token)).status, 200);
  assert.equal((await asked(ann.server, tokens.access_token, '/me')).body.email, 'ann@example.org');
});

test('it gets no more than it asked for, and is told what is missing', async () => {
  const { provider } = await connected('sites:read');
  const token = provider.stored.tokens.access_token;
  assert.equal((await asked(ann.server, token)).status, 200);
  const response = await fetch(`${ann.server.url}/sites/x`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  assert.equal(response.status, 403);
  assert.match(response.headers.get('www-authenticate'), /error="insufficient_scope".*scope="sites:write"/);
});

test('it renews its tokens; the old one that comes again ends all of them', async () => {
  const { provider, serverUrl } = await connected('sites:read');
  const first = provider.stored.tokens;
  assert.equal(await auth(provider, { serverUrl }), 'AUTHORIZED');
  const second = provider.stored.tokens;
  assert.notEqual(second.refresh_token, first.refresh_token);
  assert.equal((await asked(ann.server, second.access_token)).status, 200);

  provider.stored.tokens = first;
  assert.equal(await auth(provider, { serverUrl }), 'REDIRECT', 'it has to ask the person again');
  assert.equal((await asked(ann.server, second.access_token)).status, 401);
  provider.stored.tokens = second;
  assert.equal(await auth(provider, { serverUrl }), 'REDIRECT');
});

test('its transport reads the challenge of the MCP address and asks for consent', async () => {
  const { redirect, close } = await callback();
  const provider = new Provider(redirect);
  const transport = new StreamableHTTPClientTransport(new URL(`${ann.server.url}/mcp`), { authProvider: provider });
  await assert.rejects(new Client({ name: 'test', version: '1' }).connect(transport), UnauthorizedError);
  close();
  const { url } = provider.stored;
  assert.equal(url.searchParams.get('resource'), `${ann.server.url}/mcp`);
  assert.equal(url.searchParams.get('scope'), 'sites:read sites:write');
  assert.equal(url.searchParams.get('code_challenge_method'), 'S256');
});

test('a person who says no is all the program hears', async () => {
  const { redirect, came, close } = await callback();
  const provider = new Provider(redirect);
  await auth(provider, { serverUrl: `${ann.server.url}/mcp` });
  await consent(ann.page, provider.stored.url, 'deny');
  const answer = await came;
  close();
  assert.equal(answer.get('error'), 'access_denied');
  assert.equal(answer.get('code'), null);
});
