// Connections that are cut after a tool call has reached the server: the official clients resume them, every answer arrives
// and nothing is done twice. On one server, over its restart, and on two nodes with one database.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { request } from '../http.mjs';
import { operatorKey, ROOT, startServer, tempDir } from '../server.mjs';
import { cuttingProxy } from './cutting_proxy.mjs';
import { page, told } from './walk.mjs';

const CALLS = 50;
const POSTGRES = { skip: process.env.DROPLEAF_TEST_POSTGRES ? false : 'needs scripts/with-services' };
/** Each client makes more requests than a key may in a minute. */
const UNLIMITED = { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' };
const SECRET = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
/** Half of them before the answer, half of them in its middle. */
const alternately = (n) => (n % 2 ? 'middle' : 'first');

const CLIENTS = {
  'TypeScript 1': async (url, headers, work) => {
    const client = new Client1({ name: 'e2e', version: '1' });
    await client.connect(new Transport1(new URL(`${url}/mcp`), { requestInit: { headers } }));
    const done = await work((html) => client.callTool({ name: 'publish_html', arguments: { html } }));
    await client.close();
    return done;
  },
  'TypeScript 2': async (url, headers, work) => {
    const client = new Client2({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(new Transport2(new URL(`${url}/mcp`), { requestInit: { headers } }));
    const done = await work((html) => client.callTool({ name: 'publish_html', arguments: { html } }));
    await client.close();
    return done;
  },
};

/** Publishes so many pages at once by a client; gives their ids. */
async function publishMany(name, url, key, count, prefix) {
  const titles = Array.from({ length: count }, (_, n) => `${prefix} ${n}`);
  if (name === 'Python') return publishWithPython(url, key, titles);
  return CLIENTS[name](url, { authorization: `Bearer ${key}` }, (publish) =>
    Promise.all(titles.map(async (title) => {
      const site = told(await publish(page(title)));
      assert.equal(site.title, title);
      return site.id;
    })));
}

async function publishWithPython(url, key, titles) {
  const script = path.join(ROOT, 'e2e/mcp/python_resume.py');
  const child = spawn(path.join(ROOT, '.test/venv/bin/python'), [script, url, JSON.stringify(titles)], {
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', DROPLEAF_KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [said, complaints] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (complaints += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0, complaints);
  const sites = JSON.parse(said);
  assert.deepEqual(sites.map((site) => site.title), titles);
  return sites.map((site) => site.id);
}

/** Every page that the server has whose title begins with the prefix. */
async function stored(server, key, prefix) {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await request(server, { path: '/sites?limit=500', headers });
  assert.equal(answer.status, 200, answer.text());
  return JSON.parse(answer.text()).sites.filter((site) => site.title.startsWith(`${prefix} `)).map((site) => site.id);
}

async function check(server, key, proxy, ids, count, prefix) {
  assert.equal(proxy.seen.calls, count, 'no call was sent twice');
  assert.equal(proxy.seen.cuts, count);
  assert.ok(proxy.seen.resumed >= count, `${proxy.seen.resumed} resumed`);
  assert.deepEqual((await stored(server, key, prefix)).sort(), [...ids].sort(), 'every page was made once');
  assert.equal(new Set(ids).size, count);
}

let server;

before(async () => (server = await startServer({ env: UNLIMITED })));
after(async () => server?.stop());

for (const name of [...Object.keys(CLIENTS), 'Python']) {
  test(`${name}: ${CALLS} cut calls are resumed`, async () => {
    const key = await operatorKey(server);
    const proxy = await cuttingProxy({ port: () => server.port, how: alternately });
    try {
      const ids = await publishMany(name, proxy.url, key, CALLS, name);
      await check(server, key, proxy, ids, CALLS, name);
    } finally {
      await proxy.stop();
    }
  });

  test(`${name}: calls cut before a restart of the server are resumed after it`, async () => {
    const dataDir = await tempDir('resume-restart');
    let own = await startServer({ dataDir, env: UNLIMITED });
    const key = await operatorKey(own);
    const count = 6;
    let restarted;
    // The first to resume waits until the server has been stopped and started, and so do the others.
    const port = (method) => {
      if (method !== 'GET' || proxy.seen.resumed === 0) return own.port;
      restarted ??= (async () => {
        await own.stop();
        own = await startServer({ dataDir, port: own.port, env: UNLIMITED });
      })();
      return restarted.then(() => own.port);
    };
    const proxy = await cuttingProxy({ port, how: alternately });
    try {
      const ids = await publishMany(name, proxy.url, key, count, 'Before');
      assert.ok(restarted, 'it was restarted');
      await check(own, key, proxy, ids, count, 'Before');
    } finally {
      await proxy.stop();
      await own.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });

  test(`${name}: calls cut on one node are resumed on another`, POSTGRES, async () => {
    const admin = process.env.DROPLEAF_TEST_POSTGRES;
    const database = `resume_${process.pid}_${name.toLowerCase().replace(' ', '_')}`;
    await promisify(execFile)('psql', ['-q', admin, '-c', `create database ${database} template template0 lc_collate 'C' lc_ctype 'C'`]);
    const blobs = await tempDir('resume-blobs');
    const env = {
      ...UNLIMITED,
      DROPLEAF_DATABASE_URL: admin.replace(/\/postgres(?=$|\?)/, `/${database}`),
      DROPLEAF_BLOBS_URL: `file:${blobs}`,
      DROPLEAF_SECRET_KEY: SECRET,
    };
    const nodes = [await startServer({ env }), await startServer({ env })];
    const key = await operatorKey(nodes[0]);
    const proxy = await cuttingProxy({ port: (method) => nodes[method === 'GET' ? 1 : 0].port, how: alternately });
    try {
      const ids = await publishMany(name, proxy.url, key, CALLS, 'Node');
      await check(nodes[1], key, proxy, ids, CALLS, 'Node');
    } finally {
      await proxy.stop();
      for (const node of nodes) await node.stop();
      await rm(blobs, { recursive: true, force: true });
    }
  });
}
