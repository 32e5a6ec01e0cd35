// A customer's domain over HTTPS, from an empty server: the CA is a real one and reaches only the HTTPS port, so that every
// certificate here was proved by TLS-ALPN-01.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { html } from '../samples.mjs';
import { BLOCKED, SHORT_LIVED } from './pebble.mjs';
import { NAMES, startWorld } from './world.mjs';

const HOST = 'reports.customer.test';
const DAY = 86_400_000;

let world, site;

before(async () => {
  world = await startWorld({ env: { DROPLEAF_TLS__ACME__PROFILE: SHORT_LIVED } });
  site = await world.publish(html('Quarterly report'));
});
after(() => world?.stop());

test('a domain is added, verified, and opened over HTTPS with a certificate that curl accepts', async () => {
  const added = await world.api('POST', '/custom-domains', { hostname: HOST, site_id: site.id });
  assert.equal(added.status, 'pending');
  assert.match(added.cname_target, new RegExp(`^d-[a-z2-7]{20}\\.${NAMES.site}$`));
  assert.ok(added.records.some(({ type, name, value }) => type === 'CNAME' && name === HOST && value === added.cname_target));

  // Without a record there is no proof, no certificate and no order.
  assert.notEqual((await world.verify(HOST)).status, 'verified');
  assert.ok((await world.handshake(HOST)).alert);

  await world.dns.setCname(HOST, added.cname_target);
  const verified = await world.verify(HOST);
  assert.equal(verified.status, 'verified');
  assert.equal(typeof verified.verified_at, 'number');
  const issued = await world.certificate(HOST);
  assert.equal(issued.certificate.last_error, null);

  const answer = await world.curl(`https://${HOST}/`);
  assert.deepEqual([answer.exit, answer.status, answer.version], [0, 200, '2']);
  assert.match(answer.text, /<h1>Quarterly report<\/h1>/);
  const older = await world.curl(`https://${HOST}/`, '--http1.1');
  assert.deepEqual([older.exit, older.status, older.version], [0, 200, '1.1']);

  const { certificate } = await world.handshake(HOST);
  const { subjectAltName, validTo } = new X509Certificate(certificate);
  assert.equal(subjectAltName, `DNS:${HOST}`);
  assert.ok(await world.pebble.hasIssued(certificate));
  // The profile of six days was asked for, and the API tells the end of the certificate.
  const expires = new Date(validTo).getTime();
  assert.ok(expires - Date.now() < 6 * DAY);
  assert.equal(issued.certificate.expires_at, expires / 1000);
});

test('curl refuses the same address without the root of the CA', async () => {
  const { exit } = await world.curl(`https://${HOST}/`, '--cacert', '/etc/ssl/certs/ca-certificates.crt');
  assert.equal(exit, 60);
});

test("the server's own names have certificates too, and the API answers there", async () => {
  for (const name of [NAMES.base, NAMES.site]) await world.presents(name);
  const answer = await world.curl(`https://${NAMES.base}/me`, '-H', `Authorization: Bearer ${world.key}`);
  assert.deepEqual([answer.exit, answer.status], [0, 200]);
});

test('the API and the dashboard do not exist on a custom domain', async () => {
  for (const path of ['/me', '/sites', '/login', '/custom-domains', '/tls/allow?domain=x.test']) {
    const answer = await world.curl(`https://${HOST}${path}`, '-H', `Authorization: Bearer ${world.key}`);
    assert.deepEqual([answer.exit, answer.status], [0, 404], path);
  }
});

test('an unknown name is refused in the handshake and costs no order', async () => {
  for (const name of [NAMES.base, NAMES.site]) await world.presents(name);
  const before = world.pebble.orders();
  const names = ['unknown.customer.test', `sub.${HOST}`, 'customer.test', `s-abcdefgh.${NAMES.site}`, `other.${NAMES.base}`];
  for (let round = 0; round < 5; round += 1) {
    for (const name of names) {
      const { alert, certificate } = await world.handshake(name);
      assert.ok(alert && !certificate, `${name}: ${certificate}`);
      // A refusal by the protocol, not a dropped connection.
      assert.match(alert, /ALERT|UNRECOGNIZED/i, String(name));
    }
  }
  // A whole order of another name goes through meanwhile: whatever the refusals had started would be there by now.
  await world.connect('meanwhile.customer.test', site);
  assert.equal(world.pebble.orders(), before + 1);
  for (const name of names) assert.equal(world.pebble.validations(name), 0, name);
});

