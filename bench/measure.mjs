// What the benchmarks share: wrk, CPU time of a process, medians, tables. The server runs on core 0, wrk on core 1; the
// figure to look at is a ratio inside one run, best of all per CPU-second, which other work on the machine moves least.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../e2e/server.mjs';

export const BENCH = path.join(ROOT, 'bench');
export const RELEASE = process.env.DROPLEAF_BIN ?? path.join(ROOT, 'target/release/dropleaf');
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** BENCH_CORES=all gives servers and load every core, as an operator would run them. */
const ALL_CORES = process.env.BENCH_CORES === 'all';
const onCore = (core) => (ALL_CORES ? ['env'] : ['taskset', '-c', core]);
export const onServerCore = onCore('0');
export const onLoadCore = onCore('1');
/** One worker for one core. */
export const WORKERS = ALL_CORES ? {} : { TOKIO_WORKER_THREADS: '1' };

/** Settings of a server under load: no limits for loopback. */
export const SETTINGS = { ...WORKERS, DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' };

const TICK = Number(execFileSync('getconf', ['CLK_TCK']));

/** CPU seconds used so far by the processes, threads that have ended included; not a number once one of them is gone. */
export async function cpuSeconds(pids) {
  let ticks = 0;
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    if (stat === null) return Number.NaN;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / TICK;
}

/** Runs wrk once: {rps, refusedPerSecond, perCpu, p50, p99} in requests per second and milliseconds; any refused request is an error,
 * unless `refused` says that all are, or 'some' may be. */
export async function load({ url, pids, connections = 64, headers = {}, script, args = [], seconds = SECONDS, refused }) {
  const [command, ...options] = [...onLoadCore, 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '--timeout', '10s'];
  for (const [name, value] of Object.entries(headers)) options.push('-H', `${name}: ${value}`);
  if (script) options.push('-s', path.join(BENCH, script));
  options.push(url, ...(args.length ? ['--', ...args] : []));
  const before = await cpuSeconds(pids);
  const { stdout } = await promisify(execFile)(command, options, { maxBuffer: 1e7 });
  const used = (await cpuSeconds(pids)) - before;
  const requests = Number(stdout.match(/(\d+) requests in/)[1]);
  const failed = Number(stdout.match(/Non-2xx or 3xx responses: (\d+)/)?.[1] ?? 0);
  const isExpected = refused === 'some' || failed === (refused ? requests : 0);
  if (!isExpected || /Socket errors/.test(stdout)) throw new Error(`${url}: ${stdout}`);
  const rps = Number(stdout.match(/Requests\/sec:\s+([\d.]+)/)[1]);
  return {
    rps,
    refusedPerSecond: (rps * failed) / requests,
    perCpu: requests / used,
    p50: milliseconds(stdout.match(/^\s+50%\s+(\S+)/m)[1]),
    p99: milliseconds(stdout.match(/^\s+99%\s+(\S+)/m)[1]),
  };
}

function milliseconds(text) {
  const [, value, unit] = text.match(/^([\d.]+)(us|ms|s|m)$/);
  return Number(value) * { us: 0.001, ms: 1, s: 1000, m: 60_000 }[unit];
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Interleaved rounds: `contestants` is {name: () => result}; gives {name: {rps, perCpu, p50, p99}} of medians. */
export async function contest(contestants, { rounds = ROUNDS, pause = 0 } = {}) {
  const seen = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants)) {
      seen[name].push(await run());
      if (pause) await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  const middle = (runs, field) => median(runs.map((run) => run[field]));
  return Object.fromEntries(
    Object.entries(seen).map(([name, runs]) => [
      name,
      { rps: middle(runs, 'rps'), perCpu: middle(runs, 'perCpu'), p50: middle(runs, 'p50'), p99: middle(runs, 'p99') },
    ]),
  );
}

export const ratio = (ours, theirs) => ({
  rps: ours.rps / theirs.rps,
  perCpu: ours.perCpu / theirs.perCpu,
  p50: ours.p50 / theirs.p50,
  p99: ours.p99 / theirs.p99,
});

/** Ten kilobytes of HTML of about the compressibility of a report, the same in every run. */
export function tenKilobytes() {
  const words = 'leaf page report figure table stone river total margin quarter growth plan note value north paper'.split(' ');
  let state = 12_345;
  const next = (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
  let html = '<!doctype html><html lang="en"><head><title>Ten kilobytes</title></head><body>';
  while (html.length < 10_160) html += `<p>${words[next(16)]} ${next(1e6)} ${words[next(16)]} ${next(1e6)} ${words[next(16)]}</p>`;
  return html.padEnd(10_240 - 14) + '</body></html>';
}

export async function save(name, result) {
  const file = path.join(BENCH, 'output', `${name}.json`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
  console.log(`\nwritten to ${path.relative(ROOT, file)}`);
}

/** Prints rows of {column: value}; numbers are rounded to what a reader can use. */
export function table(title, rows) {
  const text = (value) => (typeof value !== 'number' ? String(value) : value >= 100 ? value.toFixed(0) : value.toFixed(2));
  const columns = Object.keys(rows[0]);
  const cells = [columns, ...rows.map((row) => columns.map((column) => text(row[column])))];
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  console.log(`\n${title}`);
  for (const row of cells) console.log(row.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  '));
}

/** Starts another server on core 0 and gives its process; it is ended with this one. */
export function startPeer(command, args, options) {
  const [first, ...rest] = [...onServerCore, command, ...args];
  const child = spawn(first, rest, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  child.log = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (child.log = (child.log + text).slice(-20_000)));
  process.on('exit', () => child.kill('SIGTERM'));
  return child;
}
