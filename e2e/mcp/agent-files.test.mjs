// The files that a server writes for agents, held against the validators of their makers: agentskills (pinned in
// scripts/requirements.txt) and, where DROPLEAF_TEST_CLAUDE names the program, `claude plugin validate`.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { request } from '../http.mjs';
import { ROOT, startServer, tempDir } from '../server.mjs';

const run = promisify(execFile);
const AGENTSKILLS = path.join(ROOT, '.test/venv/bin/agentskills');
const PYTHON = path.join(ROOT, '.test/venv/bin/python');
const CLAUDE = process.env.DROPLEAF_TEST_CLAUDE;

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

test('claude accepts the plugin, by the rules of its directory too', { skip: !CLAUDE && 'DROPLEAF_TEST_CLAUDE names no program' }, async () => {
  const env = { PATH: process.env.PATH, HOME: dir, DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const { stdout, stderr } = await run(CLAUDE, ['plugin', 'validate', '--profile', 'directory', plugin], { env });
  assert.match(stdout, /passed/i, stdout + stderr);
  assert.doesNotMatch(stdout, /privacy/i, 'the policy is named');
});
