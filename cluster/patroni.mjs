// Three PostgreSQL servers under Patroni: one leader, two replicas, a new leader within half a minute when the leader dies.
// Synchronous by default: a commit is acknowledged when a replica has it, and only such a replica may become leader.

import { chown, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { request } from '../e2e/http.mjs';
import { ROOT, until } from '../e2e/server.mjs';
import { sh } from './network.mjs';
import { makePart, untilWorks } from './part.mjs';

/** Patroni's smallest values: the leader's lease in seconds, and how often it is renewed. */
const TTL = 20;
const LOOP_WAIT = 1;
const PACKAGES = path.join(ROOT, '.test/tools/patroni');
/** The system's own: one in a home folder is not accessible to the user that runs PostgreSQL. */
const PYTHON = '/usr/bin/python3';
const REST = 8008;

async function postgresBin() {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  if (!newest) throw new Error('cluster: no PostgreSQL; run scripts/install-test-tools first');
  return `/usr/lib/postgresql/${newest}/bin`;
}

/** Options: `etcd` (its part), `members` (how many), `sync`. Gives the members and what can be asked of all of them. */
export async function startPatroni(network, folder, { etcd, members: count = 3, sync = true }) {
  const bin = await postgresBin();
  const [uid, gid] = [Number(await sh('id', '-u', 'postgres')), Number(await sh('id', '-g', 'postgres'))];
  // PostgreSQL refuses to run as root, and its user may not be able to read this folder: hence a copy of Patroni.
  const packages = path.join(folder, 'patroni');
  await cp(PACKAGES, packages, { recursive: true }).catch(() => {
    throw new Error('cluster: no Patroni; run scripts/install-test-tools first');
  });

  const members = [];
  for (let at = 1; at <= count; at += 1) {
    const name = `pg${at}`;
    const home = path.join(folder, name);
    await mkdir(home);
    await chown(home, uid, gid);
    const file = path.join(folder, `${name}.json`);
    const member = await makePart(network, folder, name, {
      command: () => [PYTHON, '-m', 'patroni', file],
      user: 'postgres',
      cwd: home,
      env: { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1', HOME: home },
    });
    // JSON is YAML.
    await writeFile(file, JSON.stringify(settings(member, home, { bin, etcd, sync, subnet: network.subnet })), { mode: 0o644 });
    member.home = home;
    members.push(member);
  }

  const ask = async (member, address) => {
    const answer = await request({ address: member.address, port: REST }, { path: address, timeout: 2_000 }).catch(() => undefined);
    return answer?.status === 200 ? answer : undefined;
  };
  const database = {
    members,
    /** The member that holds the leader's lease and accepts writes, or undefined while there is none. */
    async findLeader() {
      const answers = await Promise.all(members.map((member) => ask(member, '/primary')));
      return members.find((_, at) => answers[at]);
    },
    /** Waits for a leader. */
    leader: () => until('a leader among the databases', () => database.findLeader()),
    /** The members that are not the leader. */
    async replicas() {
      const leader = await database.leader();
      return members.filter((member) => member !== leader);
    },
    /** Waits until all members run and follow the leader; with synchronous replication, until one of them is synchronous. */
    async whole() {
      await until('all databases to follow the leader', async () => {
        const leader = await database.findLeader();
        const answer = leader && (await ask(leader, '/cluster'));
        if (!answer) return false;
        const found = answer.json().members;
        const followers = found.filter((member) => member.state === 'streaming' && member.role !== 'leader');
        return followers.length === members.length - 1 && (!sync || followers.some((member) => member.role === 'sync_standby'));
      }, { timeout: 180_000, every: 100 });
    },
    /** kill -9 of PostgreSQL only: Patroni starts it again on the same machine. */
    async killPostgres(member) {
      const file = path.join(member.home, 'data/postmaster.pid');
      process.kill(Number((await readFile(file, 'utf8')).split('\n')[0]), 'SIGKILL');
    },
    /** A planned change of the leader; gives the new one. */
    async switchover() {
      const leader = await database.leader();
      const body = JSON.stringify({ leader: leader.name });
      const headers = { 'content-type': 'application/json' };
      const answer = await request({ address: leader.address, port: REST }, { method: 'POST', path: '/switchover', body, headers });
      if (answer.status !== 200) throw new Error(`switchover: ${answer.status} ${answer.text()}`);
      return until('another leader', async () => {
        const found = await database.findLeader();
        return found && found !== leader && found;
      });
    },
    /** Runs SQL on the leader; gives the rows as text, columns divided by |. */
    async sql(text, { database: name = 'dropleaf', on } = {}) {
      const member = on ?? (await database.leader());
      const where = `host=${member.address} user=postgres dbname=${name} connect_timeout=10`;
      const rows = await sh(path.join(bin, 'psql'), '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', where, '-c', text);
      return rows.trimEnd();
    },
    /** A URL with all members, of which clients find the leader. */
    url: (name = 'dropleaf') =>
      `postgres://postgres@${members.map((member) => `${member.address}:5432`).join(',')}/${name}?target_session_attrs=read-write`,
  };

  for (const member of members) member.start();
  await untilWorks(members[0], 'a leader', () => database.findLeader(), { every: 100 });
  await database.whole();
  return database;
}

function settings(member, home, { bin, etcd, sync, subnet }) {
  return {
    scope: 'dropleaf',
    name: member.name,
    restapi: { listen: `${member.address}:${REST}`, connect_address: `${member.address}:${REST}` },
    etcd3: { hosts: [`${etcd.address}:2379`] },
    bootstrap: {
      dcs: {
        ttl: TTL,
        loop_wait: LOOP_WAIT,
        retry_timeout: 3,
        synchronous_mode: sync,
        // A leader whose PostgreSQL died may start it again for this long before another one takes over.
        primary_start_timeout: 10,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: {
            max_connections: 200,
            // Processes are killed here, never the machine, so nothing needs to reach the disk.
            fsync: 'off',
            // Files in the data folder instead of /dev/shm, where they would outlive a killed server.
            dynamic_shared_memory_type: 'mmap',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'no-sync'],
    },
    postgresql: {
      listen: `${member.address}:5432`,
      connect_address: `${member.address}:5432`,
      data_dir: path.join(home, 'data'),
      bin_dir: bin,
      pgpass: path.join(home, 'pgpass'),
      parameters: { unix_socket_directories: home },
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' }, rewind: { username: 'postgres' } },
      pg_hba: ['local all all trust', `host all all ${subnet} trust`, `host replication all ${subnet} trust`],
      // A member that comes back after a failover and cannot be rewound is copied again.
      remove_data_directory_on_diverged_timelines: true,
      remove_data_directory_on_rewind_failure: true,
    },
  };
}
