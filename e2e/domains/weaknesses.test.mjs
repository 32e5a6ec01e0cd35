// testssl.sh finds no weakness in the HTTPS that the server speaks by itself: protocols, and its list of attacks. The torture tests
// run it with every cipher and simulated clients in their long form.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { tempDir } from '../server.mjs';
import { NAMES, startWorld } from './world.mjs';

/** What testssl.sh says about the certificate of a test CA, about the name it is led to, and about itself, not about the server. */
const OTHERS = /^(cert_expirationStatus|cert_notAfter|cert_revocation|DNS_CAArecord|engine_problem|scanTime)$/;

let world, dir;

before(async () => {
  world = await startWorld();
  dir = await tempDir('testssl');
  await world.presents(NAMES.base);
});
after(async () => {
  await world?.stop();
  if (dir) await rm(dir, { recursive: true, force: true });
});

test('testssl.sh finds nothing weak', async (context) => {
  const file = path.join(dir, 'findings.json');
  const args = ['--quiet', '--warnings', 'off', '--color', '0', '--ip', '127.0.0.1', '--nodns', 'none', '--add-ca', world.pebble.rootFile];
  const checks = ['--protocols', '--vulnerable'];
  const printed = await new Promise((resolve) => {
    execFile('testssl', [...args, ...checks, '--jsonfile', file, `${NAMES.base}:${world.tlsPort}`], { cwd: dir }, (_, stdout) => resolve(stdout));
  });
  const findings = JSON.parse(await readFile(file, 'utf8'));
  const severity = Object.fromEntries(findings.map((finding) => [finding.id, finding.severity]));
  // It did look: the checks that matter have a verdict.
  const verdicts = ['SSLv3', 'TLS1_2', 'TLS1_3', 'ALPN_HTTP2'];
  for (const id of [...verdicts, 'heartbleed', 'ROBOT', 'CRIME_TLS', 'SWEET32', 'LOGJAM', 'RC4']) assert.equal(severity[id], 'OK', `${id}\n${printed}`);
  const weak = findings.filter((finding) => !/^(OK|INFO|WARN)$/.test(finding.severity) && !OTHERS.test(finding.id));
  assert.deepEqual(weak, []);
  context.diagnostic(`${findings.length} findings, scanned in ${findings.find(({ id }) => id === 'scanTime')?.finding} s`);
});
