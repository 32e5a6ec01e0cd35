// The official TypeScript client, version 2, which finds out by itself that the server speaks 2026-07-28: the whole way
// with a key and with OAuth, and a restart of the server between two calls.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { callback, consent, start } from '../oauth/person.mjs';
import { Provider } from '../oauth/provider.mjs';
import { operatorKey, startServer, tempDir } from '../server.mjs';
import { Inbox, page, told, walk } from './walk.mjs';

let ann;

before(async () => (ann = await start()));
after(async () => ann?.stop());

const address = (server) => new URL(`${server.url}/mcp`);
const withKey = (server, key) =>
  new StreamableHTTPClientTransport(address(server), { requestInit: { headers: { authorization: `Bearer ${key}` } } });
const negotiating = () => new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'auto' } });

async function connected(transport) {
  const client = negotiating();
  const inbox = new Inbox();
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => inbox.put(params.uri));
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  await client.listTools();
  return {
    client,
    call: (name, args) => client.callTool({ name, arguments: args }),
    read: async (uri) => (await client.readResource({ uri })).contents,
    watch: async (uri) => {
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      return { next: () => inbox.next(), close: () => subscription.close() };
    },
    close: () => client.close(),
  };
}

test('with a key it publishes, updates, lists, hears of a comment and answers it', async () => {
  const agent = await connected(withKey(ann.server, await operatorKey(ann.server)));
  assert.equal(agent.client.getServerVersion().name, 'dropleaf');
  await walk(ann.server, agent);
  await agent.close();
});

test('with OAuth it does the same in the name of the person who let it in', async () => {
  const { redirect, came, close } = await callback();
  const authProvider = new Provider(redirect);
  const first = new StreamableHTTPClientTransport(address(ann.server), { authProvider });
  await assert.rejects(negotiating().connect(first), UnauthorizedError);
  await consent(ann.page, authProvider.stored.url);
  await first.finishAuth(await came);
  close();
  const agent = await connected(new StreamableHTTPClientTransport(address(ann.server), { authProvider }));
  assert.equal(told(await agent.call('get_me', {})).email, 'ann@example.org');
  await walk(ann.server, agent);
  await agent.close();
});

test('a restart of the server between two calls is not noticed', async () => {
  const dataDir = await tempDir('mcp-restart');
  let server = await startServer({ dataDir });
  try {
    const agent = await connected(withKey(server, await operatorKey(server)));
    const site = told(await agent.call('publish_html', { html: page('Before') }));
    await server.stop();
    server = await startServer({ dataDir, port: server.port });
    assert.equal(told(await agent.call('update_site', { site: site.id, html: page('After') })).version, 2);
    await agent.close();
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
