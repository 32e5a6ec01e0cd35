// A PostgreSQL server of one test, which can be killed, frozen and started again.

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { chown, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort, tempDir, until } from '../e2e/server.mjs';

const run = promisify(execFile);
const VERSIONS = '/usr/lib/postgresql';
const newest = readdirSync(VERSIONS).sort((a, b) => Number(a) - Number(b)).at(-1);
const isRoot = process.getuid() === 0;

/** Runs one of PostgreSQL's programs, which refuse to run as root. */
async function program(dir, name, ...args) {
  const command = path.join(VERSIONS, newest, 'bin', name);
  const [file, rest] = isRoot ? ['runuser', ['-u', 'postgres', '--', command, ...args]] : [command, args];
  return run(file, rest, { cwd: dir });
}

/** The number of a system user. */
async function numberOf(user) {
  return Number((await run('id', ['-u', user])).stdout);
}

export async function startPostgres() {
  const dir = await tempDir('postgres');
  const port = await freePort();
  if (isRoot) await chown(dir, await numberOf('postgres'), -1);
  await program(dir, 'initdb', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N', '-D', dir);
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories= -c fsync=off`;

  const start = () => program(dir, 'pg_ctl', '-D', dir, '-l', path.join(dir, 'server.log'), '-o', options, '-w', 'start');
  const pids = async () => {
    const main = Number((await readFile(path.join(dir, 'postmaster.pid'), 'utf8')).split('\n')[0]);
    return [main, ...(await childrenOf(main))];
  };
  const signal = async (name) => {
    for (const pid of await pids()) {
      try {
        process.kill(pid, name);
      } catch (error) {
        // A process of a connection may have ended meanwhile.
        if (error.code !== 'ESRCH') throw error;
      }
    }
  };

  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    /** Kills all its processes at once; connections are closed by the kernel. */
    async kill() {
      const all = await pids();
      await signal('SIGKILL');
      await until('the end of PostgreSQL', () => all.every((pid) => !isAlive(pid)));
      await rm(path.join(dir, 'postmaster.pid'), { force: true });
    },
    /** It keeps its connections, accepts new ones, and answers nothing. */
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async remove() {
      await program(dir, 'pg_ctl', '-D', dir, '-m', 'immediate', '-w', 'stop').catch(() => {});
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function childrenOf(parent) {
  const all = readdirSync('/proc').map(Number).filter(Boolean);
  const parents = await Promise.all(all.map(parentOf));
  return all.filter((_, at) => parents[at] === parent);
}

/** The parent of a process; undefined if it has ended. */
async function parentOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // After the name, which is in parentheses and may contain anything: the state, then the parent.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) || undefined;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
