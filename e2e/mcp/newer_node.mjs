// The conformance suite and the Inspector need a newer Node than these tests: it comes with the Node packages.

import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from '../server.mjs';

const NODE = createRequire(import.meta.url).resolve(`node-linux-${process.arch}/bin/node`);

/** Runs a script of a package, with a home of its own; gives {code, stdout, stderr}, whatever became of it. */
export function runScript(home, script, args, timeout = 120_000) {
  const file = path.join(ROOT, 'e2e/node_modules', script);
  const options = { env: { PATH: process.env.PATH, HOME: home, NO_COLOR: '1' }, cwd: home, timeout, maxBuffer: 1 << 26 };
  return new Promise((resolve) => {
    execFile(NODE, [file, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr });
    });
  });
}
