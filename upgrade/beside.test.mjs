// A rolling upgrade: nodes of the last release (UPGRADE_OLD, built by scripts/upgrade-test) and of this version work on one
// PostgreSQL database, then the old ones are stopped one by one. On SQLite this version follows the old one in its folder.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { postgresServer, psql } from '../e2e/postgres.mjs';
import { BINARY, command, startServer } from '../e2e/server.mjs';
import { releasedStore } from './store.mjs';
import { Traffic } from './traffic.mjs';

const OLD = process.env.UPGRADE_OLD;
const SCHEMA = Number(process.env.UPGRADE_SCHEMA);
const ROUNDS = Number(process.env.UPGRADE_ROUNDS ?? 20);
assert.ok(OLD && SCHEMA, 'run scripts/upgrade-test long');
postgresServer();

const ledgerIsSound = async (node) => {
  const audit = await command(node, 'ledger', 'audit', '--json');
  assert.equal(JSON.parse(audit).consistent, true, audit);
};

/** An old program refuses to start on a database that this version has migrated; its nodes that run go on. */
async function oldIsRefused(env, cwd) {
  const refused = await promisify(execFile)(OLD, ['account', 'list'], { env, cwd }).catch((error) => error);
  assert.match(String(refused.stderr), /schema version \d+/);
  assert.notEqual(refused.code ?? 0, 0);
}

test(`nodes of schema ${SCHEMA} and of this version work side by side on PostgreSQL`, async () => {
  const store = await releasedStore(SCHEMA, { postgres: true });
  const version = () => psql(store.databaseUrl, 'SELECT MAX(version) FROM schema_migrations');
  const nodes = [];
  const traffic = new Traffic(store, nodes);
  const start = async (n, binary) => {
    const node = await startServer({ binary, env: store.env, dataDir: await store.dataDir(n) });
    nodes.push(node);
    return node;
  };
  const started = [];
  try {
    const old = [await start(1, OLD), await start(2, OLD)];
    started.push(...old);
    assert.equal(Number(await version()), SCHEMA);
    traffic.start();
    await traffic.progress(ROUNDS);
    const first = await start(0, BINARY);
    started.push(first);
    const migrated = Number(await version());
    assert.ok(migrated >= SCHEMA);
    await traffic.progress(ROUNDS);
    for (const node of nodes) await traffic.verify(node);
    if (migrated > SCHEMA) await oldIsRefused(old[0].env, old[0].dataDir);
    else console.log(`schema ${SCHEMA} is the newest: nothing to migrate, and no refusal to check`);

    await traffic.stop(old[0]);
    await traffic.progress(ROUNDS);
    const second = await start(3, BINARY);
    started.push(second);
    await traffic.stop(old[1]);
    await traffic.progress(ROUNDS);
    await traffic.end();
    for (const node of nodes) await traffic.verify(node);
    await ledgerIsSound(second);
    console.log(`PostgreSQL: ${JSON.stringify(traffic.done)}, ${traffic.retries} requests repeated on another node`);
  } finally {
    await traffic.end().catch(() => {});
    for (const node of started) if (!node.gone) await node.stop();
    await store.cleanUp();
  }
});

test(`this version follows one of schema ${SCHEMA} on SQLite`, async () => {
  const store = await releasedStore(SCHEMA);
  const dataDir = await store.dataDir();
  const nodes = [];
  const traffic = new Traffic(store, nodes);
  let node;
  try {
    node = await startServer({ binary: OLD, env: store.env, dataDir });
    nodes.push(node);
    traffic.start();
    await traffic.progress(ROUNDS);
    // The clients keep the address and repeat their requests meanwhile.
    const { port } = node;
    await traffic.stop(node);
    nodes.push({ port, isReady: false });
    node = await startServer({ binary: BINARY, env: store.env, dataDir, port });
    nodes.splice(0, 1, node);
    await traffic.progress(ROUNDS);
    await traffic.end();
    await traffic.verify(node);
    await ledgerIsSound(node);
    console.log(`SQLite: ${JSON.stringify(traffic.done)}, ${traffic.retries} requests repeated`);
  } finally {
    await traffic.end().catch(() => {});
    if (node && !node.gone) await node.stop();
    await store.cleanUp();
  }
});
