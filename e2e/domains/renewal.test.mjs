// Renewal under a clock that the test sets: before the end of a certificate of six days, and at once when the CA asks for it;
// and the pauses after failed orders, which grow.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { html } from '../samples.mjs';
import { until } from '../server.mjs';
import { startClock } from './clock.mjs';
import { SHORT_LIVED } from './pebble.mjs';
import { NAMES, startWorld } from './world.mjs';

let world, clock, site, intercept;
const requests = [];

before(async () => {
  clock = await startClock();
  world = await startWorld({
    env: { ...clock.env, DROPLEAF_TLS__ACME__PROFILE: SHORT_LIVED },
    intercept: (request) => {
      requests.push(request);
      return intercept?.(request);
    },
  });
  site = await world.publish(html('Renewed'));
  for (const name of [NAMES.base, NAMES.site]) await world.presents(name);
});
after(async () => {
  await world?.stop();
  await clock?.stop();
});
beforeEach(async () => {
  intercept = undefined;
  requests.length = 0;
  await clock.advance('+0');
});

const orders = () => requests.filter(({ method, path }) => method === 'POST' && path === '/order-plz').length;
const presented = async (host) => (await world.handshake(host)).certificate;
const replaced = (host, old) =>
  until(`another certificate for ${host}`, async () => {
    const certificate = await presented(host);
    return certificate !== old && certificate;
  });

test('a certificate of six days is renewed before it ends, and not before it is time', async () => {
  const host = 'renewed.customer.test';
  await world.connect(host, site);
  const first = await presented(host);
  await clock.advance('+1d');
  await world.restart();
  await world.connect('later.customer.test', site);
  assert.equal(await presented(host), first);
  await clock.advance('+5d');
  await world.restart();
  const second = await replaced(host, first);
  await clock.advance('+0');
  assert.ok(await world.pebble.hasIssued(second));
  assert.ok(world.pebble.replacements() > 0, 'the order names the certificate that it replaces');
  assert.equal((await world.curl(`https://${host}/`)).status, 200);
});

test('a certificate that the CA is about to revoke is replaced at once', async () => {
  const host = 'revoked.customer.test';
  await world.connect(host, site);
  const first = await presented(host);
  await world.pebble.announceReplacement(first);
  // What the CA said about renewal is good for six hours.
  await clock.advance('+7h');
  await world.restart();
  assert.ok(await world.pebble.hasIssued(await replaced(host, first)));
});

test('after a failed order the next one waits, whatever the owner does, and then comes by itself', async () => {
  const host = 'patience.customer.test';
  const { cname_target } = await world.add(host, site);
  await world.dns.setA(cname_target, '127.0.0.9');
  await world.verify(host);
  await world.certificate(host, 'failed');
  assert.equal(world.pebble.validations(host), 1);
  await clock.advance('+10m');
  await world.verify(host);
  // A whole order of another name goes through meanwhile.
  await world.connect('meanwhile.customer.test', site);
  assert.equal(world.pebble.validations(host), 1);
  await clock.advance('+20m');
  await world.restart();
  // An order that is interrupted is placed again, so it has to end first.
  await until('the end of the second order', () => /certificate order failed.*patience.*"failures":2/.test(world.server.log));
  assert.equal(world.pebble.validations(host), 2);
  // The second pause is longer than the first.
  await world.dns.clearA(cname_target);
  await clock.advance('+40m');
  await world.restart();
  await world.connect('later-still.customer.test', site);
  assert.equal(world.pebble.validations(host), 2);
  await clock.advance('+60m');
  await world.restart();
  await world.certificate(host);
  assert.equal((await world.curl(`https://${host}/`)).status, 200);
});
