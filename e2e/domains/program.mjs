// Runs a program beside the server (Pebble, its DNS server, Caddy): its output is kept, its readiness has a bound, and the
// test stops it.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { HANGS, ROOT, freePort, until } from '../server.mjs';

export const TOOLS = path.join(ROOT, '.test/tools/bin');
export const PYTHON_TOOLS = path.join(ROOT, '.test/venv/bin');

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `command` and waits until `isReady` gives something truthy. `stop` ends it; `log` is all that it printed. */
export async function startProgram(command, args, { env = {}, cwd, isReady }) {
  const name = path.basename(command);
  const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const program = { name, pid: child.pid, log: '', gone: false };
  const keep = (chunk) => (program.log += chunk);
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const exited = new Promise((resolve) => {
    child.once('error', (error) => keep(`${error}\n`));
    child.once('close', () => {
      running.delete(child);
      program.gone = true;
      resolve();
    });
  });
  program.stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), HANGS);
    await exited;
    clearTimeout(timer);
  };
  try {
    await until(name, async () => {
      if (program.gone) throw new Error(`${name} ended before it was ready`);
      return isReady().catch(() => false);
    });
  } catch (error) {
    await program.stop();
    throw new Error(`${error.message}; it printed:\n${program.log}`);
  }
  return program;
}

/** Calls `start` with free ports, and again with others when one of them was taken in the meantime. */
export async function onFreePorts(count, start) {
  for (let left = 20; ; left -= 1) {
    const ports = new Set();
    while (ports.size < count) ports.add(await freePort());
    try {
      return await start(...ports);
    } catch (error) {
      if (!/address already in use/i.test(error.message) || left === 1) throw error;
    }
  }
}
