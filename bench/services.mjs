// What the benchmarks on PostgreSQL and S3 share. They run under scripts/with-services, which turns syncs off for the tests; here
// they are turned on, so that a publish is durable. Servers and load use all cores: see the CPU columns for who needs how much.

import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createDatabase, psql } from '../e2e/postgres.mjs';
import { command, operatorKey, startServer } from '../e2e/server.mjs';
import { RELEASE } from './measure.mjs';

const TICK = Number(execFileSync('getconf', ['CLK_TCK']));
const SERVER = process.env.DROPLEAF_TEST_POSTGRES;
if (!SERVER || process.env.BENCH_CORES !== 'all') throw new Error('run it with scripts/bench NAME');

export const UNLIMITED = { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' };

/**
 * A new database and a new part of the bucket: `env` for every node, `url`, `cpu` of PostgreSQL so far, `drop`. With `quiet`,
 * PostgreSQL does no vacuum of its own, which would count as CPU time of what is measured.
 */
export async function startStorage({ quiet = false } = {}) {
  for (const setting of ['fsync', 'full_page_writes']) await psql(SERVER, `ALTER SYSTEM SET ${setting} = on`);
  if (quiet) await psql(SERVER, 'ALTER SYSTEM SET autovacuum = off');
  await psql(SERVER, 'SELECT pg_reload_conf()');
  const { name, url, drop } = await createDatabase('bench');
  const [bucket, options] = process.env.DROPLEAF_TEST_S3.split('?');
  if ((await psql(url, 'SHOW fsync')) !== 'on') throw new Error('PostgreSQL does not sync');
  const writer = await psql(url, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
  const [, postmaster] = await statOf(writer);
  return {
    url,
    env: { ...UNLIMITED, DROPLEAF_DATABASE_URL: url, DROPLEAF_BLOBS_URL: `${bucket}/${name}?${options}`, DROPLEAF_SECRET_KEY: '5eed'.repeat(16) },
    cpu: () => serverCpu(postmaster),
    drop,
  };
}

/** The fields of /proc/PID/stat after the name of the program; null once the process is gone. */
async function statOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat && stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number);
}

/** CPU seconds of a server of PostgreSQL so far: its processes, and those that have ended. */
async function serverCpu(postmaster) {
  let ticks = 0;
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) && (await statOf(name));
    if (!stat) continue;
    if (stat[1] === postmaster) ticks += stat[11] + stat[12];
    if (Number(name) === postmaster) ticks += stat[11] + stat[12] + stat[13] + stat[14];
  }
  return ticks / TICK;
}

export async function startNodes(storage, count, more = {}) {
  const nodes = [];
  // One after another: the first one migrates and makes the operator.
  for (let n = 0; n < count; n += 1) nodes.push(await startServer({ binary: RELEASE, env: { ...storage.env, ...more } }));
  await operatorKey(nodes[0]);
  return nodes;
}

/** The keys of new accounts. */
export async function accounts(node, count, prefix) {
  const keys = [];
  for (let n = 0; n < count; n += 1) {
    keys.push((await command(node, 'account', 'create', `${prefix}${n}@example.org`, '--plan', 'pro')).match(/stk_live_[0-9A-Za-z]{36}/)[0]);
  }
  return keys;
}
