// The official TypeScript client, version 1 (the era of sessions): the whole way with a key and with OAuth, a page of
// 10 MiB, and a restart of the server between two calls. The client checks every result against the tool's schema itself.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { callback, consent, start } from '../oauth/person.mjs';
import { Provider } from '../oauth/provider.mjs';
import { operatorKey, startServer, tempDir } from '../server.mjs';
import { comment, Inbox, page, streaming, told, view, walk } from './walk.mjs';

let ann;

before(async () => (ann = await start()));
after(async () => ann?.stop());

const address = (server) => new URL(`${server.url}/mcp`);
const withKey = (server, key) =>
  new StreamableHTTPClientTransport(address(server), { requestInit: { headers: { authorization: `Bearer ${key}` } } });

async function connected(transport) {
  const client = new Client({ name: 'e2e', version: '1' });
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

test('with a key it publishes, updates, lists, hears of a comment and answers it', async () => {
  const agent = await connected(withKey(ann.server, await operatorKey(ann.server)));
  assert.equal(agent.client.getServerVersion().name, 'dropleaf');
  await walk(ann.server, agent);
  await agent.close();
});

test('with OAuth it does the same in the name of the person who let it in', async () => {
  const { redirect, came, close } = await callback();
  const authProvider = new Provider(redirect);
  const options = { authProvider };
  const first = new StreamableHTTPClientTransport(address(ann.server), options);
  await assert.rejects(new Client({ name: 'e2e', version: '1' }).connect(first), UnauthorizedError);
  await consent(ann.page, authProvider.stored.url);
  await first.finishAuth((await came).get('code'));
  close();
  const agent = await connected(new StreamableHTTPClientTransport(address(ann.server), options));
  assert.equal(told(await agent.call('get_me', {})).email, 'ann@example.org');
  await walk(ann.server, agent);
  await agent.close();
});

test('a page of 10 MiB passes, whatever it is made of', async () => {
  const agent = await connected(withKey(ann.server, await operatorKey(ann.server)));
  const head = page('Large');
  // Quotes and line ends, which JSON writes as two characters.
  const html = head + '"\n'.repeat((10 * 1024 * 1024 - head.length) / 2);
  const site = told(await agent.call('publish_html', { html }));
  assert.ok(site.byte_size >= 10 * 1024 * 1024 - 2);
  assert.equal((await view(ann.server, site)).text(), html);
  await agent.close();
});

test('a restart of the server between two calls is not noticed', async () => {
  const dataDir = await tempDir('mcp-restart');
  let server = await startServer({ dataDir });
  try {
    const agent = await connected(withKey(server, await operatorKey(server)));
    const site = told(await agent.call('publish_html', { html: page('Before'), agentation: true }));
    const news = await agent.watch(`dropleaf://sites/${site.id}`);
    await server.stop();
    server = await startServer({ dataDir, port: server.port });
    const after_ = told(await agent.call('update_site', { site: site.id, html: page('After') }));
    assert.equal(after_.version, 2);
    // Its stream comes back by itself, with what it had asked for.
    await streaming(server);
    await comment(server, site, 'Still there?');
    assert.equal(await news.next(), `dropleaf://sites/${site.id}`);
    await agent.close();
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
