// The official TypeScript client, version 2, which finds out by itself that the server speaks 2026-07-28: the whole way
// with a key and with OAuth, and a restart of the server between two calls.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { acrossARestart, wholeWay } from './typescript.mjs';
import { Inbox, page, told } from './walk.mjs';

const newClient = () => new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'auto' } });

async function connected(transport) {
  const client = newClient();
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

const { withKey } = wholeWay({
  Transport: StreamableHTTPClientTransport,
  UnauthorizedError,
  newClient,
  connected,
  answer: (params) => params,
});

test('a restart of the server between two calls is not noticed', () =>
  acrossARestart(async (first, restart) => {
    const agent = await withKey(first);
    const site = told(await agent.call('publish_html', { html: page('Before') }));
    await restart();
    assert.equal(told(await agent.call('update_site', { site: site.id, html: page('After') })).version, 2);
    await agent.close();
  }));
