// Fills the tables of card payments: links that are paid, open and declined in the sandbox, and through a card processor real credit, a
// card token, refunds, a dispute, and an event that came too early.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request } from '../http.mjs';
import { until } from '../server.mjs';
import { WEBHOOK_SECRET } from '../stripe/processor.mjs';

const PAYS = '4242424242424242';
const IS_DECLINED = '4000000000000002';
const json = { 'content-type': 'application/json' };

/** A pay session with its form open: {session, form}. */
async function openForm(server, body, key) {
  const made = await request(server, { method: 'POST', path: '/pay/sessions', headers: json, body: JSON.stringify(body), key });
  assert.equal(made.status, 201, made.text());
  const session = made.json();
  const headers = { origin: server.url };
  const opened = await request(server, { method: 'POST', path: new URL(session.url).pathname, headers });
  assert.equal(opened.status, 303, opened.text());
  return { session, form: opened.headers.location };
}

async function completed(server, { code }) {
  const poll = async () => (await request(server, { path: `/pay/sessions/${code}/poll` })).json();
  return until('a paid link', async () => {
    const polled = await poll();
    return polled.status === 'completed' && polled;
  }, { every: 200 });
}

/** Types a card into the form of the sandbox. */
async function typeCard(server, form, number) {
  const body = new URLSearchParams({ number, expiry: '12/34', cvc: '123' }).toString();
  const headers = { origin: server.url, 'content-type': 'application/x-www-form-urlencoded' };
  return request(server, { method: 'POST', path: new URL(form).pathname, headers, body });
}

/** An account with sandbox credit, a link that waits, and one whose card was declined. */
export async function sandboxCards(server) {
  const paid = await openForm(server, { feature: 'provision', amount_minor: 600 });
  const answer = await typeCard(server, paid.form, PAYS);
  assert.equal(answer.status, 303, answer.text());
  await completed(server, paid.session);
  await openForm(server, { feature: 'provision' });
  const declined = await openForm(server, { feature: 'provision' });
  assert.equal((await typeCard(server, declined.form, IS_DECLINED)).status, 422);
}

/** Settings under which cards are charged by this processor. */
export const cardSettings = (processor) => ({
  DROPLEAF_STRIPE__SECRET_KEY: 'sk_test_x',
  DROPLEAF_STRIPE__API_URL: processor.url,
  DROPLEAF_STRIPE__WEBHOOK_SECRET: WEBHOOK_SECRET,
});

/** Real credit for an account, of which a part is refunded and disputed, and an event about a payment that nobody knows. */
export async function liveCards(server, processor, key) {
  const { session, form } = await openForm(server, { feature: 'topup', amount_minor: 2000 }, key);
  const checkout = form.split('/').at(-1);
  assert.equal((await processor.pay(checkout, PAYS)).status, 200);
  await completed(server, session);
  for (const [step, fields] of [['refund', { amount: '300' }], ['dispute', {}]]) {
    const done = await processor.post(`/sandbox/${checkout}/${step}`, fields);
    assert.equal(done.status, 200, JSON.stringify(done.body));
  }
  const { body } = await processor.post('/sandbox/redeliver');
  assert.equal(body.accepted, body.events, 'events accepted');
  await sendEvent(server, 'charge.refunded', {
    id: 'ch_unknown', object: 'charge', payment_intent: 'pi_unknown', amount: 100, amount_refunded: 100, currency: 'usd', refunded: true,
  });
}

async function sendEvent(server, type, object) {
  const at = Math.floor(Date.now() / 1000);
  const event = { id: `evt_${at}`, object: 'event', type, created: at, livemode: false, data: { object } };
  const body = JSON.stringify(event);
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(`${at}.${body}`).digest('hex');
  const headers = { ...json, 'stripe-signature': `t=${at},v1=${signature}` };
  const answer = await request(server, { method: 'POST', path: '/webhooks/stripe', headers, body });
  assert.equal(answer.status, 204, answer.text());
}