test('a client without a server name gets the certificate of the API', async () => {
  await world.presents(NAMES.base);
  assert.equal(new X509Certificate((await world.handshake()).certificate).subjectAltName, `DNS:${NAMES.base}`);
});

test('a request for another host than the handshake named is misdirected', async () => {
  for (const host of ['meanwhile.customer.test', NAMES.base, 'unknown.customer.test']) {
    for (const version of ['--http1.1', '--http2']) {
      const answer = await world.curl(`https://${HOST}/`, version, '-H', `Host: ${host}`);
      assert.deepEqual([answer.exit, answer.status], [0, 421], `${host} ${version}`);
      assert.doesNotMatch(answer.text, /Quarterly/);
    }
  }
});

test('an apex is proved by a TXT record', async () => {
  const apex = 'apex-customer.test';
  const { records } = await world.api('POST', '/custom-domains', { hostname: apex, site_id: site.id });
  const record = records.find(({ type }) => type === 'TXT');
  assert.equal(record.name, `_dropleaf.${apex}`);
  await world.dns.setTxt(record.name, 'something else');
  assert.notEqual((await world.verify(apex)).status, 'verified');
  await world.dns.setTxt(record.name, record.value);
  assert.equal((await world.verify(apex)).status, 'verified');
  await world.certificate(apex);
  assert.equal((await world.curl(`https://${apex}/`)).status, 200);
});

test('nothing is ordered for a proved apex that leads elsewhere', async () => {
  const apex = 'moved-customer.test';
  const before = world.pebble.orders();
  const { records } = await world.api('POST', '/custom-domains', { hostname: apex, site_id: site.id });
  const record = records.find(({ type }) => type === 'TXT');
  await world.dns.setTxt(record.name, record.value);
  await world.dns.setA(apex, '127.0.0.9');
  assert.equal((await world.verify(apex)).status, 'verified');
  assert.match((await world.certificate(apex, 'failed')).certificate.last_error, /127\.0\.0\.9/);
  assert.equal(world.pebble.orders(), before);
});

test('a DNS server that fails says nothing about the domain', async () => {
  const host = 'unclear.customer.test';
  await world.add(host, site);
  await world.dns.setServfail(host);
  await world.dns.setServfail(`_dropleaf.${host}`);
  const unclear = await world.verify(host);
  assert.equal(unclear.status, 'pending');
  assert.ok(unclear.last_error);
  await world.dns.clearServfail(host);
  await world.dns.clearServfail(`_dropleaf.${host}`);
  assert.equal((await world.verify(host)).status, 'verified');
});

test('a name that leads elsewhere fails, is not ordered again, and holds up no other name', async () => {
  const host = 'elsewhere.customer.test';
  const { cname_target } = await world.add(host, site);
  // Proved by its CNAME, but the CA is led to a machine that does not answer.
  await world.dns.setA(cname_target, '127.0.0.9');
  assert.equal((await world.verify(host)).status, 'verified');
  const failed = await world.certificate(host, 'failed');
  assert.ok(failed.certificate.last_error);
  const tried = world.pebble.validations(host);
  for (const name of ['first.customer.test', 'second.customer.test', 'third.customer.test']) await world.connect(name, site);
  assert.equal(world.pebble.validations(host), tried, 'it backs off');
  assert.ok((await world.handshake(host)).alert);
});

test('a name that the CA refuses fails with its reason', async () => {
  const host = `reports.${BLOCKED}`;
  const before = world.pebble.orders();
  await world.add(host, site);
  assert.equal((await world.verify(host)).status, 'verified');
  const { certificate } = await world.certificate(host, 'failed');
  assert.match(certificate.last_error, /refus|reject|block|forbid|polic/i);
  assert.equal(world.pebble.orders(), before);
});

test('a deleted domain is refused in the next handshake', async () => {
  const host = 'short.customer.test';
  await world.connect(host, site);
  assert.equal((await world.curl(`https://${host}/`)).status, 200);
  await world.api('DELETE', `/custom-domains/${host}`);
  assert.ok((await world.handshake(host)).alert);
});
