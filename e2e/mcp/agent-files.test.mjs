// The files that a server writes for agents, held against validators: agentskills, the tool of the skills' format, and skillsaw,
// which has the released schemas of Agent Plugins, of the MCP registry and of Claude's plugins (both pinned in
// scripts/requirements.txt). Where DROPLEAF_TEST_CLAUDE names the program, `claude plugin validate` too, and where
// DROPLEAF_TEST_SCHEMAS names a folder with the official JSON schemas (server.schema.json of 2025-12-11, plugin.schema.json,
// mcp.schema.json, server-card.schema.json), these.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { request } from '../http.mjs';
import { ROOT, startServer, tempDir } from '../server.mjs';

const run = promisify(execFile);
const AGENTSKILLS = path.join(ROOT, '.test/venv/bin/agentskills');
const SKILLSAW = path.join(ROOT, '.test/venv/bin/skillsaw');
const PYTHON = path.join(ROOT, '.test/venv/bin/python');
const CLAUDE = process.env.DROPLEAF_TEST_CLAUDE;
const SCHEMAS = process.env.DROPLEAF_TEST_SCHEMAS;
/** Each document that names its schema, with the definition to use where the schema has several. */
const DOCUMENTS = [['/server.json'], ['/plugin.json'], ['/mcp.json'], ['/.well-known/mcp/server-card.json', '#/$defs/ServerCard']];

let server, dir, plugin;

before(async () => {
  server = await startServer({ env: { DROPLEAF_OPERATOR__PRIVACY_POLICY_URL: 'https://example.org/privacy' } });
  dir = await tempDir('agent-files');
  plugin = path.join(dir, 'plugin');
  const answer = await request(server, { path: '/plugin.zip' });
  assert.equal(answer.status, 200);
  const archive = path.join(dir, 'plugin.zip');
  await writeFile(archive, answer.bytes);
  await run(PYTHON, ['-m', 'zipfile', '-e', archive, plugin]);
});
after(async () => {
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

test('agentskills accepts the skill, and refuses one with another member', async () => {
  const { stdout } = await run(AGENTSKILLS, ['validate', path.join(plugin, 'skills/dropleaf')]);
  assert.match(stdout, /[Vv]alid/);
  const spoilt = path.join(dir, 'dropleaf');
  await mkdir(spoilt);
  const text = await readFile(path.join(plugin, 'skills/dropleaf/SKILL.md'), 'utf8');
  await writeFile(path.join(spoilt, 'SKILL.md'), text.replace('license:', 'homepage: x\nlicense:'));
  await assert.rejects(run(AGENTSKILLS, ['validate', spoilt]));
});

test('agentskills reads what the index says', async () => {
  const index = (await request(server, { path: '/.well-known/agent-skills/index.json' })).json();
  const { stdout } = await run(AGENTSKILLS, ['read-properties', path.join(plugin, 'skills/dropleaf')]);
  const { name, description } = JSON.parse(stdout);
  assert.deepEqual([index.skills[0].name, index.skills[0].description], [name, description]);
});

/** Rejects with what is wrong in the folder. */
function skillsaw(folder, type) {
  return run(SKILLSAW, ['lint', '--strict', '--no-progress', '--no-plugins', '--no-custom-rules', '--type', type, folder]);
}

test('skillsaw accepts the plugin of both kinds of clients, and refuses one with another member', async () => {
  await skillsaw(plugin, 'agent-plugin');
  await skillsaw(plugin, 'single-plugin');
  const spoilt = path.join(dir, 'spoilt');
  await cp(plugin, spoilt, { recursive: true });
  const manifest = JSON.parse(await readFile(path.join(spoilt, 'plugin.json'), 'utf8'));
  await writeFile(path.join(spoilt, 'plugin.json'), JSON.stringify({ ...manifest, name: 'Not a name' }));
  await assert.rejects(skillsaw(spoilt, 'agent-plugin'), (error) => /name/.test(error.stdout));
});

test('skillsaw accepts the registry entry of a public server, and refuses one without an exact version', async () => {
  const base = 'https://drop.example.org';
  const own = await startServer({ env: { DROPLEAF_BASE_URL: base } });
  try {
    const entry = (await request(own, { path: '/server.json', host: new URL(base).host })).json();
    const folder = path.join(dir, 'registry');
    await mkdir(folder);
    const write = (document) => writeFile(path.join(folder, 'server.json'), JSON.stringify(document));
    await write(entry);
    await skillsaw(folder, 'mcp-registry');
    await write({ ...entry, version: 'latest' });
    await assert.rejects(skillsaw(folder, 'mcp-registry'), (error) => /version/.test(error.stdout));
  } finally {
    await own.stop();
  }
});

if (CLAUDE) test('claude accepts the plugin, by the rules of its directory too', async () => {
  const env = { PATH: process.env.PATH, HOME: dir, DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const { stdout, stderr } = await run(CLAUDE, ['plugin', 'validate', '--profile', 'directory', plugin], { env });
  assert.match(stdout, /passed/i, stdout + stderr);
  assert.doesNotMatch(stdout, /privacy/i, 'the policy is named');
});

/** A function that insists that a value fits the schema in the file. */
async function official(file, definition) {
  const schema = JSON.parse(await readFile(path.join(SCHEMAS, file), 'utf8'));
  const ajv = new (schema.$schema.includes('2020-12') ? Ajv2020 : Ajv)({ strict: false, allErrors: true });
  formats.default(ajv);
  const id = schema.$id ?? `https://schema.example/${file}`;
  ajv.addSchema({ ...schema, $id: id });
  return ajv.getSchema(id + (definition ?? ''));
}

for (const base of SCHEMAS ? [undefined, 'https://drop.example.org'] : []) {
  test(`documents of ${base ?? 'a server on this machine'} fit the official schemas`, async () => {
    const own = base ? await startServer({ env: { DROPLEAF_BASE_URL: base } }) : server;
    try {
      for (const [address, definition] of DOCUMENTS) {
        const document = (await request(own, { path: address, host: base && new URL(base).host })).json();
        const fits = await official(document.$schema.split('/').at(-1), definition);
        assert.ok(fits(document), `${address}: ${JSON.stringify(fits.errors)}\n${JSON.stringify(document)}`);
        for (const member of ['name', 'mcpServers'].filter((member) => document[member])) {
          assert.ok(!fits({ ...document, [member]: undefined }), `${address} without ${member} is refused`);
          assert.ok(!fits({ ...document, [member]: 7 }), `${address} with another ${member} is refused`);
        }
      }
    } finally {
      if (base) await own.stop();
    }
  });
}

test('the catalog leads to the card, and the card to the endpoint', async () => {
  const catalog = (await request(server, { path: '/.well-known/mcp/catalog.json' })).json();
  assert.equal(catalog.entries.length, 1);
  const { url, type } = catalog.entries[0];
  const answer = await request(server, { path: new URL(url).pathname });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], type);
  const [remote] = answer.json().remotes;
  assert.deepEqual([remote.type, remote.url], ['streamable-http', `${server.url}/mcp`]);
  assert.equal((await request(server, { path: new URL(remote.url).pathname, method: 'POST' })).status, 401);
});
