// kill -9 leaves the page cache alive, so it cannot prove that data reached the disk. strace can: every serial publish
// must be synced between the request and its acknowledgement.

import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { publish, request, upload } from '../e2e/http.mjs';
import { operatorKey, sleep, startServer, tempDir } from '../e2e/server.mjs';
import { dice, LONG, provenPage, UNLIMITED } from './fixture.mjs';

const COUNT = LONG ? 200 : 25;

async function traced(run) {
  const dir = await tempDir('strace');
  const trace = path.join(dir, 'trace');
  // -D keeps the server our direct child; -y names the file behind each descriptor.
  const wrap = ['strace', '-D', '-f', '-y', '-e', 'trace=fsync,fdatasync,sync_file_range', '-o', trace];
  const server = await startServer({ wrap, env: UNLIMITED });
  try {
    // Only completed calls: one that was interrupted by another thread's line ends in "resumed>) = 0".
    const completed = (line) => /(fsync|fdatasync|sync_file_range).*\) += 0$/.test(line);
    const syncs = async () => (await readFile(trace, 'utf8')).split('\n').filter(completed).length;
    await run(server, await operatorKey(server), syncs);
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

test('every publish, update and delete is synced before it is acknowledged', async (context) => {
  await traced(async (server, key, syncs) => {
    const roll = dice(7);
    const counts = { publish: [], large: [], update: [], delete: [] };
    const measure = async (kind, act) => {
      const before = await syncs();
      const answer = await act();
      counts[kind].push((await syncs()) - before);
      return answer;
    };
    for (let i = 0; i < COUNT; i += 1) {
      const site = await measure('publish', () => publish(server, { name: 'a.html', bytes: provenPage(roll, 8_000), key }));
      await measure('large', () => publish(server, { name: 'b.html', bytes: provenPage(roll, 200_000), key }));
      const put = await measure('update', () => upload(server, { to: site.id, name: 'a.html', bytes: provenPage(roll, 8_000), key }));
      assert.equal(put.status, 200);
      const gone = await measure('delete', () => request(server, { method: 'DELETE', path: `/sites/${site.id}`, key }));
      assert.equal(gone.status, 200);
    }
    const idleFrom = await syncs();
    await sleep(2_000);
    const idle = (await syncs()) - idleFrom;
    for (const [kind, seen] of Object.entries(counts)) {
      context.diagnostic(`${kind}: ${seen.length} acts, at least ${Math.min(...seen)} syncs each`);
      const least = kind === 'large' ? 2 : 1; // a body outside the database is synced by itself, then the row
      assert.ok(Math.min(...seen) >= least, `${kind}: ${seen}`);
    }
    assert.ok(idle <= 2, `${idle} syncs in two idle seconds would make the count above meaningless`);
  });
});
