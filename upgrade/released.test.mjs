// Upgrades without the old program: this version starts on the store of every released schema, while clients already send
// requests. Then everything is there, on SQLite and on PostgreSQL, where a second node starts beside the first. And this version
// itself goes on when a later one migrates the database, as its successor will.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { postgresServer, psql } from '../e2e/postgres.mjs';
import { command, freePort, HANGS, startServer } from '../e2e/server.mjs';
import { releasedSchemas, releasedStore } from './store.mjs';
import { Traffic } from './traffic.mjs';

const ROUNDS = process.env.UPGRADE === 'long' ? 20 : 5;
postgresServer();

async function start(store, n, port) {
  return startServer({ port, env: store.env, dataDir: await store.dataDir(n) });
}

async function upgrade(schema, postgres) {
  const store = await releasedStore(schema, { postgres });
  // Clients know the address before the node is there.
  const port = await freePort();
  const nodes = [{ port, isReady: false }];
  const traffic = new Traffic(store, nodes);
  const started = [];
  try {
    traffic.start();
    const first = await start(store, 0, port);
    started.push(first);
    nodes.splice(0, 1, first);
    await traffic.progress(ROUNDS);
    if (postgres) {
      const second = await start(store, 1);
      started.push(second);
      nodes.push(second);
      await traffic.progress(ROUNDS);
      assert.equal(await psql(store.databaseUrl, 'SELECT COUNT(*) = MAX(version) FROM schema_migrations'), 't');
    }
    await traffic.end();
    for (const node of started) await traffic.verify(node);
    const audit = await command(first, 'ledger', 'audit', '--json');
    assert.equal(JSON.parse(audit).consistent, true, audit);
  } finally {
    await traffic.end().catch(() => {});
    for (const node of started) await node.stop();
    await store.cleanUp();
  }
}

/** What a later migration may do, to every table. */
async function migrateFurther(url) {
  const tables = await psql(url, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'schema_migrations'");
  for (const table of tables.split('\n')) {
    await psql(url, `ALTER TABLE ${table} ADD COLUMN later_text TEXT; ALTER TABLE ${table} ADD COLUMN later_count BIGINT NOT NULL DEFAULT 0`);
  }
  await psql(url, `CREATE TABLE later_rows (id TEXT PRIMARY KEY, site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE);
    INSERT INTO schema_migrations (version, name, applied_at) SELECT MAX(version) + 1, 'later', 0 FROM schema_migrations`);
}

test('nodes go on when a later version migrates the database, and take no backup', async () => {
  const store = await releasedStore((await releasedSchemas()).at(-1), { postgres: true });
  const nodes = [];
  const traffic = new Traffic(store, nodes);
  try {
    for (const n of [0, 1]) nodes.push(await start(store, n));
    traffic.start();
    await traffic.progress(ROUNDS);
    await migrateFurther(store.databaseUrl);
    await traffic.progress(ROUNDS);
    await traffic.end();
    for (const node of nodes) await traffic.verify(node);
    for (const args of [['serve'], ['ledger', 'audit'], ['backup', 'copy']]) {
      const { code, said } = await refusal(nodes[1], args);
      assert.equal(code, 6, `${args}: ${said}`);
      assert.match(said, /start the newer program, or restore a backup/);
    }
  } finally {
    await traffic.end().catch(() => {});
    for (const node of nodes) await node.stop();
    await store.cleanUp();
  }
});

/** The exit code of a command and what it wrote about it. */
function refusal({ binary, env, dataDir }, args) {
  const own = { ...env, DROPLEAF_LISTEN: 'localhost:0' };
  return new Promise((resolve) => {
    execFile(binary, args, { env: own, cwd: dataDir, timeout: HANGS }, (error, _, said) => resolve({ code: error?.code ?? 0, said }));
  });
}

for (const schema of await releasedSchemas()) {
  test(`schema ${schema} is upgraded under traffic on SQLite`, () => upgrade(schema));
  test(`schema ${schema} is upgraded under traffic on PostgreSQL`, () => upgrade(schema, true));
}
