// One part of a cluster: the processes in one network namespace. It can be started, killed, paused, resumed and asked to stop,
// whatever it is.

import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../e2e/server.mjs';
import { processesIn } from './leftovers.mjs';

/** Programs that act on a namespace and are no part of the cluster. */
const TOOLS = new Set(['nsenter', 'nft', 'ss']);

/** The name of a program, or nothing if it has ended. */
function programOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Options: `command` (a function that gives program and arguments), `user`, `env`, `cwd`. */
export async function makePart(network, folder, name, options = {}) {
  const place = await network.join(name);
  const logFile = path.join(folder, `${name}.log`);
  const part = { name, ...place, logFile, child: undefined, exited: undefined };

  /** The words of a command that runs a program inside the namespace. It replaces itself, so the child is the program. */
  part.inside = (command, { user = options.user } = {}) => [
    'nsenter', `--net=/run/netns/${place.namespace}`, '--',
    // Shared memory of a killed PostgreSQL goes away with its last process.
    'unshare', '--ipc', '--',
    ...(user ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--'] : []),
    ...command,
  ];

  part.start = (command = options.command()) => {
    if (part.child) throw new Error(`${name} runs already`);
    const [program, ...args] = part.inside(command);
    const log = openSync(logFile, 'a');
    const env = { PATH: process.env.PATH, LANG: 'C.UTF-8', ...options.env };
    // A group of its own: Ctrl-C reaches this script only, which then removes everything.
    const child = spawn(program, args, { env, cwd: options.cwd ?? folder, stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    part.child = child;
    part.pid = child.pid;
    part.exited = new Promise((resolve) => {
      const ended = (code, signal) => {
        if (part.child === child) part.child = undefined;
        resolve({ code, signal });
      };
      child.once('error', (error) => ended(error.code, null));
      child.once('exit', ended);
    });
  };

  /** Its own processes: firewall rules are loaded inside of the namespace too, and must not be stopped half-way. */
  const own = () => processesIn(place.namespace).filter((pid) => pid === part.pid || !TOOLS.has(programOf(pid)));

  const signal = (signalName) => {
    for (const pid of own()) {
      try {
        process.kill(pid, signalName);
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    }
  };

  /** kill -9 of every process at once, as when the machine's memory runs out; the kernel still closes its connections. */
  part.kill = async () => {
    await until(`${name} to be gone`, () => {
      signal('SIGKILL');
      return own().length === 0;
    });
    await part.exited;
  };
  /** SIGSTOP: connections stay open, nothing answers. Resolves when every thread has stopped, which takes a moment. */
  part.pause = async () => {
    await until(`${name} to be paused`, () => {
      signal('SIGSTOP');
      return processesIn(place.namespace).every(isPaused);
    });
  };
  /** SIGCONT: it goes on where it was. */
  part.resume = async () => signal('SIGCONT');
  /** SIGTERM to the main process; resolves with its end. */
  part.term = () => {
    const { child, exited } = part;
    child?.kill('SIGTERM');
    return exited;
  };
  /** Starts it again if it does not run. */
  part.restart = async () => {
    if (!part.child) part.start();
  };
  /** Runs a program inside the namespace to its end; gives its exit code and output. */
  part.run = async (...command) => {
    const [program, ...args] = part.inside(command, { user: null });
    return new Promise((resolve) => {
      execFile(program, args, (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }));
    });
  };
  part.log = () => readFile(logFile, 'utf8').catch(() => '');
  /** The end of the log, for messages about failures. */
  part.tail = async (lines = 25) => (await part.log()).trimEnd().split('\n').slice(-lines).join('\n');
  return part;
}

/** Whether all threads of a process are stopped, or it is gone. */
function isPaused(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      return 'TtZX'.includes(stat[stat.lastIndexOf(')') + 2]);
    });
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return true;
    throw error;
  }
}

/** Waits for a part to work; says what it logged when it does not. */
export async function untilWorks(part, what, probe, options) {
  try {
    return await until(what, async () => {
      if (!part.child) throw new Error(`${part.name} ended before ${what}`);
      return probe();
    }, options);
  } catch (error) {
    throw new Error(`${error.message}; ${part.name} logged:\n${await part.tail()}`);
  }
}
