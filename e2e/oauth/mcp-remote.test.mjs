// mcp-remote, the bridge that desktop programs start: from the challenge of /mcp to tokens on its disk.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { freePort, ROOT, tempDir, until } from '../server.mjs';
import { asked, consent, start } from './person.mjs';

let ann, dir;

before(async () => {
  ann = await start();
  dir = await tempDir('mcp-remote');
});
after(async () => {
  await ann?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** What it has written to its folder under a name that ends so. */
async function stored(ending) {
  const names = await readdir(dir, { recursive: true });
  const name = names.find((found) => found.endsWith(ending));
  return name && JSON.parse(await readFile(path.join(dir, name), 'utf8'));
}

test('it signs in by itself and its token opens the API', async () => {
  const port = await freePort();
  const script = path.join(ROOT, 'e2e/node_modules/mcp-remote/dist/client.js');
  const child = spawn(process.execPath, [script, `${ann.server.url}/mcp`, String(port)], {
    // BROWSER: what it opens by itself must not open anything here.
    env: { PATH: process.env.PATH, HOME: dir, MCP_REMOTE_CONFIG_DIR: dir, BROWSER: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  try {
    const url = await until('its link', () => said.match(/^https?:\/\/\S+\/oauth\/authorize\?\S+/m)?.[0]);
    assert.equal(new URL(url).searchParams.get('resource'), `${ann.server.url}/mcp`);
    await consent(ann.page, url);
    const tokens = await until('its tokens', () => stored('tokens.json'));
    assert.equal((await asked(ann.server, tokens.access_token)).status, 200);
    const client = await stored('client_info.json');
    assert.match(client.client_id, /^client_/);

    const form = { grant_type: 'refresh_token', client_id: client.client_id, refresh_token: tokens.refresh_token };
    const trade = () => fetch(`${ann.server.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    const renewed = await trade();
    assert.equal(renewed.status, 200, await renewed.clone().text());
    assert.equal((await (await trade()).json()).error, 'invalid_grant');
    assert.equal((await asked(ann.server, (await renewed.json()).access_token)).status, 401);
  } catch (error) {
    throw new Error(`${error.message}\nit said:\n${said}`, { cause: error });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});
