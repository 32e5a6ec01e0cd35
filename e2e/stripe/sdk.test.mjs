// The official Stripe library, unmodified, uses `dropleaf processor` as if it were Stripe, and verifies the events it sends.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Stripe from 'stripe';
import { startProcessor, startWebhook, WEBHOOK_SECRET } from './processor.mjs';

const PAYS = '4242424242424242';
const IS_DECLINED = '4000000000000002';
const AUTHENTICATES = '4000002500003155';
const PAYS_LATER = '4000000000008880';

describe('the official library', () => {
  let webhook, processor, stripe;
  before(async () => {
    webhook = await startWebhook();
    processor = await startProcessor(webhook);
    const { hostname, port } = new URL(processor.url);
    stripe = new Stripe('sk_test_x', { host: hostname, port, protocol: 'http', telemetry: false });
  });
  after(async () => {
    await processor?.stop();
    webhook?.stop();
  });

  const checkout = (more = {}) => ({
    mode: 'payment',
    line_items: [{ quantity: 1, price_data: { currency: 'usd', unit_amount: 600, product_data: { name: 'API key' } } }],
    client_reference_id: 'pay_1',
    metadata: { feature: 'provision' },
    success_url: 'https://api.pages.test/pay/x?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://api.pages.test/pay/x',
    payment_method_types: ['card'],
    ...more,
  });

  /** A token as an agent grants it. The library has no method for it, because the API is a preview. */
  const grantToken = (payment_method, max_amount = 100) =>
    stripe.rawRequest('POST', '/v1/test_helpers/shared_payment/granted_tokens', {
      payment_method,
      usage_limits: { currency: 'usd', max_amount },
    });

  const charge = (token, options) =>
    stripe.paymentIntents.create(
      {
        amount: 100,
        currency: 'usd',
        confirm: true,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        payment_method_data: { shared_payment_granted_token: token },
        metadata: { request_id: 'r1' },
      },
      options,
    );

  /** The events about an object that were sent so far. Redelivery waits until all earlier events are sent. */
  async function eventsAbout(id) {
    const { body } = await processor.post('/sandbox/redeliver');
    assert.equal(body.accepted, body.events);
    const events = webhook.received.map(({ body, signature }) => stripe.webhooks.constructEvent(body, signature, WEBHOOK_SECRET));
    const first = [...new Map(events.map((event) => [event.id, event])).values()];
    return first.filter(({ data: { object } }) => [object.id, object.payment_intent].includes(id)).map(({ type }) => type);
  }

  test('opens, retrieves and expires a checkout', async () => {
    const session = await stripe.checkout.sessions.create(checkout());
    assert.match(session.lastResponse.requestId, /^req_/);
    assert.equal(session.url, `${processor.url}/form/${session.id}`);
    const retrieved = await stripe.checkout.sessions.retrieve(session.id);
    assert.equal(retrieved.status, 'open');
    assert.deepEqual([retrieved.amount_total, retrieved.currency, retrieved.metadata.feature], [600, 'usd', 'provision']);
    const expired = await stripe.checkout.sessions.expire(session.id);
    assert.deepEqual([expired.status, expired.url], ['expired', null]);
    await assert.rejects(stripe.checkout.sessions.expire(session.id), Stripe.errors.StripeInvalidRequestError);
    assert.equal((await processor.pay(session.id, PAYS)).status, 410);
    assert.deepEqual(await eventsAbout(session.id), ['checkout.session.expired']);
  });

  test('sees a declined and then a successful payment, and refunds it', async () => {
    const session = await stripe.checkout.sessions.create(checkout());
    assert.equal((await processor.pay(session.id, IS_DECLINED)).body.outcome, 'declined');
    assert.equal((await stripe.checkout.sessions.retrieve(session.id)).payment_status, 'unpaid');
    assert.equal((await processor.pay(session.id, AUTHENTICATES)).body.outcome, 'authentication_required');
    const paid = await processor.pay(session.id, AUTHENTICATES, { authentication: 'approved' });
    assert.equal(paid.body.return_url, `https://api.pages.test/pay/x?session=${session.id}`);
    const complete = await stripe.checkout.sessions.retrieve(session.id);
    assert.deepEqual([complete.status, complete.payment_status], ['complete', 'paid']);
    const intent = await stripe.paymentIntents.retrieve(complete.payment_intent);
    assert.deepEqual([intent.status, intent.amount_received], ['succeeded', 600]);
    const refund = await stripe.refunds.create({ payment_intent: intent.id, amount: 200 });
    assert.deepEqual([refund.status, refund.amount], ['succeeded', 200]);
    await assert.rejects(stripe.refunds.create({ payment_intent: intent.id, amount: 500 }), { code: 'amount_too_large' });
    assert.deepEqual(await eventsAbout(session.id), ['checkout.session.completed']);
    const events = await eventsAbout(intent.id);
    for (const type of ['payment_intent.payment_failed', 'payment_intent.succeeded', 'charge.refunded']) assert.ok(events.includes(type), type);
  });

  test('sees money that arrives later, and a dispute', async () => {
    const session = await stripe.checkout.sessions.create(checkout());
    assert.equal((await processor.pay(session.id, PAYS_LATER)).body.outcome, 'processing');
    const waiting = await stripe.checkout.sessions.retrieve(session.id);
    assert.deepEqual([waiting.status, waiting.payment_status], ['complete', 'unpaid']);
    assert.equal((await processor.post(`/sandbox/${session.id}/receive_funds`)).status, 200);
    assert.equal((await stripe.checkout.sessions.retrieve(session.id)).payment_status, 'paid');
    assert.equal((await processor.post(`/sandbox/${session.id}/dispute`)).body.status, 'needs_response');
    assert.equal((await processor.post(`/sandbox/${session.id}/close_dispute`, { won: true })).body.status, 'won');
    assert.deepEqual(await eventsAbout(session.id), ['checkout.session.completed', 'checkout.session.async_payment_succeeded']);
    const events = await eventsAbout(waiting.payment_intent);
    for (const type of ['charge.dispute.funds_withdrawn', 'charge.dispute.funds_reinstated']) assert.ok(events.includes(type), type);
  });

  test('charges a granted token once, whatever happens to the answer', async () => {
    const token = await grantToken('pm_card_visa');
    const idempotencyKey = 'provision_1';
    // The library repeats a request that failed, with the same key.
    await processor.fault('/v1/payment_intents', 'error_after');
    const intent = await charge(token.id, { idempotencyKey });
    assert.deepEqual([intent.status, intent.amount_received], ['succeeded', 100]);
    assert.equal(intent.lastResponse.headers['idempotent-replayed'], 'true');
    await processor.fault('/v1/payment_intents', 'close_after');
    assert.equal((await charge(token.id, { idempotencyKey })).id, intent.id);
    const used = await stripe.rawRequest('GET', `/v1/shared_payment/granted_tokens/${token.id}`);
    assert.deepEqual([used.deactivated_reason, used.usage_details.amount_captured.value], ['consumed', 100]);
    await assert.rejects(charge(token.id), Stripe.errors.StripeInvalidRequestError);
    await assert.rejects(
      stripe.paymentIntents.create({ amount: 200, currency: 'usd', confirm: true, shared_payment_granted_token: token.id }, { idempotencyKey }),
      Stripe.errors.StripeIdempotencyError,
    );
    const events = await eventsAbout(intent.id);
    assert.equal(events.filter((type) => type === 'payment_intent.succeeded').length, 1);
  });

  test('gets the errors of cards, tokens and keys as its own types', async () => {
    const { id } = await grantToken('pm_card_chargeDeclinedInsufficientFunds');
    await assert.rejects(charge(id), (error) => {
      assert.ok(error instanceof Stripe.errors.StripeCardError);
      assert.deepEqual([error.code, error.decline_code], ['card_declined', 'insufficient_funds']);
      assert.equal(error.payment_intent.status, 'requires_payment_method');
      return true;
    });
    await assert.rejects(charge('spt_unknown'), { code: 'resource_missing' });
    const { hostname, port } = new URL(processor.url);
    const stranger = new Stripe('sk_live_x', { host: hostname, port, protocol: 'http', telemetry: false });
    await assert.rejects(stranger.checkout.sessions.create(checkout()), Stripe.errors.StripeAuthenticationError);
    await assert.rejects(stripe.checkout.sessions.retrieve('cs_unknown'), { statusCode: 404 });
  });

  test('refuses an event that was changed or signed by another', async () => {
    await stripe.checkout.sessions.expire((await stripe.checkout.sessions.create(checkout())).id);
    await processor.post('/sandbox/redeliver');
    const { body, signature } = webhook.received.at(-1);
    assert.equal(stripe.webhooks.constructEvent(body, signature, WEBHOOK_SECRET).object, 'event');
    const refused = Stripe.errors.StripeSignatureVerificationError;
    const changed = body.toString().replace('"livemode":false', '"livemode":true');
    assert.throws(() => stripe.webhooks.constructEvent(changed, signature, WEBHOOK_SECRET), refused);
    assert.throws(() => stripe.webhooks.constructEvent(body, signature, 'whsec_other'), refused);
  });
});
