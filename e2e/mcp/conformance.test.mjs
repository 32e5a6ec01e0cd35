// The official conformance suite, whole, at both revisions it has requirements for. conformance.json says what comes of
// each scenario: most of them look for tools and resources that only an example server has, and every scenario that does
// not must pass. A scenario that passes, fails, comes or goes against the list fails the test.

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
  server = await startServer();
  const key = await operatorKey(server);
  // So that there is something to list.
  await publish(server, { name: 'a.html', bytes: page('Listed'), key });
  proxy = await bearerProxy(server, key);
});
after(async () => {
  await proxy?.stop();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Each scenario's checks, from the files the suite leaves: `server-NAME-TIME/checks.json`. */
async function results(folder) {
  const found = new Map();
  for (const name of await readdir(folder)) {
    const scenario = name.match(/^server-(.+)-\d{4}-\d\d-\d\dT/)?.[1];
    assert.ok(scenario, name);
    found.set(scenario, JSON.parse(await readFile(path.join(folder, name, 'checks.json'), 'utf8')));
  }
  return found;
}

const named = (checks, ...statuses) => [...new Set(checks.filter((check) => statuses.includes(check.status)).map((check) => check.id))];

for (const revision of ['2025-11-25', '2026-07-28']) {
  test(`the conformance suite finds what is expected at ${revision}`, async () => {
    const folder = path.join(dir, revision);
    const args = ['server', '--url', proxy.url, '--requirements', revision, '--output-dir', folder];
    const { stdout, stderr } = await runScript(dir, SUITE, args);
    const found = await results(folder).catch((error) => assert.fail(`${error}\n${stdout}\n${stderr}`));
    const { passes, partly, needs_fixtures } = expected[revision];
    assert.deepEqual([...found.keys()].sort(), [...passes, ...Object.keys(partly), ...needs_fixtures].sort(), 'the scenarios');
    for (const scenario of passes) {
      const checks = found.get(scenario);
      const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
      assert.deepEqual(bad.map(({ id, errorMessage }) => `${id}: ${errorMessage}`), [], scenario);
      assert.ok(named(checks, 'SUCCESS').length > 0, `${scenario} checks something`);
    }
    for (const [scenario, fails] of Object.entries(partly)) {
      const checks = found.get(scenario);
      assert.deepEqual(named(checks, 'FAILURE', 'WARNING').sort(), [...fails].sort(), scenario);
      assert.ok(named(checks, 'SUCCESS').length > 0, `${scenario} checks something else`);
    }
    for (const scenario of needs_fixtures) {
      assert.ok(named(found.get(scenario), 'FAILURE', 'WARNING').length > 0, `${scenario} passes now: list it so`);
    }
  });
}
