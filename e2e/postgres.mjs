// PostgreSQL for tests and benchmarks: statements through psql, and databases of their own on the server of scripts/with-services.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The server of scripts/with-services. Fails loudly without it: a test that needs PostgreSQL must not pass on SQLite. */
export function postgresServer() {
  const server = process.env.DROPLEAF_TEST_POSTGRES;
  if (!server) throw new Error('no PostgreSQL: run it under scripts/with-services');
  return server;
}

/** Runs a statement; gives the rows as psql prints them, columns separated by `|`. */
export async function psql(url, sql) {
  const { stdout } = await run('psql', [url, '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', sql], { maxBuffer: 1e8 });
  return stdout.trim();
}

let created = 0;

/** An empty database whose name starts like this: {name, url, drop}. */
export async function createDatabase(prefix) {
  const server = postgresServer();
  const name = `${prefix}_${process.pid}_${(created += 1)}`;
  await psql(server, `CREATE DATABASE ${name} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { name, url: url.href, drop: () => psql(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}
