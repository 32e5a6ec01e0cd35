// Stores of released schemas for the upgrade tests: unpacks a fixture of crates/store/tests/released for SQLite, or loads its rows
// into PostgreSQL as the program of that time left them.

import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { startClock } from '../e2e/domains/clock.mjs';
import { createDatabase } from '../e2e/postgres.mjs';
import { ROOT, tempDir } from '../e2e/server.mjs';

const RELEASED = path.join(ROOT, 'crates/store/tests/released');
const MIGRATIONS = path.join(ROOT, 'crates/store/migrations');
const run = promisify(execFile);

/** The numbers of the released schemas, the oldest first. */
export async function releasedSchemas() {
  const names = await readdir(RELEASED);
  return names.map((name) => Number(name.split('-')[1])).sort((a, b) => a - b);
}

/**
 * A copy of the store of a schema: `contents` (see e2e/populate), `env` of every node, `dataDir(n)` of the nth node, `cleanUp`.
 * With `postgres` it is in a new database on PostgreSQL; otherwise the store is SQLite, for one node at a time.
 */
export async function releasedStore(schema, { postgres = false } = {}) {
  const from = path.join(RELEASED, `schema-${schema}`);
  const dir = await tempDir(`schema-${schema}`);
  const json = async (name) => JSON.parse(await readFile(path.join(from, name), 'utf8'));
  const [contents, { taken_at }] = [await json('contents.json'), await json('manifest.json')];
  const secret = (await readFile(path.join(from, 'test-only.secret.key'), 'utf8')).trim();
  const data = path.join(dir, 'data');
  await mkdir(data, { mode: 0o700 });
  await cp(path.join(from, 'blobs'), path.join(data, 'blobs'), { recursive: true });
  const file = path.join(data, 'dropleaf.db');
  await writeFile(file, gunzipSync(await readFile(path.join(from, 'dropleaf.db.gz'))));

  // The time goes on from when the store was made, the same on every node: its pages expire, and codes in it are valid.
  const clock = await startClock();
  await clock.advance(`-${Math.max(0, Math.floor(Date.now() / 1000) - taken_at)}s`);
  const env = { ...clock.env, DROPLEAF_SECRET_KEY: secret, DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' };
  const dataDir = async (n = 0) => {
    const own = n === 0 ? data : path.join(dir, `node-${n}`);
    await mkdir(own, { recursive: true, mode: 0o700 });
    return own;
  };
  let drop = async () => {};
  if (postgres) {
    const database = await createDatabase('upgrade');
    ({ drop } = database);
    await load(file, database.url);
    await rm(file);
    Object.assign(env, { DROPLEAF_DATABASE_URL: database.url, DROPLEAF_BLOBS_URL: `file:${path.join(data, 'blobs')}` });
  }
  const cleanUp = async () => {
    await drop();
    await clock.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return { schema, contents, env, dataDir, cleanUp, databaseUrl: env.DROPLEAF_DATABASE_URL };
}

async function load(file, url) {
  const { stdout } = await run('python3', [path.join(ROOT, 'upgrade/load_rows.py'), file, MIGRATIONS], { maxBuffer: 1e8 });
  const child = execFile('psql', [url, '-X', '-q'], { maxBuffer: 1e7 });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  child.stdin.end(stdout);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`the store was not loaded into PostgreSQL: ${said}`);
}
