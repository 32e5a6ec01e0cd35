// A full disk: writes are refused with 507 and a reason, reads go on, and space that comes back is used without a restart.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { request, siteHost, upload } from '../e2e/http.mjs';
import { operatorKey, startServer, tempDir } from '../e2e/server.mjs';
import { dice, LONG, provenPage, UNLIMITED } from './fixture.mjs';

const run = promisify(execFile);
const MIB = 1024 * 1024;
/** What comes back each time; five cycles of ten large pages fit into it. */
const ROOM = 40;

for (const [kind, size] of [['small pages (in the database)', 12_000], ['large pages (in files)', 300_000]]) {
  test(`a full disk with ${kind}`, async (context) => {
    assert.equal(process.getuid(), 0, 'needs root for a small tmpfs: run scripts/torture as root');
    const mount = await tempDir('full');
    await run('mount', ['-t', 'tmpfs', '-o', 'size=56m', 'tmpfs', mount]);
    const filler = path.join(mount, 'filler');
    let server;
    try {
      await writeFile(filler, Buffer.alloc(ROOM * MIB, 1));
      server = await startServer({ dataDir: path.join(mount), env: UNLIMITED });
      const key = await operatorKey(server);
      const roll = dice(11);
      const kept = [];
      const send = async () => {
        const bytes = provenPage(roll, size);
        const answer = await upload(server, { name: 'page.html', bytes, key });
        if (answer.status === 201) kept.push({ path: `/p/${answer.json().unlisted_token}/`, bytes });
        return answer;
      };
      const readAll = async () => {
        for (const page of kept) {
          const view = await request(server, { path: page.path, host: siteHost(server) });
          assert.equal(view.status, 200);
          assert.equal(view.text(), page.bytes);
        }
      };

      for (let cycle = 1; cycle <= (LONG ? 5 : 2); cycle += 1) {
        let refused;
        for (let i = 0; i < 5_000 && !refused; i += 1) {
          const answer = await send();
          if (answer.status !== 201) refused = answer;
        }
        assert.equal(refused?.status, 507, refused?.text());
        assert.match(refused.headers['content-type'], /^application\/json/);
        assert.equal(refused.json().error, 'storage_full');
        for (let i = 0; i < 20; i += 1) {
          const again = await send();
          assert.ok([201, 507].includes(again.status), `${again.status} ${again.text()}`);
        }
        assert.equal((await request(server, { path: '/healthz' })).status, 200);
        await readAll();
        const full = kept.length;
        await rm(filler, { force: true });
        for (let i = 0; i < 10; i += 1) {
          const after = await send();
          assert.equal(after.status, 201, `after space came back: ${after.status} ${after.text()}`);
        }
        await readAll();
        context.diagnostic(`cycle ${cycle}: refused after ${full} pages, accepted again without a restart`);
        await fillUp(mount, filler);
      }

      await rm(filler, { force: true });
      await server.stop();
      server = await startServer({ dataDir: mount, port: server.port, env: UNLIMITED });
      await readAll();
    } finally {
      await server?.stop();
      await run('umount', ['-l', mount]);
      await rm(mount, { recursive: true, force: true });
    }
  });
}

/** Leaves about one MiB free, so that the next cycle meets the wall soon. */
async function fillUp(mount, filler) {
  const { stdout } = await run('df', ['--output=avail', '-B1', mount]);
  const free = Number(stdout.trim().split('\n').pop());
  await writeFile(filler, Buffer.alloc(Math.max(0, free - MIB), 1));
}
