// Fills the tables of custom domains and certificates, with a real CA and a DNS server: names in every state, certificates that
// are issued, no longer used, about to expire or not issued, and an order that is still open.

import assert from 'node:assert/strict';
import { acmeSettings, clients } from '../domains/world.mjs';
import { startDns } from '../domains/dns.mjs';
import { startGateway } from '../domains/gateway.mjs';
import { BLOCKED, startPebble } from '../domains/pebble.mjs';
import * as samples from '../samples.mjs';
import { command, freePort, startServer, until } from '../server.mjs';
import { query } from './database.mjs';
import { record } from './publishing.mjs';

const NAMES = {
  primary: 'www.orchard.test',
  // In Unicode: bücher.orchard.test.
  second: 'xn--bcher-kva.orchard.test',
  pending: 'waiting.orchard.test',
  failed: 'elsewhere.orchard.test',
  failing: 'failing.orchard.test',
  refused: `orchard.${BLOCKED}`,
  expiring: 'expiring.orchard.test',
  ordered: 'ordered.orchard.test',
  former: 'former.orchard.test',
};

/** A certificate that ends while one watches. */
const BRIEF = { brief: { description: 'Fifteen seconds', validityPeriod: 15 } };
const PAGE = samples.html('At its own domain');

/**
 * Runs servers of their own on the data of `stopped`, with its settings `env`; `key` is that of the owner. The last one is
 * killed during an order, with an email to the owner that is still to be sent. Gives what the tests need: the page and its
 * names.
 */
export async function customDomains(stopped, env, key) {
  const parts = [];
  const keep = (part) => parts.push(part) && part;
  let isHeld = false;
  // The CA never learns that the answer to its challenge is ready, and the server waits.
  const intercept = ({ method, path }) => (isHeld && method === 'POST' && path.startsWith('/chalZ/') ? new Promise(() => {}) : null);
  try {
    const [tlsPort, nowhere] = [await freePort(), await freePort()];
    const dns = keep(await startDns());
    const pebble = keep(await startPebble({ dns, tlsPort, httpPort: nowhere, profiles: BRIEF }));
    const { directoryUrl } = keep(await startGateway(pebble, intercept));
    const settings = {
      ...env,
      ...acmeSettings({ dns, directoryUrl, caFile: pebble.caFile, tlsPort }),
      // Never, because it would delete what the second run left open.
      DROPLEAF_SWEEP__EVERY_SECONDS: '86400',
    };
    const run = async (profile, work) => {
      const server = await startServer({
        dataDir: stopped.dataDir,
        port: stopped.port,
        env: { ...settings, DROPLEAF_TLS__ACME__PROFILE: profile },
      });
      keep({ stop: () => server.stop() });
      await work(server, clients({ server, key, dns, pebble, tlsPort }));
      await server.stop();
    };
    let page;
    await run('default', async (server, owner) => {
      page = await owner.publish(PAGE);
      await issued(owner, page);
      await notProven(owner, dns, page);
      await notIssued(owner, page);
      await noLongerUsed(server, owner, page);
    });
    await run('brief', (server, owner) => expiring(server, owner, dns, page));
    await run('default', async (server, owner) => {
      isHeld = true;
      await openOrder(server, owner, page);
      await failing(owner, dns);
      await server.kill();
    });
    return { ...record(page, PAGE), domains: NAMES };
  } finally {
    for (const part of parts.reverse()) await part.stop();
  }
}

/** A page with two names, one of them primary, and a third that fails later. */
async function issued(owner, page) {
  for (const name of [NAMES.primary, NAMES.second, NAMES.failing]) await owner.connect(name, page);
  await owner.api('PATCH', `/custom-domains/${NAMES.primary}`, { primary: true });
  assert.equal((await owner.domain(NAMES.primary)).primary, true);
}

/** A name that was never checked, and one whose record leads elsewhere. */
async function notProven(owner, dns, page) {
  await owner.add(NAMES.failed, page);
  await dns.setCname(NAMES.failed, 'pages.another-host.test');
  assert.equal((await owner.verify(NAMES.failed)).status, 'failed');
  await owner.add(NAMES.pending, page);
}

/** A name for which the CA issues nothing. */
async function notIssued(owner, page) {
  await owner.add(NAMES.refused, page);
  assert.equal((await owner.verify(NAMES.refused)).status, 'verified');
  await owner.certificate(NAMES.refused, 'failed');
}

/** A certificate whose name was deleted. */
async function noLongerUsed(server, owner, page) {
  await owner.connect(NAMES.former, page);
  const deleted = await owner.call('DELETE', `/custom-domains/${NAMES.former}`);
  assert.ok(deleted.status < 300, deleted.text());
  const list = async () => JSON.parse(await command(server, 'certs', 'list', '--json')).certificates;
  await until('a certificate that is no longer used', async () => {
    // A check by an owner makes the server look after its certificates now.
    await owner.verify(NAMES.primary);
    return (await list()).find(({ name }) => name === NAMES.former).next_order_at === null;
  }, { every: 200 });
}

/** A certificate that ends soon and cannot be renewed, about which operators were warned. */
async function expiring(server, owner, dns, page) {
  const { cname_target } = await owner.add(NAMES.expiring, page);
  await owner.verify(NAMES.expiring);
  const about = (column) => query(server, `SELECT ${column} FROM certificates WHERE name = '${NAMES.expiring}'`);
  await until('a certificate of seconds', async () => (await about('COUNT(serial)')) === '1', { every: 200 });
  await dns.setA(cname_target, '127.0.0.9');
  await command(server, 'certs', 'renew', NAMES.expiring);
  await until('a warning', async () => {
    await owner.verify(NAMES.primary);
    return (await about('COUNT(warned_at)')) === '1';
  }, { every: 1000 });
}

/** An order whose challenge waits for the CA. */
async function openOrder(server, owner, page) {
  await owner.add(NAMES.ordered, page);
  await owner.verify(NAMES.ordered);
  await until('an open challenge', async () => Number(await query(server, 'SELECT COUNT(*) FROM acme_challenges')) > 0);
}

/** A name in use whose record is gone. The email about it goes out half a minute after the start of the server or later. */
async function failing(owner, dns) {
  await dns.clearCname(NAMES.failing);
  const { status, last_error } = await owner.verify(NAMES.failing);
  assert.equal(status, 'verified');
  assert.ok(last_error);
}
