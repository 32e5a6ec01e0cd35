// The official conformance suite, whole, at both revisions it has requirements for. conformance.json lists every scenario
// with the checks that fail: those look for tools, resources and prompts that only an example server has, or for the
// extension of tasks. A scenario or a check that passes, fails, comes or goes against the list fails the test.

import assert from 'node:assert/strict';
import { readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { publish } from '../http.mjs';
import { operatorKey, ROOT, startServer, tempDir } from '../server.mjs';
import { runScript } from './newer_node.mjs';
import { bearerProxy } from './proxy.mjs';
import { page } from './walk.mjs';

const SUITE = '@modelcontextprotocol/conformance/dist/index.js';

let server, proxy, dir, expected;

before(async () => {
  dir = await tempDir('conformance');
  expected = JSON.parse(await readFile(path.join(ROOT, 'e2e/mcp/conformance.json'), 'utf8'));
  // The suite asks faster than a key may.
  server = await startServer({ env: { DROPLEAF_LIMITS__KEY_PER_MINUTE: '100000' } });
  const key = await operatorKey(server);
  // So that there is something to list and to read.
  await publish(server, { name: 'a.html', bytes: page('Listed'), key });
  proxy = await bearerProxy(server, key);
});
after(async () => {
  await proxy?.stop();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Each scenario's checks, from the files that the suite leaves: `server-NAME-TIME/checks.json`. */
async function checksIn(folder) {
  const found = {};
  for (const name of (await readdir(folder)).sort()) {
    const scenario = name.match(/^server-(.+)-\d{4}-\d\d-\d\dT/)?.[1];
    assert.ok(scenario, name);
    found[scenario] = JSON.parse(await readFile(path.join(folder, name, 'checks.json'), 'utf8'));
  }
  return found;
}

const failed = ({ status }) => status === 'FAILURE' || status === 'WARNING';
const named = (checks) => [...new Set(checks.map(({ id }) => id))].sort();

for (const revision of ['2025-11-25', '2026-07-28']) {
  test(`the conformance suite finds what is expected at ${revision}`, async () => {
    const folder = path.join(dir, revision);
    const args = ['server', '--url', proxy.url, '--requirements', revision, '--output-dir', folder];
    const { stdout, stderr } = await runScript(dir, SUITE, args);
    const found = await checksIn(folder).catch((error) => assert.fail(`${error}\n${stdout}\n${stderr}`));
    const outcome = Object.fromEntries(Object.entries(found).map(([scenario, checks]) => [scenario, named(checks.filter(failed))]));
    for (const [scenario, checks] of Object.entries(found)) {
      const known = expected[revision][scenario] ?? [];
      const news = checks.filter((check) => failed(check) && !known.includes(check.id));
      for (const { id, errorMessage } of news) console.error(`${scenario}: ${id}: ${errorMessage}`);
    }
    assert.deepEqual(outcome, expected[revision]);
    const passing = Object.keys(outcome).filter((scenario) => outcome[scenario].length === 0);
    for (const scenario of passing.filter((name) => !name.startsWith('tasks-'))) {
      assert.ok(found[scenario].some(({ status }) => status === 'SUCCESS'), `${scenario} checks something`);
    }
  });
}
