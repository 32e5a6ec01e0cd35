// The official TypeScript client, version 1 (the era of sessions): the whole way with a key and with OAuth, a page of
// 10 MiB, and a restart of the server between two calls. The client checks every result against the tool's schema itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { acrossARestart, wholeWay } from './typescript.mjs';
import { comment, Inbox, page, streaming, told, view } from './walk.mjs';

const newClient = () => new Client({ name: 'e2e', version: '1' });

async function connected(transport) {
  const client = newClient();
  const inbox = new Inbox();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => inbox.put(params.uri));
  await client.connect(transport);
  // Known schemas are what it checks results against.
  await client.listTools();
  return {
    client,
    call: (name, args) => client.callTool({ name, arguments: args }),
    read: async (uri) => (await client.readResource({ uri })).contents,
    watch: async (uri) => {
      await client.subscribeResource({ uri });
      return { next: () => inbox.next(), close: () => client.unsubscribeResource({ uri }) };
    },
    close: () => client.close(),
  };
}

const { withKey, server: shared } = wholeWay({
  Transport: StreamableHTTPClientTransport,
  UnauthorizedError,
  newClient,
  connected,
  answer: (params) => params.get('code'),
});

test('a page of 10 MiB passes, whatever it is made of', async () => {
  const agent = await withKey(shared());
  const head = page('Large');
  // Quotes and line ends, which JSON writes as two characters.
  const html = head + '"\n'.repeat((10 * 1024 * 1024 - head.length) / 2);
  const site = told(await agent.call('publish_html', { html }));
  assert.ok(site.byte_size >= 10 * 1024 * 1024 - 2);
  assert.equal((await view(shared(), site)).text(), html);
  await agent.close();
});

test('a restart of the server between two calls is not noticed', () =>
  acrossARestart(async (first, restart) => {
    const agent = await withKey(first);
    const site = told(await agent.call('publish_html', { html: page('Before'), agentation: true }));
    const news = await agent.watch(`dropleaf://sites/${site.id}`);
    const second = await restart();
    assert.equal(told(await agent.call('update_site', { site: site.id, html: page('After') })).version, 2);
    // Its stream comes back by itself, with what it had asked for.
    await streaming(second);
    await comment(second, site, 'Still there?');
    assert.equal(await news.next(), `dropleaf://sites/${site.id}`);
    await agent.close();
  }));
