// The official MPP clients buy everything that is for sale: in the sandbox, and with real settlement on a chain that runs
// here. They pay once, whatever the facilitator does, and clients of x402 still pay with x402.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { request } from '../http.mjs';
import { command } from '../server.mjs';
import { typescript1, typescript2 } from '../x402/clients.mjs';
import { page, PROVISION, PUBLISH, view } from '../x402/walk.mjs';
import { holdings, SETTINGS, startWorld } from '../x402/world.mjs';
import { mppx, pympp } from './clients.mjs';

// They derive the nonce of an authorization in different ways, and both are accepted.
const CLIENTS = [mppx, pympp];
const UNLOCK = 2_000_000n;

const json = { 'content-type': 'application/json' };
const pageAsJson = (html) => ({ path: '/publish', price: PUBLISH, status: 201, headers: json, body: JSON.stringify({ html }) });
const pageAsHtml = (html) => ({ path: '/publish', price: PUBLISH, status: 201, headers: { 'content-type': 'text/html' }, body: html });
const KEY = { path: '/provision', price: PROVISION, status: 200 };
const unlockFor = (key) => ({
  path: '/unlock?feature=make_permanent',
  price: UNLOCK,
  status: 200,
  headers: { authorization: `Bearer ${key}` },
  field: 'payment-authorization',
});

