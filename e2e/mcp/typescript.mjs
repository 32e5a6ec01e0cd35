// What both versions of the official TypeScript client are asked to do: the whole way with a key and with OAuth, and to
// go on when the server was restarted.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { callback, consent, start } from '../oauth/person.mjs';
import { Provider } from '../oauth/provider.mjs';
import { operatorKey, startServer, tempDir } from '../server.mjs';
import { told, walk } from './walk.mjs';

/**
 * Registers the tests of a version: its `Transport`, its `UnauthorizedError`, `newClient()`, `connected(transport)`, which
 * gives a client as `walk` wants it, and `answer(params)`, what it wants to know of the redirect. Gives `withKey(server)`
 * and `server()`, the one that the tests share.
 */
export function wholeWay({ Transport, UnauthorizedError, newClient, connected, answer }) {
  const address = (server) => new URL(`${server.url}/mcp`);
  const withKey = async (server) => {
    const headers = { authorization: `Bearer ${await operatorKey(server)}` };
    return connected(new Transport(address(server), { requestInit: { headers } }));
  };
  let ann;
  before(async () => (ann = await start()));
  after(async () => ann?.stop());

  test('with a key it publishes, updates, lists, hears of a comment and answers it', async () => {
    const agent = await withKey(ann.server);
    assert.equal(agent.client.getServerVersion().name, 'dropleaf');
    await walk(ann.server, agent);
    await agent.close();
  });

  test('with OAuth it does the same in the name of the person who let it in', async () => {
    const { redirect, came, close } = await callback();
    const authProvider = new Provider(redirect);
    const first = new Transport(address(ann.server), { authProvider });
    await assert.rejects(newClient().connect(first), UnauthorizedError);
    await consent(ann.page, authProvider.stored.url);
    await first.finishAuth(answer(await came));
    close();
    const agent = await connected(new Transport(address(ann.server), { authProvider }));
    assert.equal(told(await agent.call('get_me', {})).email, 'ann@example.org');
    await walk(ann.server, agent);
    await agent.close();
  });

  return { withKey, server: () => ann.server };
}

/** Runs `work(server, restart)`; `restart()` gives the server that stands in the place of the one before. */
export async function acrossARestart(work) {
  const dataDir = await tempDir('mcp-restart');
  let server = await startServer({ dataDir });
  try {
    await work(server, async () => {
      await server.stop();
      return (server = await startServer({ dataDir, port: server.port }));
    });
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
