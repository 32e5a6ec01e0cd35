// The real server with automatic HTTPS, the CA that issues for it and the DNS that leads to it. Names have no port, as on the
// Internet: clients are sent to the ports of this run.

import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { publish, request } from '../http.mjs';
import { freePort, operatorKey, startServer, tempDir, until } from '../server.mjs';
import { curl } from './curl.mjs';
import { startDns } from './dns.mjs';
import { startGateway } from './gateway.mjs';
import { handshake } from './handshake.mjs';
import { startPebble } from './pebble.mjs';

/** The hosts of `base_url` and `site_url`: two registrable domains, as the documentation advises. */
export const NAMES = { base: 'api.dropleaf.test', site: 'pages.dropleaf-pages.test' };

export const UNLIMITED = { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128', DROPLEAF_LIMITS__DOMAIN_CHECKS_PER_HOUR: '1000' };

export const addresses = { DROPLEAF_BASE_URL: `https://${NAMES.base}`, DROPLEAF_SITE_URL: `https://${NAMES.site}` };

/** What a server needs to know to use this CA and this DNS server. */
export const acmeSettings = ({ dns, directoryUrl, caFile, tlsPort, httpPort }) => ({
  ...UNLIMITED,
  ...addresses,
  DROPLEAF_DNS__SERVERS: dns.address,
  DROPLEAF_TLS__MODE: 'acme',
  DROPLEAF_TLS__LISTEN: `127.0.0.1:${tlsPort}`,
  ...(httpPort && { DROPLEAF_TLS__HTTP_LISTEN: `127.0.0.1:${httpPort}` }),
  DROPLEAF_TLS__ACME__DIRECTORY_URL: directoryUrl,
  DROPLEAF_TLS__ACME__CA_FILE: caFile,
  DROPLEAF_TLS__ACME__EMAIL: 'operator@dropleaf.test',
  // Pebble chooses one at random for an order that names none.
  DROPLEAF_TLS__ACME__PROFILE: 'default',
});

/**
 * Starts all parts. `reach` names the challenges that the CA can validate: 'tls-alpn-01', 'http-01' or both; the port of the
 * other leads nowhere. `hook` configures DNS-01 by a hook command. `intercept` lets a gateway answer instead of the CA.
 * `dns` is another DNS server than that of Pebble. `env` are more settings.
 */
export async function startWorld({ reach = ['tls-alpn-01'], hook = false, intercept, dns: given, env = {} } = {}) {
  const parts = [];
  const keep = (part) => parts.push(part) && part;
  const stop = async () => {
    for (const part of parts.splice(0).reverse()) await part.stop();
  };
  try {
    const [tlsPort, httpPort, nowhere] = [await freePort(), await freePort(), await freePort()];
    const dns = given ?? keep(await startDns());
    const pebble = keep(
      await startPebble({
        dns,
        tlsPort: reach.includes('tls-alpn-01') ? tlsPort : nowhere,
        httpPort: reach.includes('http-01') ? httpPort : nowhere,
      }),
    );
    const { directoryUrl } = intercept ? keep(await startGateway(pebble, intercept)) : pebble;
    const hookFile = hook && keep(await makeHook(dns));
    const settings = {
      ...acmeSettings({ dns, tlsPort, httpPort: reach.includes('http-01') && httpPort, caFile: pebble.caFile, directoryUrl }),
      ...(hook && { DROPLEAF_TLS__ACME__DNS_HOOK: hookFile.path }),
      ...env,
    };
    const dataDir = await tempDir('domains');
    keep({ stop: () => rm(dataDir, { recursive: true, force: true }) });
    const server = await startServer({ env: settings, dataDir });
    keep({ stop: () => world.server.stop() });
    const key = await operatorKey(server);
    const world = { dns, pebble, server, tlsPort, httpPort, hook: hookFile, stop, ...clients({ server, key, dns, pebble, tlsPort }) };
    /** Starts the server again on the same data and ports. */
    world.restart = async () => {
      await world.server.stop();
      world.server = await startServer({ env: settings, dataDir, port: server.port });
    };
    return world;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a test does as the owner and as a viewer. */
export function clients({ server, key, dns, pebble, tlsPort }) {
  const call = async (method, target, body) =>
    request(server, {
      method,
      path: target,
      host: NAMES.base,
      key,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  const api = async (method, target, body) => {
    const answer = await call(method, target, body);
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${answer.text()}`);
    return answer.json();
  };
  const domain = async (hostname) => (await api('GET', '/custom-domains')).domains.find((each) => each.hostname === hostname);
  const world = {
    key,
    call,
    api,
    domain,
    publish: (bytes, { name = 'page.html', fields } = {}) => publish(server, { name, bytes, fields, key, headers: { host: NAMES.base } }),
    /** Adds a domain and its DNS record. */
    add: async (hostname, site) => {
      const added = await api('POST', '/custom-domains', { hostname, site_id: site.id });
      await dns.setCname(hostname, added.cname_target);
      return added;
    },
    verify: (hostname) => api('POST', `/custom-domains/${hostname}/verify`),
    /** Waits until the certificate of a domain is in this state; gives the domain. */
    certificate: (hostname, state = 'issued') =>
      until(`${state} for ${hostname}`, async () => {
        const found = await domain(hostname);
        return found.certificate.state === state && found;
      }),
    /** Publishes nothing: a domain of an existing page, up to a certificate. */
    connect: async (hostname, site) => {
      await world.add(hostname, site);
      const verified = await world.verify(hostname);
      if (verified.status !== 'verified') throw new Error(`${hostname}: ${JSON.stringify(verified)}`);
      return world.certificate(hostname);
    },
    curl: (url, ...args) => curl(url, { port: tlsPort, root: pebble.rootFile, args }),
    handshake: (name, options) => handshake(tlsPort, name, options),
    /** Waits until the server presents a certificate for one of its own names. */
    presents: (name) => until(`a certificate for ${name}`, async () => (await handshake(tlsPort, name)).certificate),
  };
  return world;
}

/** A hook command with the arguments of lego's `exec` provider; `calls` gives what it was called with. */
export async function makeHook(dns) {
  const dir = await tempDir('hook');
  const file = path.join(dir, 'hook');
  const log = path.join(dir, 'calls');
  const script = `#!/bin/sh
set -eu
echo "$@" >>${log}
case $1 in
  present) body="{\\"host\\": \\"$2\\", \\"value\\": \\"$3\\"}" operation=set-txt ;;
  cleanup) body="{\\"host\\": \\"$2\\"}" operation=clear-txt ;;
esac
curl --silent --show-error --fail --max-time 10 --data "$body" ${dns.managementUrl}/$operation
`;
  await writeFile(file, script);
  await chmod(file, 0o755);
  await writeFile(log, '');
  return {
    path: file,
    calls: async () => (await readFile(log, 'utf8')).trim().split('\n').filter(Boolean),
    stop: () => rm(dir, { recursive: true, force: true }),
  };
}
