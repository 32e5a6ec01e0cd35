// Scenarios with money, in the payments mode `sandbox`: purchases from a balance, by a signed proof, and by card through a pay link.

import { mppxClient } from '../../e2e/mpp/clients.mjs';
import { CREDIT, digest } from './world.mjs';

const CARD = { number: '4242424242424242', expiry: '12/34', cvc: '123' };
const PAGE_PRICE = 50;
/** In cents, for a key by pay link. */
const LINK_AMOUNT = 600;
/** Purchases of one account: more than it can pay for. */
const PURCHASES = CREDIT / PAGE_PRICE + 2;
/** Payments of each kind: `payments list` shows this many. */
const PAYMENTS = 400;

const html = (text) => `<!doctype html><title>${text}</title><p>${text}`;

/** Several clients buy pages from the balance of one account; each purchase is sent to two nodes. */
export async function balance(world) {
  const buyer = world.buyers.find(({ purchases, busy }) => !busy && purchases < PURCHASES);
  if (!buyer) return;
  buyer.busy = true;
  const buy = (node, by, once) => buyOnce(world, node, by, buyer, once);
  await world.together(3, async (by) => {
    buyer.purchases += 1;
    const once = world.label('buy');
    await Promise.all([buy(world.node(), `${by}a`, once), buy(world.node(), `${by}b`, once)]);
    await buy(world.node(), `${by}a`, once);
    await readBalance(world, world.node(), by, buyer);
  });
  buyer.busy = false;
}

function buyOnce(world, node, by, buyer, once) {
  const call = { op: 'buy', once, amount: PAGE_PRICE };
  const options = { method: 'POST', path: '/publish', key: buyer.key, headers: { 'idempotency-key': once }, json: { html: html(once) } };
  return world.recorder.perform(node, { model: 'balance', key: buyer.name, process: by, call }, options, (answer, code) => {
    if (answer.status === 201) return { left: answer.json().balance_minor, page: answer.json().id };
    // "Another request is changing the account. Nothing was charged."
    if (code === 'conflict') return null;
    return answer.status === 402 ? { short: true, left: answer.json().balance_minor } : undefined;
  });
}

export function readBalance(world, node, by, buyer) {
  return world.recorder.perform(node, { model: 'balance', key: buyer.name, process: by, call: { op: 'read' } }, { path: '/me', key: buyer.key }, (answer) =>
    answer.status === 200 ? { left: answer.json().balance_minor } : undefined,
  );
}

/** A wallet signs one payment and sends it to all nodes at once. */
export async function payment(world) {
  if (world.proofs >= PAYMENTS) return;
  const key = world.label('payment');
  const json = { html: html(key) };
  const proof = await world.persist((node) => sign(world, node, json));
  if (!proof) return;
  world.proofs += 1;
  const options = { method: 'POST', path: '/publish', headers: { authorization: proof }, json };
  const pay = (node, by) =>
    world.recorder.perform(node, { model: 'idempotency', key, process: by, call: { op: 'post', body: 'proof' } }, options, (answer) =>
      answer.status === 201 ? { answer: { id: answer.json().id, digest: digest(JSON.stringify([answer.json().url, answer.json().transaction])) } } : undefined,
    );
  await world.together(3, async (by, at) => {
    await pay(world.nodes[at % world.nodes.length], by);
    await pay(world.node(), by);
  });
  world.payments.push(key);
}

/** The credential that the official client would send; nothing is paid yet. */
async function sign(world, node, json) {
  const body = JSON.stringify(json);
  const headers = { 'content-type': 'application/json' };
  let credential;
  const send = async (input, options) => {
    credential = new Headers(options.headers).get('authorization');
    if (credential) return new Response('{}', { status: 200 });
    const answer = await world.client.request(node, { method: 'POST', path: '/publish', headers, body });
    return new Response(answer.bytes, { status: answer.status, headers: Object.entries(answer.headers).map(([name, value]) => [name, String(value)]) });
  };
  try {
    await mppxClient(send).fetch(`${world.baseUrl}/publish`, { method: 'POST', headers, body });
  } catch (error) {
    if (!error.begun && error.code === undefined && !/no answer|cut off/.test(error.message)) throw error;
  }
  return credential;
}

/** A person pays a link by card while the program polls for its key on all nodes. */
export async function payLink(world) {
  if (world.links >= PAYMENTS) return;
  world.links += 1;
  const key = world.label('link');
  const session = await world.persist(async (node) => {
    const options = { method: 'POST', path: '/pay/sessions', headers: { 'idempotency-key': key }, json: { feature: 'provision', amount_minor: LINK_AMOUNT } };
    const answer = await world.client.request(node, options).catch(() => null);
    return answer?.status === 201 ? answer.json() : null;
  });
  if (!session) return;
  const headers = { origin: world.baseUrl };
  const form = await world.persist(async (node) => {
    const answer = await world.client.request(node, { method: 'POST', path: new URL(session.url).pathname, headers }).catch(() => null);
    return answer?.status === 303 && answer.headers.location.includes('/sandbox/') ? new URL(answer.headers.location).pathname : null;
  });
  if (!form) return;
  const poll = (node, by) =>
    world.recorder.perform(node, { model: 'delivery', key, process: by, call: { op: 'poll', lags: true } }, { path: `/pay/sessions/${session.code}/poll` }, (answer) => {
      if (answer.status !== 200) return undefined;
      const { status, api_key: secret, key_delivered: isDelivered } = answer.json();
      if (secret) return { secret: true };
      if (isDelivered) return { used: true };
      return ['pending', 'processing'].includes(status) ? { pending: true } : undefined;
    });
  const pay = (node) =>
    world.recorder.perform(node, { model: 'delivery', key, process: 'person', call: { op: 'allow' } }, { method: 'POST', path: form, headers, form: CARD }, ({ status }) =>
      status === 303 ? {} : undefined,
    );
  await world.together(4, async (by, at) => {
    if (at === 0) return void (await pay(world.node()));
    await world.pause(0, 150);
    await poll(world.node(), by);
    await poll(world.node(), by);
  });
  await world.together(3, (by, at) => poll(world.nodes[at % world.nodes.length], by));
  world.linkKeys.push(key);
}
