// The official Python client in both eras, with a key and with OAuth, and over a restart of the server.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { callback, consent, start } from '../oauth/person.mjs';
import { HANGS, operatorKey, ROOT, startServer, tempDir } from '../server.mjs';
import { comment, page, streaming, view } from './walk.mjs';

let ann;

before(async () => (ann = await start()));
after(async () => ann?.stop());

/** Runs the script, answers what it asks for, and gives all it said as one object. */
async function run(server, era, env, acts) {
  const args = [path.join(ROOT, 'e2e/mcp/python_client.py'), server.url, era, page('First draft'), page('Second draft')];
  const child = spawn(path.join(ROOT, '.test/venv/bin/python'), args, {
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (complaints += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const said = {};
  // Whatever it waits for then does not come.
  const timer = setTimeout(() => child.kill('SIGKILL'), HANGS);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const fact = JSON.parse(line);
      const act = fact.open ? acts.open : acts[fact.do];
      if (act) child.stdin.write(`${JSON.stringify((await act(fact)) ?? {})}\n`);
      else Object.assign(said, fact);
    }
    assert.equal(await ended, 0, `${complaints}\nit said: ${JSON.stringify(said)}`);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
  return said;
}

async function check(server, said, version) {
  assert.equal(said.version, version);
  assert.equal(said.server, 'dropleaf');
  for (const name of ['publish_html', 'update_site', 'list_feedback']) assert.ok(said.tools.includes(name), name);
  assert.equal(said.site.version, 2);
  assert.ok(said.listed.includes(said.site.id));
  assert.match((await view(server, said.site)).text(), /Second draft/);
  assert.equal(said.updated, `dropleaf://sites/${said.site.id}`);
  assert.equal(said.unread, 1);
  assert.deepEqual(said.comments, ['Say by when.']);
  assert.equal(said.note, 'On Friday.');
  assert.equal(said.read, said.site.id);
}

const ERAS = [
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
];

for (const [era, version] of ERAS) {
  test(`with a key at ${version} it publishes, updates, lists, hears of a comment and answers it`, async () => {
    const env = { DROPLEAF_KEY: await operatorKey(ann.server) };
    const said = await run(ann.server, era, env, { comment: ({ site }) => comment(ann.server, site, 'Say by when.') });
    await check(ann.server, said, version);
  });

  test(`with OAuth at ${version} it does the same in the name of the person who let it in`, async () => {
    const { redirect, came, close } = await callback();
    const said = await run(ann.server, era, { REDIRECT: redirect }, {
      open: async ({ open }) => {
        await consent(ann.page, open);
        return Object.fromEntries(await came);
      },
      comment: ({ site }) => comment(ann.server, site, 'Say by when.'),
    });
    close();
    await check(ann.server, said, version);
  });

  test(`at ${version} a restart of the server between two calls is not noticed`, async () => {
    const dataDir = await tempDir('mcp-restart');
    let server = await startServer({ dataDir });
    try {
      const env = { DROPLEAF_KEY: await operatorKey(server), RESTART: '1' };
      const said = await run(server, era, env, {
        restart: async () => {
          await server.stop();
          server = await startServer({ dataDir, port: server.port });
        },
        comment: async ({ site }) => {
          if (era === 'legacy') await streaming(server);
          await comment(server, site, 'Say by when.');
        },
      });
      await check(server, said, version);
    } finally {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
}
