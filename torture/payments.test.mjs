// kill -9 before and after each step of a payment by card, with a token or a mandate, by MPP and from the balance. Afterwards everything that
// was charged is delivered, once, and the ledger is consistent.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { createDatabase } from '../e2e/postgres.mjs';
import { command, sleep, tempDir } from '../e2e/server.mjs';
import { dice, LONG, seed } from './fixture.mjs';
import { KEY_PRICE, LINK_AMOUNT, LinkPurchase, MandatePurchase, MppPurchase, PAGE_PRICE, PagePurchase, TokenPurchase } from './purchases.mjs';
import { Shop } from './shop.mjs';

/** Rounds that end with a kill at some moment, rather than at a chosen step. */
const ROUNDS = LONG ? 12 : 1;
/** Purchases of each kind at once in such a round. */
const AT_ONCE = 4;

/** An account with a balance, which was paid for by link. */
async function customer(shop) {
  const purchase = new LinkPurchase(shop);
  await purchase.create();
  await purchase.open();
  await purchase.pay();
  await purchase.finish();
  const [key] = shop.delivered.get(purchase);
  return key;
}

/** Everything charged is in the ledger, and the ledger is consistent. */
async function audit(shop) {
  const { body } = await shop.processor.post('/sandbox/redeliver');
  assert.equal(body.accepted, body.events, 'events accepted');
  await command(shop.node, 'ledger', 'audit');
  const succeeded = new Map();
  for (const text of shop.events.seen) {
    const { type, data } = JSON.parse(text);
    if (type === 'payment_intent.succeeded') succeeded.set(data.object.id, data.object.amount_received);
  }
  const taken = [...succeeded.values()].reduce((sum, amount) => sum + amount, 0);
  assert.equal(taken, shop.charged, 'charged by the processor');
  const { payments } = JSON.parse(await command(shop.node, 'payments', 'list', '--limit', '500', '--json'));
  assert.deepEqual(payments.filter(({ state }) => state !== 'fulfilled'), []);
  assert.equal(payments.filter(({ protocol }) => protocol === 'mpp').length, shop.settled, 'paid by MPP');
}

/** Begins something and waits until it is held at the gateway. */
async function stopAt(gateway, line, when, begin) {
  let isHeld = false;
  const stopped = gateway.hold(line, when).then(() => (isHeld = true));
  const ended = begin().then((answer) => isHeld || assert.fail(`${line} went through: ${answer?.status ?? answer?.state}`));
  await Promise.race([stopped, ended]);
}

/** Kills the node while `work` is under way, and finishes the purchases. */
async function killAndFinish(shop, purchases, work = []) {
  await shop.kill();
  await Promise.all(work);
  shop.events.paused = false;
  await Promise.all(purchases.map((purchase) => purchase.finish()));
  await audit(shop);
  await shop.repair();
}

/** Every step at which the server waits for the processor, or the processor for the server. */
async function killAtEachStep(shop) {
  const purchases = [];
  // Events would complete what the polls are to complete.
  shop.events.paused = true;
  for (const when of ['before', 'after']) {
    const [opened, polled] = [new LinkPurchase(shop), new LinkPurchase(shop)];
    const tokens = [new TokenPurchase(shop, `token ${when}`), new MandatePurchase(shop, `mandate ${when}`)];
    for (const purchase of [opened, polled, ...tokens]) await purchase.create();
    await polled.open();
    await polled.pay();
    await stopAt(shop.api, 'POST /v1/checkout/sessions', when, () => opened.open());
    await stopAt(shop.api, `GET /v1/checkout/sessions/${polled.checkout}`, when, () => polled.wait());
    for (const token of tokens) await stopAt(shop.api, 'POST /v1/payment_intents', when, () => token.buy());
    for (const line of ['POST /verify', 'POST /settle']) {
      const settled = new MppPurchase(shop);
      await stopAt(shop.settling, line, when, () => settled.buy());
      purchases.push(settled);
    }
    purchases.push(opened, polled, ...tokens);
  }
  await killAndFinish(shop, purchases);
  for (const when of ['before', 'after']) {
    const reported = new LinkPurchase(shop);
    await reported.create();
    await reported.open();
    const held = shop.events.hold('POST /webhooks/stripe', when);
    await reported.pay();
    await held;
    await killAndFinish(shop, [reported]);
  }
}

/** Some moment while purchases by link, token and mandate and from the balance are under way. */
async function killAtAnyMoment(shop, key, round, roll) {
  const links = Array.from({ length: AT_ONCE }, () => new LinkPurchase(shop));
  const kinds = [TokenPurchase, MandatePurchase];
  const tokens = Array.from({ length: AT_ONCE }, (_, n) => new kinds[n % 2](shop, `token ${round}.${n}`));
  const pages = Array.from({ length: AT_ONCE / 2 }, (_, n) => new PagePurchase(shop, key, `page ${round}.${n}`));
  for (const purchase of [...links, ...tokens]) await purchase.create();
  for (const link of links) await link.open();
  const paying = async (link) => {
    await link.pay();
    await link.poll();
  };
  const work = [...links.map(paying), ...tokens.map((token) => token.buy()), ...pages.map((page) => page.buy())];
  await sleep(roll.between(1, 120));
  await killAndFinish(shop, [...links, ...tokens, ...pages], work);
  return pages.length * PAGE_PRICE;
}

async function torture(context, nodes, env) {
  const shop = await Shop.open(nodes, env);
  try {
    await killAtEachStep(shop);
    const key = await customer(shop);
    let left = LINK_AMOUNT - KEY_PRICE;
    const roll = dice(seed);
    for (let round = 1; round <= ROUNDS; round += 1) {
      if (left < AT_ONCE * PAGE_PRICE) {
        const topup = new LinkPurchase(shop, 'topup', key);
        await topup.create();
        await topup.finish();
        left += LINK_AMOUNT;
      }
      left -= await killAtAnyMoment(shop, key, round, roll);
      const { balance_minor } = (await shop.request({ path: '/me', key })).json();
      assert.equal(balance_minor, left, `round ${round}`);
    }
    context.diagnostic(`seed ${seed}: ${3 + ROUNDS} kills, ${shop.delivered.size} purchases, ${shop.charged} cents charged`);
  } finally {
    await shop.close();
  }
}

test('what was charged is delivered once after every kill on SQLite', (context) => torture(context, 1, {}));

test('what was charged is delivered once by the other of two nodes on PostgreSQL', async (context) => {
  const database = await createDatabase('payments');
  const blobs = await tempDir('payments-blobs');
  const env = { DROPLEAF_DATABASE_URL: database.url, DROPLEAF_BLOBS_URL: `file:${blobs}` };
  try {
    await torture(context, 2, env);
  } finally {
    await rm(blobs, { recursive: true, force: true });
  }
});
