// What the torture tests share: the form asked for, a repeatable dice, contents that prove themselves.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** `make torture` runs the long form; `make test` the short one. */
export const LONG = process.env.TORTURE === 'long';

/** The load comes from this machine, so the limits for anonymous clients do not apply to it. */
export const UNLIMITED = { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' };

/** The size of caches does not depend on the machine, so that memory in use can be told from memory that is kept. */
export const SMALL_CACHES = { DROPLEAF_STORAGE__CACHE_BYTES: String(64 << 20) };

/** The short form is the same in every run; the long one looks further. */
export const seed = Number(process.env.TORTURE_SEED ?? (LONG ? Math.floor(Math.random() * 2 ** 31) : 1));

/** A small seeded generator (xorshift32), so that a failing run can be repeated with TORTURE_SEED. */
export function dice(start) {
  let state = start | 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return { chance: (p) => next() < p, below: (n) => Math.floor(next() * n), between: (a, b) => a + Math.floor(next() * (b - a)) };
}

/** A page of about `size` bytes that carries the hash of its own text; incompressible, so that size means size. */
export function provenPage(roll, size) {
  const words = [];
  for (let length = 0; length < size; length += 9) words.push(roll.below(2 ** 32).toString(16).padStart(8, '0'));
  const text = words.join(' ');
  return `<!doctype html><title>${hash(text)}</title><p>${text}</p>`;
}

/** Whether the bytes are a whole page made by `provenPage`. */
export function isWhole(page) {
  const parts = page.match(/^<!doctype html><title>([0-9a-f]{64})<\/title><p>([0-9a-f ]*)<\/p>$/);
  return parts !== null && hash(parts[2]) === parts[1];
}

export const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Resident memory of a process now and at its highest, and what of it is no part of a file, in MiB. */
export async function memory(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const read = (field) => Number(status.match(new RegExp(`${field}:\\s+(\\d+) kB`))[1]) / 1024;
  return { now: read('VmRSS'), peak: read('VmHWM'), own: read('RssAnon') };
}

/** Processor time that a process has used so far, in seconds. Unlike time on the clock it does not grow while others work. */
export async function processorTime(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // After the name of the program, which may hold anything: user and system time, in hundredths of a second.
  const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13).map(Number);
  return (user + system) / 100;
}

export function percentile(values, p) {
  const sorted = [...values].sort((x, y) => x - y);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
}
