// Fills the tables of webhooks: endpoints that work, fail, are paused, were disabled, belong to a program or are listened to, and
// deliveries in every state.

import assert from 'node:assert/strict';
import http from 'node:http';
import { api } from '../http.mjs';
import { until } from '../server.mjs';

/** Settings under which receivers on this machine get events. */
export const webhookSettings = { DROPLEAF_WEBHOOKS__ALLOW_LOOPBACK: 'true' };

/** A receiver that answers with the status in the path of the request. */
export async function startReceiver() {
  const listener = http.createServer((call, response) => {
    call.resume().once('end', () => response.writeHead(Number(call.url.slice(1))).end());
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    url: (status) => `http://127.0.0.1:${listener.address().port}/${status}`,
    stop: () => new Promise((resolve) => listener.close(resolve) && listener.closeAllConnections()),
  };
}

/** Sends a test event, and waits until the receiver has answered it and its delivery is in this state. */
async function sendTest(call, { id }, state) {
  const sent = await call('POST', `/webhooks/${id}/test`);
  await until(`a delivery that is ${state}`, async () => {
    const { deliveries } = await call('GET', `/webhooks/${id}/deliveries?state=${state}`);
    return deliveries.find((each) => each.id === sent.id && each.status);
  }, { every: 100 });
}

/** Endpoints of an account: one that gets everything and whose secret was rotated, one that fails, one that is gone, one that is paused. */
export async function webhooks(server, receiver, key) {
  const call = api(server, key);
  const create = (status, more) => call('POST', '/webhooks', { url: receiver.url(status), ...more });
  const working = await create(204, { description: 'build bot' });
  await call('POST', `/webhooks/${working.id}/rotate`);
  await sendTest(call, working, 'delivered');
  const failing = await create(500, { events: ['feedback.created', 'feedback.replied'] });
  await sendTest(call, failing, 'waiting');
  const gone = await create(410);
  await sendTest(call, gone, 'dead');
  assert.equal((await call('GET', `/webhooks/${gone.id}`)).state, 'failed');
  const paused = await create(204);
  await call('PATCH', `/webhooks/${paused.id}`, { enabled: false });
}

/** An endpoint that a program created for one page. It has one delivery. */
export async function programWebhook(server, receiver, accessToken, { id }) {
  const call = api(server, accessToken);
  const created = await call('POST', '/webhooks', { url: receiver.url(204), site_id: id, events: ['feedback.created'] });
  await sendTest(call, created, 'delivered');
}

/** An endpoint whose events a program fetches, with one delivery, which it has not acknowledged. */
export async function listenedWebhook(server, key) {
  const call = api(server, key);
  const { id } = await call('POST', '/webhooks', { listen: true, events: ['feedback.created'] });
  await call('POST', `/webhooks/${id}/test`);
  const { events } = await call('POST', `/webhooks/${id}/receive`, { wait_seconds: 20 });
  assert.equal(events.length, 1);
}
