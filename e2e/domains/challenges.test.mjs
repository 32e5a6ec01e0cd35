// The other challenges: HTTP-01 at a server whose HTTPS port the CA cannot reach, and DNS-01 for the wildcard of the pages,
// by a hook command and by dynamic updates.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { after, before, describe, test } from 'node:test';
import { html } from '../samples.mjs';
import { until } from '../server.mjs';
import { startClock } from './clock.mjs';
import { curl } from './curl.mjs';
import { startNamed } from './named.mjs';
import { NAMES, startWorld } from './world.mjs';

describe('HTTP-01', () => {
  const host = 'reports.customer.test';
  let world, site, clock;
  before(async () => {
    clock = await startClock();
    world = await startWorld({ reach: ['http-01'], env: clock.env });
    site = await world.publish(html('Proved over plain HTTP'));
  });
  after(async () => {
    await world?.stop();
    await clock?.stop();
  });
  const plain = (url, ...args) => curl(url, { port: world.httpPort, args });

  test('issues when the CA reaches only the plain port', async () => {
    await world.add(host, site);
    assert.equal((await world.verify(host)).status, 'verified');
    // TLS-ALPN-01 is tried first, and HTTP-01 at once when the CA cannot connect.
    await world.certificate(host);
    const answer = await world.curl(`https://${host}/`);
    assert.deepEqual([answer.exit, answer.status], [0, 200]);
    assert.match(answer.text, /Proved over plain HTTP/);
  });

  test('the plain port redirects everything else, and answers no challenge that is not open', async () => {
    const redirected = await plain(`http://${host}/some/page?x=1`, '-X', 'POST', '--data', 'a=b');
    assert.deepEqual([redirected.status, redirected.headers.location], [308, `https://${host}/some/page?x=1`]);
    const unknown = await plain(`http://${host}/.well-known/acme-challenge/${'a'.repeat(43)}`);
    assert.equal(unknown.status, 404);
  });

  test('the plain port redirects nobody to a host that is not ours', async () => {
    const answer = await plain('http://unknown.customer.test/');
    assert.ok(answer.status === 421 || answer.status === 404, `${answer.status} ${answer.headers.location}`);
    assert.equal(answer.headers.location, undefined);
  });
});

describe('DNS-01', () => {
  const wildcard = `*.${NAMES.site}`;
  let world;
  before(async () => {
    world = await startWorld({ hook: true });
  });
  after(() => world?.stop());

  test('issues the wildcard by the hook, which is called to clean up too', async () => {
    const site = await world.publish(html('A page at a host of its own'), { fields: { slug: 'orchard' } });
    const certificate = await world.presents(`orchard.${NAMES.site}`);
    assert.equal(new X509Certificate(certificate).subjectAltName, `DNS:${wildcard}`);
    const answer = await world.curl(`https://orchard.${NAMES.site}/`);
    assert.deepEqual([answer.exit, answer.status], [0, 200]);
    assert.match(answer.text, /A page at a host of its own/);
    assert.ok(site.url.startsWith(`https://orchard.${NAMES.site}`));

    const calls = (await world.hook.calls()).map((line) => line.split(' '));
    assert.deepEqual(calls.map(([operation, name]) => [operation, name]), [
      ['present', `_acme-challenge.${NAMES.site}.`],
      ['cleanup', `_acme-challenge.${NAMES.site}.`],
    ]);
    assert.match(calls[0][2], /^[\w-]{43}$/);
    assert.equal(calls[0][2], calls[1][2]);
  });

  test('names of the server itself are proved without the hook or covered by it, and open', async () => {
    for (const name of [NAMES.base, NAMES.site]) {
      await world.presents(name);
      assert.equal((await world.curl(`https://${name}/healthz`)).exit, 0);
    }
  });
});

describe('RFC 2136', () => {
  const record = `_acme-challenge.${NAMES.site}`;
  let world, named;
  before(async () => {
    named = await startNamed({ hosts: [NAMES.base, NAMES.site], updatable: record });
    const settings = { SERVER: named.address, ZONE: 'dropleaf-pages.test', KEY_NAME: named.key.name, KEY_SECRET: named.key.secret, KEY_ALGORITHM: named.key.algorithm };
    const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`DROPLEAF_TLS__ACME__RFC2136_${name}`, value]));
    world = await startWorld({ dns: named, env });
  });
  after(async () => {
    await world?.stop();
    await named?.stop();
  });

  test('issues the wildcard by a dynamic update of BIND, and takes the record away again', async () => {
    await world.publish(html('Proved by an update'), { fields: { slug: 'orchard' } });
    const certificate = await world.presents(`orchard.${NAMES.site}`);
    assert.equal(new X509Certificate(certificate).subjectAltName, `DNS:*.${NAMES.site}`);
    const answer = await world.curl(`https://orchard.${NAMES.site}/`);
    assert.deepEqual([answer.exit, answer.status], [0, 200]);
    const updates = named.log.match(/updating zone .*/g);
    assert.match(updates[0], new RegExp(`adding an RR at '${record}' TXT`));
    const resolver = new Resolver();
    resolver.setServers([named.address]);
    await until('the record to be gone', () => resolver.resolveTxt(record).then(() => false, ({ code }) => code === 'ENOTFOUND' || code === 'ENODATA'));
    assert.ok(updates.every((line) => line.includes(` ${record} `) || line.includes(` '${record}' `)), updates.join('\n'));
  });
});
