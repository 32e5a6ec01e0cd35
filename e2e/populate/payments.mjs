// Fills the tables of payments: purchases of every item in the sandbox, prepaid credit, a wallet's challenges, and payments
// that a facilitator refuses or leaves undecided.

import assert from 'node:assert/strict';
import http from 'node:http';
import { request, upload } from '../http.mjs';
import * as samples from '../samples.mjs';
import { command } from '../server.mjs';
import { solana2, typescript1, typescript2 } from '../x402/clients.mjs';
import { account } from '../x402/evm.mjs';
import { startSolana } from '../x402/solana.mjs';
import { PAYERS } from '../x402/world.mjs';
import { record } from './publishing.mjs';

const json = { 'content-type': 'application/json' };

async function bought(client, url, { headers, body, status }) {
  const answer = await client.pay(url, { headers, body });
  assert.equal(answer.status, status, answer.text);
  return JSON.parse(answer.text);
}

/** Buys everything in the sandbox, with both protocol versions and on both networks. `key` is the account that unlocks. */
export async function sandboxPayments(server, key) {
  const solana = await startSolana();
  const clients = [await typescript2(), await typescript1(), await solana2({ solana })];
  const [evm, evm1, sol] = clients;
  const html = samples.html('Paid page');
  const paid = await bought(evm, `${server.url}/publish`, { headers: { ...json, 'idempotency-key': 'a-payment-of-the-fixture' }, body: JSON.stringify({ html }), status: 201 });
  await bought(evm1, `${server.url}/publish`, { headers: { 'content-type': 'text/html' }, body: samples.html('Paid, version 1'), status: 201 });
  await bought(sol, `${server.url}/publish`, { headers: json, body: JSON.stringify({ html: samples.html('Paid on Solana') }), status: 201 });
  const provisioned = await bought(evm, `${server.url}/provision`, { status: 200 });
  const headers = { authorization: `Bearer ${key}` };
  for (const feature of ['higher_limits', 'custom_domain']) {
    await bought(evm, `${server.url}/unlock?feature=${feature}`, { headers, status: 200 });
  }
  for (const client of clients) await client.stop();
  await solana.stop();
  const bytes = samples.html('Changed by the wallet');
  await walletChallenges(server, paid, bytes);
  return { page: record({ ...paid, version: 2 }, bytes), key: provisioned.api_key };
}

/** Credit for an account, of which a part is spent, and a correction. */
export async function prepaid(server, email, key) {
  await command(server, 'account', 'credit', email, '--amount', '10.00', '--reason', 'an outage of ours', '--once', 'outage-7');
  await command(server, 'account', 'credit', email, '--amount', '-1.00', '--reason', 'a correction');
  const answer = await request(server, { method: 'POST', path: '/unlock?feature=make_permanent', key });
  assert.equal(answer.status, 200, answer.text());
}

/** A challenge that replaced the page, and one that is still open. */
async function walletChallenges(server, site, bytes) {
  const wallet = PAYERS.typescript2;
  const ask = async () => {
    const answer = await request(server, { method: 'POST', path: '/wallet-auth/challenge', headers: json, body: JSON.stringify({ wallet: wallet.address }) });
    assert.equal(answer.status, 200, answer.text());
    return answer.json();
  };
  const { challenge, message } = await ask();
  const headers = { authorization: `Wallet challenge=${challenge},sig=${await wallet.signMessage({ message })}` };
  const answer = await upload(server, { to: site.id, name: 'index.html', bytes, headers });
  assert.equal(answer.status, 200, answer.text());
  await ask();
}

/** Settings under which payments go to this facilitator. */
export const liveSettings = (facilitator) => ({
  DROPLEAF_PAYMENTS__MODE: 'live',
  DROPLEAF_PAYMENTS__FACILITATOR_URL: facilitator.url,
  DROPLEAF_PAYMENTS__EVM_PAY_TO: account(1).address,
});

/** A facilitator that accepts every payment and settles as told: `settle` gives status and body. */
export async function startFailingFacilitator() {
  const facilitator = { settle: () => [500, {}] };
  const listener = http.createServer((call, response) => {
    const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }];
    const answers = { '/supported': [200, { kinds }], '/verify': [200, { isValid: true, payer: PAYERS.typescript2.address }] };
    const [status, body] = answers[call.url] ?? facilitator.settle();
    call.resume().once('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  facilitator.url = `http://127.0.0.1:${listener.address().port}`;
  facilitator.stop = () => new Promise((resolve) => listener.close(resolve) && listener.closeAllConnections());
  return facilitator;
}

/** A payment that was settled, one that was refused, and one whose outcome is unknown, so that its content waits. */
export async function livePayments(server, facilitator) {
  const client = await typescript2();
  const network = 'eip155:8453';
  const pay = (title) => client.pay(`${server.url}/publish`, { headers: json, body: JSON.stringify({ html: samples.html(title) }) });
  facilitator.settle = () => [200, { success: true, transaction: `0x${'5c'.repeat(32)}`, network, payer: client.payer }];
  const settled = await pay('Settled');
  assert.equal(settled.status, 201, settled.text);
  facilitator.settle = () => [200, { success: false, errorReason: 'insufficient_funds', transaction: '', network }];
  const refused = await pay('Refused');
  assert.equal(refused.status, 402, refused.text);
  facilitator.settle = () => [500, { error: 'internal error' }];
  const unknown = await pay('Undecided');
  assert.ok(unknown.status >= 500 || unknown.status === 202, `${unknown.status} ${unknown.text}`);
}
