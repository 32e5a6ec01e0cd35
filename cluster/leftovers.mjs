// Removes what a cluster leaves behind: processes, network namespaces, folders. Everything carries the id of the process that
// made it, so this works after a crash too: a cluster whose owner is dead is removed by its watcher, or by the next start.
// Run by itself (`node cluster/leftovers.mjs`), it removes all clusters whose owner is dead.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PREFIX = 'dropleaf-cluster-';
const NAMESPACES = '/run/netns';

/** When a process started, in ticks since boot: together with its id it names one process forever. `undefined`: it is dead. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** The id of this process, the start of the names of all that it makes. */
export const OWNER = `${PREFIX}${process.pid}-${startOf(process.pid)}-`;

function ownerOf(name) {
  const parts = name.match(/^dropleaf-cluster-(\d+)-(\d+)-/);
  return parts && { id: parts[0], pid: parts[1], start: parts[2] };
}

const list = (folder) => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** All processes in a network namespace. */
export function processesIn(namespace) {
  return execFileSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' }).split('\n').filter(Boolean).map(Number);
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Ends all processes in a namespace, also those that are started meanwhile, and removes it. */
function removeNamespace(namespace) {
  for (let left = 500; left > 0; left -= 1) {
    const pids = processesIn(namespace);
    if (pids.length === 0) break;
    for (const pid of pids) kill(pid);
    pause(10);
  }
  execFileSync('ip', ['netns', 'delete', namespace]);
}

/** Removes all parts whose names start like this. Synchronous, so that it also works while the process exits. */
export function remove(prefix) {
  const failures = [];
  const removeAll = (folder, step) => {
    for (const name of list(folder).filter((name) => name.startsWith(prefix))) {
      try {
        step(name);
      } catch (error) {
        // Another process may have been faster.
        if (existsSync(path.join(folder, name))) failures.push(error.message);
      }
    }
  };
  removeAll(NAMESPACES, removeNamespace);
  removeAll(os.tmpdir(), (name) => rmSync(path.join(os.tmpdir(), name), { recursive: true, force: true, maxRetries: 5 }));
  if (failures.length > 0) console.error(`cluster: not everything was removed:\n${failures.join('\n')}`);
}

/** Removes the clusters of processes that are dead. */
export function removeOrphans() {
  const ids = new Set();
  for (const name of [...list(NAMESPACES), ...list(os.tmpdir())]) {
    const owner = ownerOf(name);
    if (owner && startOf(owner.pid) !== owner.start) ids.add(owner.id);
  }
  for (const id of ids) remove(id);
}

let watched = false;

/** Makes sure that nothing is left however this process ends: a handler for exits and signals, a watcher for SIGKILL. */
export function removeAtExit() {
  if (watched) return;
  watched = true;
  process.on('exit', () => remove(OWNER));
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]]) process.once(signal, () => process.exit(code));
  // Its input ends when this process does, however that happens.
  const script = 'cat >/dev/null; exec "$0" "$1"';
  const options = { stdio: ['pipe', 'ignore', 'ignore'], detached: true };
  const watcher = spawn('sh', ['-c', script, process.execPath, fileURLToPath(import.meta.url)], options);
  watcher.unref();
  watcher.stdin.unref();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) removeOrphans();
