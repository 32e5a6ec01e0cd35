// 60 keys of one account, then many accounts, begin thousands of MCP sessions with 60 KB of client parameters each: the
// process and the database stay small, and a session that is in use goes on.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { request } from '../e2e/http.mjs';
import { command, operatorKey, startServer } from '../e2e/server.mjs';
import { LONG, memory } from './fixture.mjs';

const KEYS = 60;
const CALLS = LONG ? 20_000 : 6_600;
const ACCOUNTS = LONG ? 60 : 25; // each has 100 sessions: more together than a node holds in memory
const TOGETHER = 16;
/** Beside what the process needs without sessions, which depends on how it was built. Kept whole, the parameters would be 400 MB. */
const MOST_GROWN_MIB = 80;
const MOST_DATABASE_MIB = 32;
/** Only so many requests a minute are allowed by default; every other bound stays as it is. */
const MANY = { DROPLEAF_LIMITS__KEY_PER_MINUTE: '1000000', DROPLEAF_LIMITS__ACCOUNT_PER_MINUTE: '1000000' };

const agent = new http.Agent({ keepAlive: true, maxSockets: TOGETHER });
const long = 'p'.repeat(15_000);
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: { roots: {}, experimental: { notes: { text: long } } },
    clientInfo: { name: long, version: '1', title: long, description: long },
  },
});

let server, key, baseline;

before(async () => {
  server = await startServer({ env: MANY });
  key = await operatorKey(server);
  baseline = (await memory(server.pid)).now;
});
after(() => server?.stop());

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function say(by, body, session) {
  const more = session ? { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' } : {};
  return request(server, { method: 'POST', path: '/mcp', key: by, agent, headers: { ...headers, ...more }, body });
}

const ping = (by, session) => say(by, JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' }), session);

const COPY_BACK = 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1], timeout=60).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])';

/** The database, once everything in its log was copied back. */
async function databaseMib() {
  const file = path.join(server.dataDir, 'dropleaf.db');
  const { stdout } = await promisify(execFile)('python3', ['-c', COPY_BACK, file]);
  assert.equal(stdout.trim(), '0', 'the log was copied back');
  return (await stat(file)).size / 1024 / 1024;
}

/** Begins so many sessions, with the keys in turn; says what that took. */
async function attack(context, keys, calls) {
  const before = await databaseMib();
  let begun = 0;
  const worker = async () => {
    while (begun < calls) {
      const answer = await say(keys[begun++ % keys.length], INITIALIZE);
      assert.equal(answer.status, 200, answer.text());
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, worker));
  const { peak, now } = await memory(server.pid);
  const grown = (await databaseMib()) - before;
  context.diagnostic(`${Math.round(baseline)} MiB before, ${Math.round(peak)} at most, ${Math.round(now)} now`);
  context.diagnostic(`the database grew by ${grown.toFixed(1)} MiB`);
  assert.ok(peak - baseline < MOST_GROWN_MIB, `${Math.round(peak)} MiB after ${Math.round(baseline)}`);
  assert.ok(grown < MOST_DATABASE_MIB, `${grown} MiB`);
}

test('many sessions of one account take little memory and few rows', async (context) => {
  const keys = [];
  for (let n = 0; n < KEYS; n += 1) {
    const made = await request(server, { method: 'POST', path: '/api-keys', key, agent, headers, body: '{"name":"one of many"}' });
    assert.equal(made.status, 201, made.text());
    keys.push(made.json().key);
  }
  await attack(context, keys, CALLS);
});

test('sessions of many accounts take no more', async (context) => {
  const keys = [];
  for (let n = 0; n < ACCOUNTS; n += 1) {
    await command(server, 'account', 'create', `${n}@example.org`);
    keys.push((await command(server, 'account', 'key', `${n}@example.org`)).match(/stk_live_[0-9A-Za-z]{36}/)[0]);
  }
  await attack(context, keys, ACCOUNTS * 100);
});

test('a session goes on, and one more can begin', async () => {
  const begun = await say(key, INITIALIZE);
  assert.equal(begun.status, 200, begun.text());
  const answer = await ping(key, begun.headers['mcp-session-id']);
  assert.equal(answer.status, 200, answer.text());
  assert.equal(server.log.match(/.*panicked.*/)?.[0], undefined);
});
