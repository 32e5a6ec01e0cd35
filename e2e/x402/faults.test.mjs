// A facilitator that fails while real money moves: nobody pays twice, nobody pays for nothing, and the same payment sent
// again gets what it paid for. All other faults, at every step, are in the server's own tests.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, x402Client, x402HTTPClient } from '@x402/fetch';
import { createWalletClient, http as transport, parseSignature } from 'viem';
import { base } from 'viem/chains';
import { account, USDC } from './evm.mjs';
import { page, PUBLISH, view } from './walk.mjs';
import { holdings, PAYERS, startWorld } from './world.mjs';

let world, chain;
const payer = { chain: 'evm', payer: PAYERS.author.address };

before(async () => {
  // Told that the nonce is used, only the chain can say whether it was used to pay us.
  const env = async ({ evm }) => {
    chain = await between(evm.url);
    return { DROPLEAF_PAYMENTS__EVM_RPC_URL: chain.url };
  };
  world = await startWorld('live', { env });
  world.facilitator.overtake = submit;
});
after(async () => {
  await world?.stop();
  chain?.close();
});

/** Stands between the service and the chain, which can so be out of reach for it. */
async function between(url) {
  const server = http.createServer(async (request, response) => {
    if (server.away) return request.socket.destroy();
    const body = Buffer.concat(await request.toArray());
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.url = `http://127.0.0.1:${server.address().port}`;
  return server;
}

/**
 * Hands a payer's authorization to the chain, as anybody can who sees it. With `reverts` a second time too: the name is
 * that of the transaction that fails.
 */
async function submit({ authorization, signature }, { reverts = false } = {}) {
  const stranger = createWalletClient({ account: account(9), chain: base, transport: transport(world.evm.url) });
  const { r, s, v, yParity } = parseSignature(signature);
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, Number(v ?? BigInt(yParity + 27)), r, s];
  const call = { address: USDC, abi: world.evm.abi, functionName: 'transferWithAuthorization', args, gas: 200_000n };
  const send = async () => {
    const hash = await stranger.writeContract(call);
    const { status } = await world.evm.client.waitForTransactionReceipt({ hash });
    return { hash, status };
  };
  const first = await send();
  assert.equal(first.status, 'success');
  if (!reverts) return first.hash;
  const second = await send();
  assert.equal(second.status, 'reverted');
  return second.hash;
}

for (const [call, fault, when] of [
  ['verify', 'overtaken', 'before it is verified'],
  ['settle', 'overtaken', 'before it is settled'],
  ['settle', 'reverted', 'so that the settlement reverts'],
]) {
  test(`when a third party submits the payment ${when}, the page is there and paid for once`, async () => {
    const html = page(`Overtaken: ${call} ${fault}`);
    const before = await holdings(world, payer);
    world.facilitator.misbehave(call, fault);
    const headers = await sign(html);
    const site = await paid(await post(html, headers), html);
    assert.equal(await movedSince(before), PUBLISH);
    assert.equal((await paid(await post(html, headers), html)).url, site.url);
    assert.equal(await movedSince(before), PUBLISH);
  });

  test(`when a third party submits it ${when} and the chain is out of reach, it is unknown and never refused`, async () => {
    const html = page(`Overtaken unseen: ${call} ${fault}`);
    const before = await holdings(world, payer);
    world.facilitator.misbehave(call, fault);
    chain.away = true;
    const headers = await sign(html);
    const unclear = await post(html, headers);
    assert.equal(unclear.status, 502, await unclear.clone().text());
    assert.equal(unclear.headers.get('PAYMENT-REQUIRED'), null);
    assert.equal((await unclear.json()).error, 'settlement_unknown');
    chain.away = false;
    await paid(await post(html, headers), html);
    assert.equal(await movedSince(before), PUBLISH);
  });
}

const post = (html, payment) => {
  const headers = { 'content-type': 'application/json', ...payment };
  return fetch(`${world.server.url}/publish`, { method: 'POST', headers, body: JSON.stringify({ html }) });
};

/** The header that pays for a page, made by the official client but sent by us, so that it can be sent again. */
async function sign(html) {
  const client = new x402HTTPClient(new x402Client().register('eip155:*', new ExactEvmScheme(PAYERS.author)));
  const asked = await post(html);
  assert.equal(asked.status, 402);
  const required = client.getPaymentRequiredResponse((name) => asked.headers.get(name), await asked.json());
  return client.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
}

async function paid(answer, html) {
  assert.equal(answer.status, 201, await answer.clone().text());
  const receipt = decodePaymentResponseHeader(answer.headers.get('PAYMENT-RESPONSE'));
  assert.equal(receipt.success, true);
  assert.equal(await world.evm.happened(receipt.transaction), true);
  const site = await answer.json();
  assert.equal((await view(world.server, site.url)).text(), html);
  return site;
}

async function movedSince(before) {
  const now = await holdings(world, payer);
  assert.equal(before.payer - now.payer, now.payTo - before.payTo);
  return now.payTo - before.payTo;
}

test('when the reply is lost after the money moved, the chain is asked and the page is there', async () => {
  const html = page('Not told, but seen');
  const before = await holdings(world, payer);
  world.facilitator.misbehave('settle', 'lost', 'close');
  await paid(await post(html, await sign(html)), html);
  assert.equal(await movedSince(before), PUBLISH);
});

test('when nobody can say whether the money moved, the same payment gets the page later and pays once', async () => {
  const html = page('Paid, but not told');
  const before = await holdings(world, payer);
  const headers = await sign(html);
  // The service asks a second time by itself; that reply is lost too.
  world.facilitator.misbehave('settle', 'lost', 'close');
  chain.away = true;
  const unclear = await post(html, headers);
  assert.equal(unclear.status, 502, await unclear.clone().text());
  assert.equal(unclear.headers.get('PAYMENT-REQUIRED'), null, 'a client that reads terms here would pay again');
  assert.ok(Number(unclear.headers.get('Retry-After')) > 0);
  assert.equal((await unclear.json()).error, 'settlement_unknown');
  assert.equal(await movedSince(before), PUBLISH);

  chain.away = false;
  const site = await paid(await post(html, headers), html);
  assert.equal(await movedSince(before), PUBLISH);
  assert.equal((await paid(await post(html, headers), html)).url, site.url, 'and once more the same page');
  assert.equal(await movedSince(before), PUBLISH);
});

for (const fault of ['500', 'garbage', 'mistyped', 'close']) {
  test(`when verifying fails (${fault}), nothing moves, and the same payment is good afterwards`, async () => {
    const html = page(`Verified late: ${fault}`);
    const before = await holdings(world, payer);
    const headers = await sign(html);
    const { settle } = world.facilitator.calls;
    world.facilitator.misbehave('verify', fault);
    const failed = await post(html, headers);
    assert.equal(failed.status, 502, await failed.clone().text());
    assert.equal((await failed.json()).error, 'facilitator_unavailable');
    assert.equal(world.facilitator.calls.settle, settle, 'it was not asked to settle');
    assert.equal(await movedSince(before), 0n);
    await paid(await post(html, headers), html);
    assert.equal(await movedSince(before), PUBLISH);
  });
}

test('when settling is refused, the answer is 402 with the refusal, and the same payment may try again', async () => {
  const html = page('Refused first');
  const before = await holdings(world, payer);
  const headers = await sign(html);
  world.facilitator.misbehave('settle', 'refuse');
  const refused = await post(html, headers);
  assert.equal(refused.status, 402, await refused.clone().text());
  assert.equal(decodePaymentResponseHeader(refused.headers.get('PAYMENT-RESPONSE')).success, false);
  assert.equal(await movedSince(before), 0n);
  await paid(await post(html, headers), html);
  assert.equal(await movedSince(before), PUBLISH);
});
