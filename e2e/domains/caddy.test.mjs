// Caddy with on-demand TLS in front of a server without TLS of its own, with the Caddyfile of deploy/: a verified domain gets a
// certificate at its first visit, and an unknown name is refused in the handshake.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { html } from '../samples.mjs';
import { freePort, operatorKey, startServer } from '../server.mjs';
import { startCaddy } from './caddy.mjs';
import { curl } from './curl.mjs';
import { startDns } from './dns.mjs';
import { startPebble } from './pebble.mjs';
import { addresses, clients, NAMES, UNLIMITED } from './world.mjs';

const HOST = 'reports.customer.test';

const parts = [];
const keep = (part) => parts.push(part) && part;
let world, caddy, pebble, site, server;

before(async () => {
  const [httpPort, tlsPort] = [await freePort(), await freePort()];
  const dns = keep(await startDns());
  pebble = keep(await startPebble({ dns, httpPort, tlsPort }));
  const env = { ...UNLIMITED, ...addresses, DROPLEAF_TRUSTED_PROXIES: '127.0.0.1/32', DROPLEAF_DNS__SERVERS: dns.address };
  server = keep(await startServer({ env }));
  caddy = keep(await startCaddy({ upstream: `127.0.0.1:${server.port}`, names: NAMES, pebble, httpPort, tlsPort }));
  world = clients({ server, key: await operatorKey(server), dns, pebble, tlsPort });
  Object.assign(world, { tlsPort, httpPort });
  site = await world.publish(html('Behind Caddy'), { fields: { slug: 'orchard' } });
});
after(async () => {
  for (const part of parts.reverse()) await part.stop();
});

test('a domain is refused before it is verified and served afterwards', async () => {
  await world.add(HOST, site);
  assert.ok((await world.handshake(HOST)).alert);
  assert.equal((await world.verify(HOST)).status, 'verified');
  const answer = await world.curl(`https://${HOST}/`);
  assert.deepEqual([answer.exit, answer.status, answer.version], [0, 200, '2']);
  assert.match(answer.text, /Behind Caddy/);
  assert.ok(await pebble.hasIssued((await world.handshake(HOST)).certificate));
  // The server has no part in this certificate, and says so.
  assert.equal((await world.domain(HOST)).certificate.state, 'external');
});

test('an unknown name is refused in the handshake, and nothing is ordered for it', async () => {
  for (const name of ['unknown.customer.test', `sub.${HOST}`, 'customer.test', undefined]) {
    assert.ok((await world.handshake(name)).alert, name);
    if (name) assert.equal(pebble.validations(name), 0, name);
  }
});

test('the API, and pages at their own hosts, are served through Caddy', async () => {
  await world.presents(NAMES.base);
  const me = await world.curl(`https://${NAMES.base}/me`, '-H', `Authorization: Bearer ${world.key}`);
  assert.deepEqual([me.exit, me.status], [0, 200]);
  const page = await curl(`https://orchard.${NAMES.site}/`, { port: world.tlsPort, root: caddy.wildcardRootFile });
  assert.deepEqual([page.exit, page.status], [0, 200]);
  assert.match(page.text, /Behind Caddy/);
});

test('plain HTTP is redirected', async () => {
  const answer = await curl(`http://${HOST}/x`, { port: world.httpPort });
  assert.deepEqual([answer.status, answer.headers.location], [308, `https://${HOST}/x`]);
});
