// A clock that the test sets, for a server that runs: libfaketime changes what the process takes for the time of day. Timers
// go on at their own pace, and the CA has the real time.

import { readdirSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir } from '../server.mjs';

const LIBRARIES = '/usr/lib';

/** Gives `env` for the server, and `advance`, which sets how far the clock is ahead of the real time: '+5d', '+20m'. */
export async function startClock() {
  const machine = readdirSync(LIBRARIES).find((name) => name.endsWith('-linux-gnu'));
  const dir = await tempDir('clock');
  const file = path.join(dir, 'offset');
  // In one step, so that the server never reads half of it.
  const advance = async (offset) => {
    await writeFile(`${file}.new`, `${offset}\n`);
    await rename(`${file}.new`, file);
  };
  await advance('+0');
  return {
    env: {
      LD_PRELOAD: path.join(LIBRARIES, machine, 'faketime/libfaketimeMT.so.1'),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    advance,
    stop: () => rm(dir, { recursive: true, force: true }),
  };
}