for (const setting of SETTINGS) {
  describe(setting, () => {
    let world, rpc;
    before(async () => {
      const env = async ({ evm }) => {
        rpc = await proxyTo(evm.url);
        return { DROPLEAF_PAYMENTS__EVM_RPC_URL: rpc.url };
      };
      world = await startWorld(setting, { env });
    });
    after(async () => {
      await world?.stop();
      rpc?.close();
    });

    /** What a payer has paid so far: the payments that the server fulfilled, and the balances on the chain. */
    async function paidBy(client) {
      const { payments } = JSON.parse(await command(world.server, 'payments', 'list', '--state', 'fulfilled', '--json'));
      const paid = payments.filter(({ payer }) => payer === client.payer);
      const facts = ({ id, protocol, amount, transaction }) => ({ id, protocol, amount, transaction });
      return { payments: paid.map(facts), ...(await holdings(world, client)) };
    }

    /** Checks that since `earlier` exactly one payment of this amount was made, and returns it. */
    async function paidOnce(client, earlier, amount, protocol = 'mpp') {
      const now = await paidBy(client);
      assert.equal(now.payments.length, earlier.payments.length + 1, 'one payment');
      const known = new Set(earlier.payments.map(({ id }) => id));
      const payment = now.payments.find(({ id }) => !known.has(id));
      assert.equal(BigInt(payment.amount), amount);
      assert.equal(payment.protocol, protocol);
      if (setting === 'live') {
        assert.equal(earlier.payer - now.payer, amount);
        assert.equal(now.payTo - earlier.payTo, amount);
        assert.equal(await world.evm.happened(payment.transaction), true, 'the transaction is on the chain');
      }
      return payment;
    }

    const send = (client, { path, headers, body }) => client.pay(world.server.url + path, { headers, body });

    /** The same request with the same credential, sent by a plain HTTP client. */
    const sendAgain = ({ path, headers, body }, [name, value]) =>
      request(world.server, { method: 'POST', path, headers: { ...headers, [name]: value }, body });

    /** Buys with one credential and checks receipt and payment; returns the JSON of the answer and the credential. */
    async function buy(client, order) {
      const earlier = await paidBy(client);
      const settled = world.facilitator?.calls.settle;
      const answer = await send(client, order);
      assert.equal(answer.status, order.status, answer.text);
      assert.equal(answer.credentials.length, 1, 'one credential was sent');
      const [credential] = answer.credentials;
      assert.equal(credential[0], order.field ?? 'authorization');
      const bought = JSON.parse(answer.text);
      isReceiptOf(answer.receipt, credential, bought.transaction);
      for (const name of ['WWW-Authenticate', 'PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE']) {
        assert.equal(answer.header(name), null, name);
      }
      const payment = await paidOnce(client, earlier, order.price);
      assert.equal(payment.transaction, bought.transaction);
      if (setting === 'live') assert.equal(world.facilitator.calls.settle, settled + 1, 'settled once');
      return { bought, credential };
    }

    async function isServed(site, html) {
      assert.equal(site.expires_at, null, 'a paid page is permanent');
      const answer = await view(world.server, site.url);
      assert.equal(answer.status, 200);
      assert.equal(answer.text(), html);
    }

    for (const client of CLIENTS) {
      for (const [form, order] of [['JSON', pageAsJson], ['text/html', pageAsHtml]]) {
        test(`${setting}: ${client.name} pays for a page sent as ${form}`, async () => {
          const html = page(`By ${client.name} as ${form}`);
          const { bought } = await buy(client, order(html));
          await isServed(bought, html);
        });
      }

      test(`${setting}: ${client.name} pays for an API key, and for an unlock in Payment-Authorization beside that key`, async () => {
        const { bought: account } = await buy(client, KEY);
        assert.equal(account.protocol, 'mpp');
        const { bought: unlocked } = await buy(client, unlockFor(account.api_key));
        assert.equal(unlocked.paid_with, 'mpp');
        const me = await request(world.server, { path: '/me', key: account.api_key });
        assert.deepEqual(me.json().unlocks, [{ sku: 'make_permanent', until: null }]);
      });

      test(`${setting}: a credential of ${client.name} sent again gets the same page and key, and is charged once`, async () => {
        for (const [order, member] of [[pageAsHtml(page(`Twice by ${client.name}`)), 'url'], [KEY, 'api_key']]) {
          const { bought, credential } = await buy(client, order);
          const earlier = await paidBy(client);
          const again = await sendAgain(order, credential);
          assert.equal(again.status, order.status, again.text());
          assert.equal(again.json()[member], bought[member]);
          assert.equal(again.json().transaction, bought.transaction);
          assert.deepEqual(await paidBy(client), earlier);
        }
      });
    }

    test(`${setting}: a 402 has the terms of both protocols; mppx pays with MPP, the clients of x402 with x402`, async () => {
      const order = pageAsJson(page('Both protocols'));
      const owed = await request(world.server, { method: 'POST', ...order });
      assert.equal(owed.status, 402);
      assert.match(owed.headers['www-authenticate'], /^Payment .*method="evm", intent="charge"/);
      assert.equal(JSON.parse(Buffer.from(owed.headers['payment-required'], 'base64')).x402Version, 2);
      assert.equal(owed.json().x402Version, 1);

      await buy(mppx, order);
      for (const start of [typescript2, typescript1]) {
        const client = await start(world);
        const earlier = await paidBy(client);
        const answer = await send(client, order);
        assert.equal(answer.status, 201, answer.text);
        assert.equal(answer.receipt.success, true);
        assert.equal(answer.header('Payment-Receipt'), null);
        const payment = await paidOnce(client, earlier, PUBLISH, 'x402');
        assert.equal(payment.transaction, answer.receipt.transaction);
      }
    });

    /** Pays while the facilitator settles, but its reply is lost and the chain is out of reach. */
    async function loseTheReply(client, order) {
      world.facilitator.misbehave('settle', 'lost', 'close');
      rpc.away = true;
      const answer = await send(client, order).finally(() => (rpc.away = false));
      assert.equal(answer.status, 502, answer.text);
      assert.equal(JSON.parse(answer.text).error, 'settlement_unknown');
      for (const name of ['WWW-Authenticate', 'PAYMENT-REQUIRED', 'Payment-Receipt']) assert.equal(answer.header(name), null, name);
      assert.equal(answer.credentials.length, 1, 'the client did not pay again');
      return answer.credentials[0];
    }

    for (const client of setting === 'live' ? CLIENTS : []) {
      test(`live: when the outcome is unknown, ${client.name} does not pay again, and the same credential gets the page`, async () => {
        const html = page(`Unknown outcome: ${client.name}`);
        const order = pageAsJson(html);
        const earlier = await paidBy(client);
        const credential = await loseTheReply(client, order);
        assert.equal(earlier.payer - (await paidBy(client)).payer, PUBLISH, 'the money has moved');
        const answer = await sendAgain(order, credential);
        assert.equal(answer.status, 201, answer.text());
        await isServed(answer.json(), html);
        await paidOnce(client, earlier, PUBLISH);
      });

      test(`live: when the outcome is unknown, ${client.name} gets the page with the same Idempotency-Key and pays once`, async () => {
        const html = page(`Same idempotency key: ${client.name}`);
        const plain = pageAsJson(html);
        const order = { ...plain, headers: { ...plain.headers, 'idempotency-key': `the-order-of-${client.name}` } };
        const earlier = await paidBy(client);
        const first = await loseTheReply(client, order);
        const answer = await send(client, order);
        assert.equal(answer.status, 201, answer.text);
        assert.equal(answer.credentials.length, 1);
        assert.notDeepEqual(answer.credentials[0], first, 'it signed a new credential, which was not settled');
        await isServed(JSON.parse(answer.text), html);
        const payment = await paidOnce(client, earlier, PUBLISH);
        assert.equal(answer.receipt.reference, payment.transaction);
      });

      test(`live: when a settlement is refused, ${client.name} answers the new challenge and pays once`, async () => {
        const html = page(`Refused once: ${client.name}`);
        const earlier = await paidBy(client);
        world.facilitator.misbehave('settle', 'refuse');
        const answer = await send(client, pageAsJson(html));
        assert.equal(answer.status, 201, answer.text);
        assert.equal(new Set(answer.credentials.map(challengeId)).size, 2);
        isReceiptOf(answer.receipt, answer.credentials[1], JSON.parse(answer.text).transaction);
        await isServed(JSON.parse(answer.text), html);
        await paidOnce(client, earlier, PUBLISH);
      });

      test(`live: when every settlement is refused, ${client.name} stops after three credentials and nothing is paid`, async () => {
        const earlier = await paidBy(client);
        world.facilitator.misbehave('settle', 'refuse', 'refuse', 'refuse');
        const answer = await send(client, pageAsJson(page(`Refused: ${client.name}`)));
        assert.equal(answer.status, 402, answer.text);
        assert.equal(answer.header('Content-Type'), 'application/problem+json');
        assert.equal(JSON.parse(answer.text).type, 'https://paymentauth.org/problems/verification-failed');
        assert.equal(new Set(answer.credentials.map(challengeId)).size, 3);
        assert.equal(answer.receipt, null);
        assert.deepEqual(await paidBy(client), earlier);
      });
    }

    test(`${setting}: after all of this, the ledger is consistent`, async () => {
      await command(world.server, 'ledger', 'audit');
    });
  });
}

/** The challenge that a credential answers. */
function challengeId([, value]) {
  return JSON.parse(Buffer.from(value.slice('Payment '.length), 'base64url')).challenge.id;
}

/** Checks a receipt as the client reads it, with the members that the EVM method adds. */
function isReceiptOf(receipt, credential, transaction) {
  assert.ok(receipt, 'no Payment-Receipt header');
  const { timestamp, ...members } = receipt;
  const expected = { status: 'success', method: 'evm', reference: transaction, challengeId: challengeId(credential), chainId: 8453 };
  assert.deepEqual(members, expected);
  assert.ok(Date.parse(timestamp));
}

/** A proxy between the server and the chain; while `away` is set, it closes every connection. */
async function proxyTo(url) {
  const server = http.createServer(async (incoming, response) => {
    if (server.away) return incoming.socket.destroy();
    const body = Buffer.concat(await incoming.toArray());
    const answer = await fetch(url, { method: 'POST', headers: json, body });
    response.writeHead(answer.status, json).end(await answer.text());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.url = `http://127.0.0.1:${server.address().port}`;
  return server;
}
