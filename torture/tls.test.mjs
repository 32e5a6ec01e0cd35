// TLS of the server, scanned with testssl.sh: no finding of severity LOW or worse, except those that any test certificate
// has. Only in the long form, with every cipher and simulated clients; `e2e/domains` checks protocols and attacks each time.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { freePort, startServer, tempDir } from '../e2e/server.mjs';
import { LONG, UNLIMITED } from './fixture.mjs';

const run = promisify(execFile);
/** The authority of this test publishes no revocations, and no name of its is in the DNS. */
const OF_THE_TEST = ['cert_revocation', 'DNS_CAArecord'];

async function start(dir, port) {
  const openssl = (...args) => run('openssl', args, { cwd: dir });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl('req', '-x509', ...key, '-days', '30', '-subj', '/CN=Test authority', '-keyout', 'ca.key', '-out', 'ca.pem');
  await openssl('req', ...key, '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', 'key.pem', '-out', 'request.pem');
  await openssl('x509', '-req', '-in', 'request.pem', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy', '-days', '90', '-out', 'cert.pem');
  const env = {
    ...UNLIMITED,
    DROPLEAF_BASE_URL: `https://localhost:${port}`,
    DROPLEAF_TLS__LISTEN: `localhost:${port}`,
    DROPLEAF_TLS__CERT_FILE: path.join(dir, 'cert.pem'),
    DROPLEAF_TLS__KEY_FILE: path.join(dir, 'key.pem'),
  };
  return startServer({ env });
}

test('testssl.sh finds no weakness', { skip: !LONG && 'long form only' }, async (context) => {
  const [dir, port] = [await tempDir('testssl'), await freePort()];
  const server = await start(dir, port);
  context.after(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const report = path.join(dir, 'report.json');
  const args = ['--quiet', '--color', '0', '--warnings', 'off', '--ip', '127.0.0.1', '--add-ca', path.join(dir, 'ca.pem'), '--jsonfile', report, `localhost:${port}`];
  // Its exit status counts problems of all kinds; the report says which.
  await run('testssl', args, { maxBuffer: 1e8 }).catch((error) => {
    if (error.code === 'ENOENT') throw error;
  });
  const findings = JSON.parse(await readFile(report, 'utf8'));
  assert.ok(findings.some(({ id, finding }) => id === 'TLS1_3' && /offered/.test(finding)), 'the scan is complete');
  assert.ok(findings.some(({ id }) => id === 'heartbleed'), 'the scan is complete');
  const weak = findings.filter(({ severity }) => ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL', 'FATAL'].includes(severity));
  const said = weak.map(({ id, severity, finding }) => `${severity} ${id}: ${finding}`);
  context.diagnostic(`${findings.length} checks; of severity LOW or worse:\n${said.join('\n')}`);
  const isExpected = ({ id }) => OF_THE_TEST.includes(id);
  assert.deepEqual(weak.filter((finding) => !isExpected(finding)), []);
});
