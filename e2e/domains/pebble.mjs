// Let's Encrypt's test CA, Pebble: a real ACME server that connects to the server under test to validate its challenges.
// It keeps its state in memory and has a new root in every run.

import { X509Certificate } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import path from 'node:path';
import { tempDir } from '../server.mjs';
import { makeCertificate } from './certificate.mjs';
import { onFreePorts, startProgram, TOOLS } from './program.mjs';

/** The profile of certificates that live for six days. */
export const SHORT_LIVED = 'shortlived';

/** Pebble refuses to order for these names, as a CA does that has a name on its list. */
export const BLOCKED = 'blocked.test';

/**
 * Starts Pebble. `dns` answers its queries; `httpPort` and `tlsPort` are where it validates HTTP-01 and TLS-ALPN-01.
 * `profiles` are more profiles; for an order that names none, Pebble chooses one by chance.
 * Gives the `directoryUrl`, `caFile` (trust for the directory itself), `rootFile` (the root of what it issues), and
 * what it did.
 */
export async function startPebble({ dns, httpPort, tlsPort, profiles = {}, env = {} }) {
  const dir = await tempDir('pebble');
  const { caFile, certificate, privateKey } = await makeCertificate(dir, 'directory', ['localhost', 'IP:127.0.0.1']);
  const ca = await readFile(caFile);
  const pebble = await onFreePorts(2, async (port, management) => {
    const config = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate,
      privateKey,
      httpPort,
      tlsPort,
      domainBlocklist: [BLOCKED],
      retryAfter: { authz: 1, order: 1 },
      keyAlgorithm: 'ecdsa',
      profiles: {
        default: { description: 'Ninety days', validityPeriod: 90 * 86_400 },
        [SHORT_LIVED]: { description: 'Six days', validityPeriod: 6 * 86_400 },
        ...profiles,
      },
    };
    await writeFile(path.join(dir, 'config.json'), JSON.stringify({ pebble: config }));
    const manage = (target, options) => fetchPinned(`https://127.0.0.1:${management}${target}`, { ca, ...options });
    const program = await startProgram(
      path.join(TOOLS, 'pebble'),
      ['-config', path.join(dir, 'config.json'), '-dnsserver', dns.address, '-strict'],
      {
        cwd: dir,
        // Nothing is left to chance: validations start at once, no good nonce is refused, and no authorization is used again.
        env: { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0', PEBBLE_AUTHZREUSE: '0', ...env },
        isReady: async () => (await manage('/roots/0')).status === 200,
      },
    );
    return { program, port, manage };
  }).catch(async (error) => {
    await rm(dir, { recursive: true, force: true });
    throw error;
  });
  const { program, port, manage } = pebble;
  const root = (await manage('/roots/0')).body;
  const rootFile = path.join(dir, 'root.pem');
  await writeFile(rootFile, root);
  return {
    port,
    directoryUrl: `https://127.0.0.1:${port}/dir`,
    caFile,
    certificate,
    privateKey,
    root,
    rootFile,
    get log() {
      return program.log;
    },
    /** How many orders there were so far, for any name. */
    orders: () => program.log.match(/ Added order "/g)?.length ?? 0,
    /** How many challenges of this name were validated so far, well or badly. */
    validations: (name) => program.log.split(`Value:"${name}"}`).length - 1,
    /** How many orders named the certificate that they replace. */
    replacements: () => program.log.match(/ARI: order .* is a replacement of /g)?.length ?? 0,
    /** Whether this CA issued the certificate. */
    hasIssued: async (certificate) => {
      const serial = new X509Certificate(certificate).serialNumber.toLowerCase();
      return (await manage(`/cert-status-by-serial/${serial}`)).status === 200;
    },
    /** Announces by ARI that the certificate has to be replaced at once, as a CA does before it revokes. */
    announceReplacement: async (certificate) => {
      const at = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();
      const ARIResponse = JSON.stringify({ suggestedWindow: { start: at(-2), end: at(-1) } });
      const answer = await manage('/set-renewal-info/', { method: 'POST', body: JSON.stringify({ Certificate: certificate, ARIResponse }) });
      if (answer.status !== 200) throw new Error(`set-renewal-info: ${answer.status} ${answer.body}`);
    },
    stop: async () => {
      await program.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A request that trusts one CA only. */
function fetchPinned(url, { ca, method = 'GET', body }) {
  return new Promise((resolve, reject) => {
    const call = https.request(url, { ca, method, agent: false, timeout: 10_000, headers: { 'user-agent': 'dropleaf tests' } });
    call.once('error', reject);
    call.once('timeout', () => call.destroy(new Error(`${url}: no answer`)));
    call.once('response', async (response) => {
      const chunks = await response.toArray().catch(reject);
      resolve({ status: response.statusCode, body: Buffer.concat(chunks ?? []).toString('utf8') });
    });
    call.end(body);
  });
}
