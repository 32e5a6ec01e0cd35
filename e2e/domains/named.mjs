// BIND as the authoritative DNS server of the service's own names, with dynamic updates (RFC 2136) of one record, by a key.

import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT, tempDir } from '../server.mjs';
import { connects } from './handshake.mjs';
import { onFreePorts, startProgram } from './program.mjs';

const BIND = path.join(ROOT, '.test/tools/bind');

/**
 * Serves `hosts`, each with all names below it, from the zones above them: they lead to 127.0.0.1. The key may change the TXT
 * records of `updatable` and nothing else.
 * Gives the `address` and the `key` {name, algorithm, secret}.
 */
export async function startNamed({ hosts, updatable }) {
  const dir = await tempDir('named');
  const key = { name: 'acme-updates', algorithm: 'hmac-sha256', secret: randomBytes(32).toString('base64') };
  const zones = hosts.map((host) => host.slice(host.indexOf('.') + 1));
  for (const [at, zone] of zones.entries()) {
    const authority = [`@ SOA ns.${zone}. hostmaster.${zone}. 1 3600 600 86400 60`, `@ NS ns.${zone}.`, 'ns A 127.0.0.1'];
    const records = ['$TTL 60', ...authority, `${hosts[at]}. A 127.0.0.1`, `*.${hosts[at]}. A 127.0.0.1`, ''];
    await writeFile(path.join(dir, `${zone}.zone`), records.join('\n'));
  }
  const server = await onFreePorts(1, async (port) => {
    const config = `
options {
  directory "${dir}"; pid-file none; session-keyfile none; managed-keys-directory "${dir}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; empty-zones-enable no; notify no;
};
controls { };
key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };
${zones.map((zone) => `zone "${zone}" { type primary; file "${zone}.zone"; update-policy { grant ${key.name} name ${updatable} TXT; }; };`).join('\n')}
`;
    await writeFile(path.join(dir, 'named.conf'), config);
    const program = await startProgram(path.join(BIND, 'named'), ['-g', '-n', '1', '-c', path.join(dir, 'named.conf')], {
      cwd: dir,
      env: { LD_LIBRARY_PATH: BIND },
      isReady: () => connects(port),
    });
    return { program, port };
  });
  return {
    address: `127.0.0.1:${server.port}`,
    key,
    get log() {
      return server.program.log;
    },
    stop: async () => {
      await server.program.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
