// The wallet as a credential: who paid for a page changes it later with a signature of that wallet, made by viem as a
// wallet would make it, and with nothing else. Each challenge is good for one change.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { request, upload } from '../http.mjs';
import { page, view } from './walk.mjs';
import { PAYERS, SETTINGS, startWorld } from './world.mjs';

const json = { 'content-type': 'application/json' };

for (const setting of SETTINGS) {
  describe(setting, () => {
    let world, server;
    before(async () => {
      world = await startWorld(setting);
      server = world.server;
    });
    after(async () => world?.stop());

    /** A page that this wallet has paid for. */
    async function paidPage(wallet, words) {
      const paying = wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(wallet)));
      const answer = await paying(`${server.url}/publish`, { method: 'POST', headers: json, body: JSON.stringify({ html: page(words) }) });
      assert.equal(answer.status, 201, await answer.clone().text());
      return answer.json();
    }

    const askFor = (wallet) =>
      request(server, { method: 'POST', path: '/wallet-auth/challenge', headers: json, body: JSON.stringify({ wallet: wallet.address }) });

    /** A fresh challenge for `wallet`, signed by `signer`, as the header that carries it. */
    async function signed(wallet, signer = wallet) {
      const before = Math.floor(Date.now() / 1000);
      const answer = await askFor(wallet);
      const after = Math.ceil(Date.now() / 1000);
      assert.equal(answer.status, 200, answer.text());
      const { challenge, message, expires_at } = answer.json();
      assert.match(challenge, /^WAUTH-/);
      assert.ok(expires_at >= before + 300 && expires_at <= after + 300, 'five minutes from now');
      return { authorization: `Wallet challenge=${challenge},sig=${await signer.signMessage({ message })}` };
    }

    const replace = (site, headers, words) =>
      upload(server, { to: site.id, name: 'index.html', bytes: Buffer.from(page(words)), headers });

    async function refused(answer, status, error) {
      assert.equal(answer.status, status, answer.text());
      assert.equal(answer.json().error, error);
    }

    const shows = async (site, words) => assert.equal((await view(server, site.url)).text(), page(words));

    test(`${setting}: a wallet that paid replaces its page at the same address, once for each challenge`, async () => {
      const site = await paidPage(PAYERS.author, 'First draft');
      await shows(site, 'First draft');
      const headers = await signed(PAYERS.author);
      const answer = await replace(site, headers, 'Second draft');
      assert.equal(answer.status, 200, answer.text());
      assert.equal(answer.json().url, site.url);
      await shows(site, 'Second draft');

      await refused(await replace(site, headers, 'Third draft'), 409, 'challenge_used');
      await shows(site, 'Second draft');
      assert.equal((await replace(site, await signed(PAYERS.author), 'Third draft')).status, 200);
      await shows(site, 'Third draft');
    });

    test(`${setting}: another key's signature, another wallet's page and a wallet that never paid are refused`, async () => {
      const site = await paidPage(PAYERS.author, 'Mine');
      await refused(await replace(site, await signed(PAYERS.author, PAYERS.stranger), 'Stolen'), 403, 'bad_signature');
      await paidPage(PAYERS.other, 'Of the other');
      await refused(await replace(site, await signed(PAYERS.other), 'Stolen'), 404, 'not_found');
      await refused(await askFor(PAYERS.stranger), 404, 'unknown_wallet');
      await shows(site, 'Mine');
    });

    test(`${setting}: of twenty requests with one challenge, one changes the page`, async () => {
      const site = await paidPage(PAYERS.author, 'Start');
      const headers = await signed(PAYERS.author);
      const words = Array.from({ length: 20 }, (_, number) => `Racer ${number}`);
      const answers = await Promise.all(words.map((one) => replace(site, headers, one)));
      const winners = words.filter((_, number) => answers[number].status === 200);
      assert.equal(winners.length, 1);
      for (const answer of answers) if (answer.status !== 200) await refused(answer, 409, 'challenge_used');
      await shows(site, winners[0]);
    });

    test(`${setting}: a wallet's signature neither deletes a page nor changes its settings`, async () => {
      const site = await paidPage(PAYERS.author, 'To stay');
      const headers = await signed(PAYERS.author);
      for (const [method, body] of [['DELETE'], ['PATCH', '{"visibility":"public","slug":"taken-over"}']]) {
        const answer = await request(server, { method, path: `/sites/${site.id}`, headers: { ...headers, ...(body && json) }, body });
        assert.ok([401, 403].includes(answer.status), `${method}: ${answer.status} ${answer.text()}`);
      }
      await shows(site, 'To stay');
      assert.equal((await replace(site, headers, 'Changed')).status, 200, 'nor did it use the challenge up');
      await shows(site, 'Changed');
    });
  });
}
