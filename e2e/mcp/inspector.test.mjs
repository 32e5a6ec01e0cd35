// The MCP Inspector's command line in both eras: no complaint about any schema with --strict, and no complaint at all about
// what it lists, reads and calls.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { publish } from '../http.mjs';
import { operatorKey, startServer, tempDir } from '../server.mjs';
import { runScript } from './newer_node.mjs';
import { page } from './walk.mjs';

const LAUNCHER = '@modelcontextprotocol/inspector/clients/launcher/build/index.js';

let server, key, home, site;

before(async () => {
  server = await startServer();
  key = await operatorKey(server);
  home = await tempDir('inspector');
  site = await publish(server, { name: 'a.html', bytes: page('Inspected'), key });
});
after(async () => {
  await server?.stop();
  await rm(home, { recursive: true, force: true });
});

/** What a method gives; the Inspector must have nothing to say beside it. */
async function inspect(era, method, ...args) {
  const target = ['--cli', `${server.url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${key}`];
  const { code, stdout, stderr } = await runScript(home, LAUNCHER, [...target, '--protocol-era', era, '--method', method, ...args]);
  assert.equal(code, 0, `${method}: ${stderr}`);
  assert.match(stderr.trim(), /^(0 errors, 0 warnings.*|No .*problems.*)?$/, method);
  return JSON.parse(stdout);
}

for (const era of ['legacy', 'modern']) {
  test(`the Inspector has nothing to complain about (${era})`, async () => {
    const { tools } = await inspect(era, 'tools/list', '--strict');
    assert.ok(tools.length > 0);
    for (const tool of tools) {
      assert.ok(tool.title && tool.description, tool.name);
      assert.equal(tool.outputSchema, undefined, `${tool.name}: it would cost tokens`);
      const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
      assert.deepEqual(hints.filter((hint) => typeof tool.annotations[hint] !== 'boolean'), [], tool.name);
    }
    const { resources } = await inspect(era, 'resources/list');
    assert.ok(resources.some(({ uri }) => uri === `dropleaf://sites/${site.id}`), JSON.stringify(resources));
    const { resourceTemplates } = await inspect(era, 'resources/templates/list');
    assert.ok(resourceTemplates.length > 0);
    const { prompts } = await inspect(era, 'prompts/list');
    assert.deepEqual(prompts.map(({ name }) => name).sort(), ['address-feedback', 'publish-report']);
    const called = await inspect(era, 'tools/call', '--tool-name', 'get_site', '--tool-arg', `site=${site.id}`);
    assert.equal(called.structuredContent.url, site.url);
    const read = await inspect(era, 'resources/read', '--uri', `dropleaf://sites/${site.id}`);
    assert.equal(JSON.parse(read.contents[0].text).id, site.id);
  });
}
