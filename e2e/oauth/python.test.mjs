// The official Python `mcp` package's OAuth provider against the API: discovery from its 401, registration, consent,
// renewal, and the end of everything when an old refresh token comes again.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { ROOT } from '../server.mjs';
import { callback, consent, start } from './person.mjs';

let ann;

before(async () => (ann = await start()));
after(async () => ann?.stop());

for (const path_ of ['', '/mcp']) {
  test(`it signs in as a client of ${path_ || 'the API'}, renews, and loses everything with a stolen token`, async () => {
    const { redirect, came, close } = await callback();
    const args = [path.join(ROOT, 'e2e/oauth/python_client.py'), ann.server.url, ann.server.url + path_, redirect];
    const env = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' };
    const child = spawn(path.join(ROOT, '.test/venv/bin/python'), args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (complaints += text));
    const said = [];
    try {
      for await (const line of createInterface({ input: child.stdout })) {
        const fact = JSON.parse(line);
        if (fact.open && said.length === 0) {
          await consent(ann.page, fact.open);
          const { code, state, iss } = Object.fromEntries(await came);
          child.stdin.write(`${JSON.stringify({ code, state, iss })}\n`);
        } else if (!fact.open) {
          said.push(fact);
        }
      }
    } finally {
      child.kill('SIGKILL');
      close();
    }
    assert.equal(said.length, 4, complaints);
    assert.deepEqual(said[0], { status: 200, email: 'ann@example.org', scope: 'sites:read sites:write' });
    assert.deepEqual(said[1], { status: 200, renewed: true });
    assert.ok(said[2].ended, JSON.stringify(said[2]));
    assert.deepEqual(said[3], { newest: 401 });
  });
}
