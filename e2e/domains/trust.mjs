// A home directory in which Chromium trusts one more root, so that it verifies certificates as it does for its user.

import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from '../server.mjs';

export async function makeHome(rootFile) {
  const home = await tempDir('home');
  const database = path.join(home, '.pki/nssdb');
  await mkdir(database, { recursive: true });
  const certutil = (...args) => promisify(execFile)('certutil', ['-d', `sql:${database}`, ...args]);
  await certutil('-N', '--empty-password');
  await certutil('-A', '-n', 'root of the tests', '-t', 'C,,', '-i', rootFile);
  return { home, remove: () => rm(home, { recursive: true, force: true }) };
}
