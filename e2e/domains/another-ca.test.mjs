// Another CA than Pebble: the ACME server of Caddy, which has neither ARI nor profiles, issues for twelve hours, and validates
// only at the real ports. For port 443 the test needs root, and an address of this machine that nothing else uses.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { html } from '../samples.mjs';
import { operatorKey, startServer, tempDir, until } from '../server.mjs';
import { curl } from './curl.mjs';
import { startDns } from './dns.mjs';
import { connects, handshake } from './handshake.mjs';
import { onFreePorts, PYTHON_TOOLS, startProgram } from './program.mjs';
import { acmeSettings, clients, NAMES } from './world.mjs';

const ROOT_ONLY = { skip: process.getuid() !== 0 && 'needs root, for port 443' };
const ADDRESS = `127.77.${process.pid % 250}.${1 + (Math.floor(process.pid / 250) % 250)}`;
const HOST = 'reports.customer.test';

const parts = [];
const keep = (part) => parts.push(part) && part;
let world, rootFile, site;

async function startCa(dns) {
  const dir = await tempDir('ca');
  keep({ stop: () => rm(dir, { recursive: true, force: true }) });
  return onFreePorts(2, async (port, httpPort) => {
    const file = path.join(dir, 'Caddyfile');
    await writeFile(
      file,
      `{
	admin off
	skip_install_trust
	http_port ${httpPort}
	default_bind 127.0.0.1
}
https://127.0.0.1:${port} {
	tls internal
	acme_server {
		resolvers ${dns.address}
		challenges tls-alpn-01
	}
}
`,
    );
    const env = { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir };
    const isReady = () => connects(port);
    const program = await startProgram(path.join(PYTHON_TOOLS, 'caddy'), ['run', '--adapter', 'caddyfile', '--config', file], { cwd: dir, env, isReady });
    return {
      directoryUrl: `https://127.0.0.1:${port}/acme/local/directory`,
      rootFile: path.join(dir, 'caddy/pki/authorities/local/root.crt'),
      stop: program.stop,
      program,
    };
  });
}

before(async () => {
  if (ROOT_ONLY.skip) return;
  const dns = keep(await startDns());
  await dns.setDefault(ADDRESS);
  const ca = keep(await startCa(dns));
  rootFile = ca.rootFile;
  const settings = acmeSettings({ dns, directoryUrl: ca.directoryUrl, caFile: ca.rootFile, tlsPort: 443 });
  const server = keep(await startServer({ env: { ...settings, DROPLEAF_TLS__LISTEN: `${ADDRESS}:443` } }));
  world = clients({ server, key: await operatorKey(server), dns });
  site = await world.publish(html('From another CA'));
});
after(async () => {
  for (const part of parts.reverse()) await part.stop();
});

test('a domain gets its certificate from a CA without ARI', ROOT_ONLY, async () => {
  const { certificate } = await world.connect(HOST, site);
  const answer = await curl(`https://${HOST}/`, { address: ADDRESS, port: 443, root: rootFile });
  assert.deepEqual([answer.exit, answer.status, answer.version], [0, 200, '2']);
  assert.match(answer.text, /From another CA/);
  const presented = new X509Certificate((await handshake(443, HOST, { host: ADDRESS })).certificate);
  assert.equal(presented.subjectAltName, `DNS:${HOST}`);
  assert.equal(certificate.expires_at, new Date(presented.validTo).getTime() / 1000);
  await until('the API', async () => (await curl(`https://${NAMES.base}/healthz`, { address: ADDRESS, port: 443, root: rootFile })).status === 200);
});
