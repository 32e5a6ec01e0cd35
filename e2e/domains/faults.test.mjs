// A CA that refuses: nonces that are refused once at every step, and a rate limit. The server repeats what it may repeat, and no
// more.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { html } from '../samples.mjs';
import { NAMES, startWorld } from './world.mjs';

let world, site, intercept;
const requests = [];

before(async () => {
  world = await startWorld({
    intercept: (request) => {
      requests.push(request);
      return intercept?.(request);
    },
  });
  site = await world.publish(html('Patience'));
  for (const name of [NAMES.base, NAMES.site]) await world.presents(name);
});
after(() => world?.stop());
beforeEach(() => {
  intercept = undefined;
  requests.length = 0;
});

const orders = () => requests.filter(({ method, path }) => method === 'POST' && path === '/order-plz').length;

test('a refused nonce is replaced and the request sent again, at every step', async () => {
  const refused = new Set();
  intercept = ({ method, path }) => {
    const step = path.split('/')[1];
    if (method !== 'POST' || refused.has(step)) return null;
    refused.add(step);
    return { status: 400, type: 'badNonce' };
  };
  await world.connect('nonces.customer.test', site);
  for (const step of ['order-plz', 'authZ', 'chalZ', 'finalize-order', 'certZ']) assert.ok(refused.has(step), step);
  assert.equal((await world.curl('https://nonces.customer.test/')).status, 200);
});

test('a rate limit stops the orders for this name, and the reason is shown', async () => {
  const host = 'limited.customer.test';
  intercept = ({ method, path }) =>
    method === 'POST' && path === '/order-plz' && orders() === 1
      ? { status: 429, type: 'rateLimited', detail: 'too many certificates already issued', headers: { 'retry-after': '3600' } }
      : null;
  await world.add(host, site);
  assert.equal((await world.verify(host)).status, 'verified');
  const { certificate } = await world.certificate(host, 'failed');
  assert.match(certificate.last_error, /rate ?limit|too many/i);
  await world.verify(host);
  // The order of another name shows that orders were placed since: the limited name was not among them.
  await world.connect('unlimited.customer.test', site);
  assert.equal(orders(), 2, 'not even when the owner checks again');
});
