// Caddy with the Caddyfile that deploy/ offers to operators. The test replaces its host names, addresses and files, and adds
// where the certificates come from; every other line is what an operator runs.

import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT, tempDir } from '../server.mjs';
import { makeCertificate } from './certificate.mjs';
import { connects } from './handshake.mjs';
import { PYTHON_TOOLS, startProgram } from './program.mjs';

/**
 * Starts Caddy in front of the server at `upstream` (an address with its port). `names` are the hosts of `base` and `site`;
 * `pebble` issues; `httpPort` and `tlsPort` are where Caddy listens.
 */
export async function startCaddy({ upstream, names, pebble, httpPort, tlsPort }) {
  const dir = await tempDir('caddy');
  const wildcard = await makeCertificate(dir, 'wildcard', [`*.${names.site}`]);
  const options = [
    'admin off',
    'skip_install_trust',
    `http_port ${httpPort}`,
    `https_port ${tlsPort}`,
    'default_bind 127.0.0.1',
    `acme_ca ${pebble.directoryUrl}`,
    `acme_ca_root ${pebble.caFile}`,
  ];
  const documented = await readFile(path.join(ROOT, 'deploy/Caddyfile'), 'utf8');
  const replaced = replaceAll(documented, {
    '127.0.0.1:8080': upstream,
    'api.example.com': names.base,
    'pages.example.net': names.site,
    '/etc/dropleaf/fullchain.pem': wildcard.certificate,
    '/etc/dropleaf/privkey.pem': wildcard.privateKey,
    '{$CADDY_GLOBAL_OPTIONS}': options.join('\n\t'),
  });
  const file = path.join(dir, 'Caddyfile');
  await writeFile(file, replaced);
  const program = await startProgram(path.join(PYTHON_TOOLS, 'caddy'), ['run', '--adapter', 'caddyfile', '--config', file], {
    cwd: dir,
    env: { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
    isReady: () => connects(tlsPort),
  });
  return {
    wildcardRootFile: wildcard.caFile,
    get log() {
      return program.log;
    },
    stop: async () => {
      await program.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Replaces every occurrence, and insists that there is one, so that a changed Caddyfile does not escape the test. */
function replaceAll(text, replacements) {
  for (const [found, by] of Object.entries(replacements)) {
    if (!text.includes(found)) throw new Error(`deploy/Caddyfile has no ${found}`);
    text = text.replaceAll(found, by);
  }
  return text;
}
