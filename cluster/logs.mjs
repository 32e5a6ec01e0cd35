// Keeps the logs of a cluster whose test failed: its folder is removed with it.

import { mkdirSync, openSync, readSync, closeSync, fstatSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../e2e/server.mjs';

const OUTPUT = path.join(ROOT, '.test/output');
/** Bytes that are kept of each log: its end. */
const MOST_BYTES = 2 << 20;
/** Folders of logs that are kept; the oldest go. */
const MOST_KEPT = 20;

/** Copies the end of every log in a folder to `.test/output/cluster-…`; gives that folder. */
export function keepLogs(folder, name) {
  const stamp = new Date().toISOString().replace(/[-:]/g, '').slice(0, 15);
  const words = name.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 60);
  const kept = path.join(OUTPUT, `cluster-${stamp}-${words}`);
  mkdirSync(kept, { recursive: true });
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.log'))) {
    writeFileSync(path.join(kept, file), endOf(path.join(folder, file)));
  }
  const older = readdirSync(OUTPUT).filter((each) => /^cluster-\d{8}T/.test(each)).sort().slice(0, -MOST_KEPT);
  for (const each of older) rmSync(path.join(OUTPUT, each), { recursive: true, force: true });
  return kept;
}

function endOf(file) {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, MOST_BYTES));
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(descriptor);
  }
}
