// Starts the real binary on a free port with a directory of its own, waits until it is ready, and stops it.
// Used by the browser tests, the torture tests and the benchmarks.

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from './http.mjs';

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const BINARY = process.env.DROPLEAF_BIN ?? path.join(ROOT, 'target/debug/dropleaf');

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Nothing takes this long, however busy the machine is, unless it hangs. */
export const HANGS = 120_000;

/** Polls until `probe` gives something truthy; the message names what was waited for. */
export async function until(what, probe, { timeout = HANGS, every = 20 } = {}) {
  const deadline = Date.now() + timeout;
  for (;;) {
    const answer = await probe();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${timeout} ms for ${what}`);
    await sleep(every);
  }
}

export async function tempDir(name) {
  return mkdtemp(path.join(os.tmpdir(), `dropleaf-${name}-`));
}

/** A port that is free on both loopback addresses and outside the range of outgoing connections. */
export async function freePort() {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    if ((await canListen(port, '127.0.0.1')) && (await canListen(port, '::1'))) return port;
  }
}

function canListen(port, host) {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', (error) => resolve(error.code === 'EADDRNOTAVAIL'));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

/** As often a server is started at another port, because the one that was free a moment ago is taken. */
const STARTS = 20;

/**
 * Starts a server. Options: `env` (more settings), `siteUrl` (a function of the port), `dataDir` (kept when given), `port`,
 * `binary`, `wrap` (a command that runs the binary, such as strace).
 */
export async function startServer(options = {}) {
  for (let left = STARTS; ; left -= 1) {
    try {
      return await startAt(options.port ?? (await freePort()), options);
    } catch (error) {
      const taken = options.port === undefined && /cannot listen on /.test(error.message);
      if (!taken || left === 1) throw error;
    }
  }
}

async function startAt(port, options) {
  const ownDir = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await tempDir('data'));
  const binary = options.binary ?? BINARY;
  const url = `http://localhost:${port}`;
  const env = {
    PATH: process.env.PATH,
    DROPLEAF_LISTEN: `localhost:${port}`,
    DROPLEAF_BASE_URL: url,
    DROPLEAF_DATA_DIR: dataDir,
    ...(options.siteUrl && { DROPLEAF_SITE_URL: options.siteUrl(port) }),
    ...options.env,
  };
  const [command, ...args] = [...(options.wrap ?? []), binary, 'serve'];
  const startedAt = performance.now();
  const child = spawn(command, args, { env, cwd: dataDir, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const server = { port, url, siteUrl: env.DROPLEAF_SITE_URL ?? url, dataDir, env, binary, child, pid: child.pid, log: '' };
  const keep = (chunk) => (server.log = (server.log + chunk).slice(-200_000));
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  server.exited = new Promise((resolve) => {
    child.once('error', (error) => keep(`${error}\n`));
    child.once('close', (code, signal) => {
      running.delete(child);
      server.gone = true;
      resolve({ code, signal });
    });
  });
  server.kill = async () => {
    child.kill('SIGKILL');
    await server.exited;
  };
  server.stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), HANGS);
    const end = await server.exited;
    clearTimeout(timer);
    if (ownDir) await rm(dataDir, { recursive: true, force: true });
    return end;
  };

  try {
    await until('/readyz', () => isReady(server));
  } catch (error) {
    await server.kill();
    if (ownDir) await rm(dataDir, { recursive: true, force: true });
    throw new Error(`${error.message}; the server said:\n${server.log}`);
  }
  server.readyAfterMs = performance.now() - startedAt;
  server.key = server.log.match(/stk_live_[0-9A-Za-z]{36}/)?.[0];
  return server;
}

async function isReady(server) {
  if (server.gone) throw new Error('the server ended before it was ready');
  try {
    return (await request(server, { path: '/readyz' })).status === 200;
  } catch {
    return false;
  }
}

/** Runs the binary with a subcommand on the same settings; gives what it printed. */
export async function command(server, ...args) {
  const { stdout } = await promisify(execFile)(server.binary, args, { env: server.env, cwd: server.dataDir });
  return stdout.trim();
}

/** A key of the operator: the one printed at first start, else a new one. */
export async function operatorKey(server) {
  server.key ??= await command(server, 'account', 'key', 'operator@localhost');
  return server.key;
}
