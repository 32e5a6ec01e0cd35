// Runs schemathesis against /openapi.json of a fresh server: no 5xx, no status, content type or body outside the
// description. Once with the operator's key and once as a stranger. SCHEMATHESIS_SECONDS bounds each of the two runs.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { operatorKey, ROOT, startServer } from './server.mjs';

const SECONDS = process.env.SCHEMATHESIS_SECONDS ?? '40';
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';

const server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
const key = await operatorKey(server);

function schemathesis(headers) {
  const args = [
    'run', `${server.url}/openapi.json`,
    '--url', server.url,
    '--checks', CHECKS,
    '--workers', '1',
    '--max-time', SECONDS,
    '--max-examples', '50',
    '--request-timeout', '10',
    '--suppress-health-check', 'all',
    '--generation-database', 'none',
    '--warnings', 'off',
    ...headers.flatMap((header) => ['--header', header]),
  ];
  const tool = path.join(ROOT, '.test/venv/bin/schemathesis');
  return new Promise((resolve) => {
    spawn(tool, args, { cwd: path.join(ROOT, '.test'), stdio: ['ignore', 'inherit', 'inherit'] }).once('close', resolve);
  });
}

let failed = 0;
for (const [who, headers] of [['with a key', [`Authorization: Bearer ${key}`]], ['without a key', []]]) {
  console.log(`-- ${who}`);
  if ((await schemathesis(headers)) !== 0) failed += 1;
}
const panics = server.log.match(/.*panicked.*\n.*/g) ?? [];
if (panics.length || server.gone) {
  console.log(server.gone ? `the server ended:\n${server.log.slice(-5_000)}` : panics.join('\n'));
  failed += 1;
}
await server.stop();
process.exit(failed ? 1 : 0);
