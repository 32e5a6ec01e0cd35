// What an agent buys, by whichever client: a page sent as JSON, a page sent as itself, an API key. After each the money
// has moved once, by the price, and what was bought is there.

import assert from 'node:assert/strict';
import { request } from '../http.mjs';
import { NETWORK as BASE } from './evm.mjs';
import { NETWORK as SOLANA } from './solana.mjs';
import { holdings } from './world.mjs';

export const PUBLISH = 500_000n;
export const PROVISION = 1_000_000n;

/** A document that says these words. */
export const page = (words) => `<!doctype html><html lang="en"><title>${words}</title><h1>${words}</h1></html>`;

/** What a viewer without a browser gets at the address of a page. */
export const view = (server, url) => request(server, { path: new URL(url).pathname });

/** The same address, however its letters are written; those of Solana have only one spelling. */
const address = (text) => (text.startsWith('0x') ? text.toLowerCase() : text);

/** Checks that a client that does not pay gets the price, on both networks and in both protocol versions. */
async function isAsked(world, { path, price, headers, body }) {
  const answer = await request(world.server, { method: 'POST', path, headers, body });
  assert.equal(answer.status, 402, answer.text());
  const terms = JSON.parse(Buffer.from(answer.headers['payment-required'], 'base64'));
  assert.equal(terms.x402Version, 2);
  assert.deepEqual(terms.accepts.map(({ network, amount }) => [network, BigInt(amount)]), [[BASE, price], [SOLANA, price]]);
  const older = answer.json();
  assert.equal(older.x402Version, 1);
  assert.deepEqual(older.accepts.map(({ network, maxAmountRequired }) => [network, BigInt(maxAmountRequired)]), [['base', price], ['solana', price]]);
}

/** Pays `price` for what is posted and checks that exactly this happened; gives the answer's JSON. */
async function buy(world, client, { path, price, status, headers, body }) {
  await isAsked(world, { path, price, headers, body });
  const before = await holdings(world, client);
  const settled = world.facilitator?.calls.settle;
  const answer = await client.pay(world.server.url + path, { headers, body });
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.header('PAYMENT-REQUIRED'), null, 'nothing is owed any more');

  const { receipt } = answer;
  assert.ok(receipt, `no ${client.receiptHeader} header`);
  assert.equal(receipt.success, true);
  assert.equal(receipt.network, client.network);
  assert.equal(address(receipt.payer), address(client.payer));
  assert.ok(receipt.transaction);
  if (before) {
    assert.equal(await world[client.chain].happened(receipt.transaction), true, 'the transaction is on the chain');
    const after = await holdings(world, client);
    assert.equal(before.payer - after.payer, price);
    assert.equal(after.payTo - before.payTo, price);
    assert.equal(world.facilitator.calls.settle, settled + 1, 'settled once');
  }
  return JSON.parse(answer.text);
}

/** Insists that a paid page is what the contract says, and that it is served. */
async function isThere(server, site, html) {
  assert.equal(site.expires_at, null, 'a paid page is permanent');
  assert.match(site.claim_token, /^clm_/);
  assert.ok(site.claim_url && site.id);
  assert.ok(site.url.includes(site.unlisted_token));
  assert.equal(site.next.update_in_place.method, 'PUT');
  const answer = await view(server, site.url);
  assert.equal(answer.status, 200);
  assert.equal(answer.text(), html);
}

export async function publishJson(world, client, words) {
  const html = page(words);
  const headers = { 'content-type': 'application/json' };
  const site = await buy(world, client, { path: '/publish', price: PUBLISH, status: 201, headers, body: JSON.stringify({ html }) });
  await isThere(world.server, site, html);
  return site;
}

export async function publishRaw(world, client, words) {
  const html = page(words);
  const headers = { 'content-type': 'text/html' };
  const site = await buy(world, client, { path: '/publish', price: PUBLISH, status: 201, headers, body: html });
  await isThere(world.server, site, html);
  return site;
}

export async function provision(world, client) {
  const bought = await buy(world, client, { path: '/provision', price: PROVISION, status: 200 });
  assert.equal(bought.ok, true);
  assert.match(bought.api_key, /^stk_live_[0-9A-Za-z]{36}$/);
  assert.ok(bought.api_key.startsWith(bought.prefix));
  const me = await request(world.server, { path: '/me', key: bought.api_key });
  assert.equal(me.status, 200, me.text());
  assert.equal(me.json().plan, 'free');
  assert.equal(me.json().email, null);
  return bought;
}
