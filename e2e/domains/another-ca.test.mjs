// Another CA than Pebble: the ACME server of Caddy, which has neither ARI nor profiles and issues for twelve hours. It finds hosts
// by the machine's own DNS, so that only DNS-01 can be proved to it here.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { html } from '../samples.mjs';
import { freePort, operatorKey, startServer, tempDir } from '../server.mjs';
import { curl } from './curl.mjs';
import { startDns } from './dns.mjs';
import { connects } from './handshake.mjs';
import { onFreePorts, PYTHON_TOOLS, startProgram } from './program.mjs';
import { acmeSettings, clients, makeHook, NAMES } from './world.mjs';

const parts = [];
const keep = (part) => parts.push(part) && part;
let world, ca, tlsPort;

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
		challenges dns-01
		allow_wildcard_names
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
    };
  });
}

before(async () => {
  const dns = keep(await startDns());
  const hook = keep(await makeHook(dns));
  ca = keep(await startCa(dns));
  tlsPort = await freePort();
  const settings = acmeSettings({ dns, directoryUrl: ca.directoryUrl, caFile: ca.rootFile, tlsPort });
  const env = { ...settings, DROPLEAF_TLS__ACME__DNS_HOOK: hook.path, DROPLEAF_TLS__ACME__PROFILE: '' };
  const server = keep(await startServer({ env }));
  world = clients({ server, key: await operatorKey(server), dns, tlsPort });
});
after(async () => {
  for (const part of parts.reverse()) await part.stop();
});

test('the wildcard is issued by a CA without ARI and profiles', async () => {
  await world.publish(html('From another CA'), { fields: { slug: 'orchard' } });
  const host = `orchard.${NAMES.site}`;
  const { subjectAltName, validFrom, validTo } = new X509Certificate(await world.presents(host));
  assert.equal(subjectAltName, `DNS:*.${NAMES.site}`);
  assert.ok(new Date(validTo) - new Date(validFrom) < 86_400_000, 'of twelve hours');
  const answer = await curl(`https://${host}/`, { port: tlsPort, root: ca.rootFile });
  assert.deepEqual([answer.exit, answer.status, answer.version], [0, 200, '2']);
  assert.match(answer.text, /From another CA/);
});
