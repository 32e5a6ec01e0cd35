// Runs schemathesis against /openapi.json of a fresh server: no 5xx, no status, content type or body outside the
// description. With the operator's key, on a page that exists, and without a key; each with SCHEMATHESIS_EXAMPLES requests per
// operation in each phase, however long they take, and no operation left out.

import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { publish, upload } from './http.mjs';
import { command, operatorKey, ROOT, startServer } from './server.mjs';

const EXAMPLES = process.env.SCHEMATHESIS_EXAMPLES ?? '10';
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';

const server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
const key = await operatorKey(server);
const config = path.join(server.dataDir, 'schemathesis.toml');
const answered = {};
for (const stream of [server.child.stdout, server.child.stderr]) {
  stream.on('data', (text) => {
    for (const [, status] of text.matchAll(/"status":(\d)\d\d,/g)) answered[`${status}xx`] = (answered[`${status}xx`] ?? 0) + 1;
  });
}

/** Whether the tool found nothing, and called every operation that it was to call. */
function schemathesis(more) {
  const args = [
    '--config-file', config,
    'run', `${server.url}/openapi.json`,
    '--url', server.url,
    '--checks', CHECKS,
    '--workers', '1',
    '--max-examples', EXAMPLES,
    '--seed', '1',
    '--request-timeout', '60',
    '--suppress-health-check', 'all',
    '--generation-database', 'none',
    '--warnings', 'off',
    ...more,
  ];
  const tool = path.join(ROOT, '.test/venv/bin/schemathesis');
  const env = { ...process.env, SCHEMATHESIS_HOOKS: 'schemathesis_hooks', PYTHONPATH: path.join(ROOT, 'e2e'), PYTHONDONTWRITEBYTECODE: '1' };
  return new Promise((resolve) => {
    const child = spawn(tool, args, { cwd: server.dataDir, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text);
      said += text;
    });
    child.once('close', (code) => {
      const selected = said.match(/^ *Selected: (\d+)\/\d+$/m)?.[1];
      const tested = said.match(/^ *Tested: (\d+)$/m)?.[1];
      const whole = selected !== undefined && tested === selected;
      if (!whole) console.log(`of ${selected} operations ${tested} were called`);
      resolve(code === 0 && whole);
    });
  });
}

const page = await publish(server, { name: 'page.html', bytes: '<p>first</p>', key });
for (const bytes of ['<p>second</p>', '<p>third</p>']) await upload(server, { to: page.id, name: 'page.html', bytes, key });
const withKey = async () => ['--header', `Authorization: Bearer ${(await command(server, 'account', 'key', 'operator@localhost')).match(/stk_live_\w+/)[0]}`];

// Each run has a key of its own, because the tool finds out how to revoke the one it uses.
const RUNS = {
  'with a key': { settings: '', args: await withKey() },
  'on a page that exists': {
    settings: `[parameters]\n"path.idOrSlug" = "${page.id}"\n`,
    args: [...(await withKey()), '--exclude-operation-id', 'deleteSite', '--exclude-operation-id', 'revokeApiKey'],
  },
  'without a key': { settings: '', args: [] },
};
let failed = 0;
for (const [name, { settings, args }] of Object.entries(RUNS)) {
  console.log(`-- ${name}`);
  await writeFile(config, settings);
  if (!(await schemathesis(args))) failed += 1;
}
console.log('answers:', answered);
const panics = server.log.match(/.*panicked.*\n.*/g) ?? [];
if (panics.length || server.gone) {
  console.log(server.gone ? `the server ended:\n${server.log.slice(-5_000)}` : panics.join('\n'));
  failed += 1;
}
await server.stop();
process.exit(failed ? 1 : 0);
