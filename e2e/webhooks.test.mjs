// Webhooks of the real binary, verified with the independent library of Standard Webhooks, also after the server was killed.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { rm } from 'node:fs/promises';
import { Webhook } from 'standardwebhooks';
import { api, publish } from './http.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer, tempDir, until } from './server.mjs';

let server, key, call, dataDir, receiver;
const received = [];
let answers = true;

/** Records each message; answers 204 unless it is told to keep the sender waiting. */
async function startReceiver() {
  const listening = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ headers: request.headers, body });
    if (answers) response.writeHead(204).end();
  });
  await new Promise((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return listening;
}

const start = (port) => startServer({ dataDir, port, env: { DROPLEAF_WEBHOOKS__ALLOW_LOOPBACK: 'true', DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });

before(async () => {
  dataDir = await tempDir('webhooks');
  receiver = await startReceiver();
  server = await start();
  key = await operatorKey(server);
  call = api(server, key);
});
after(async () => {
  await server?.stop();
  receiver?.closeAllConnections();
  receiver?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const url = () => `http://127.0.0.1:${receiver.address().port}/hook`;
const arrived = (count) => until(`${count} messages`, () => received.length >= count);

async function comment(site) {
  const response = await fetch(`${server.siteUrl}${site.path}_dropleaf/feedback`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ comment: 'A private remark' }),
  });
  assert.equal(response.status, 201, await response.text());
}

test('the library of Standard Webhooks verifies messages, before, during and after a rotation', async () => {
  const hook = await call('POST', '/webhooks', { url: url() });
  await call('POST', `/webhooks/${hook.id}/test`);
  await arrived(1);
  const [first] = received;
  assert.equal(new Webhook(hook.secret).verify(first.body, first.headers).type, 'webhook.test');
  assert.throws(() => new Webhook(hook.secret).verify(`${first.body} `, first.headers));
  const rotated = await call('POST', `/webhooks/${hook.id}/rotate`);
  assert.throws(() => new Webhook(rotated.secret).verify(first.body, first.headers));
  await call('POST', `/webhooks/${hook.id}/test`);
  await arrived(2);
  for (const { secret } of [hook, rotated]) {
    assert.equal(new Webhook(secret).verify(received[1].body, received[1].headers).data.webhook_id, hook.id);
  }
  await call('DELETE', `/webhooks/${hook.id}`);
});

test('a message whose delivery was not recorded because the server was killed is sent again', async () => {
  const before = received.length;
  const hook = await call('POST', '/webhooks', { url: url(), events: ['feedback.created'] });
  const site = await publish(server, { name: 'page.html', bytes: samples.html('Commented'), fields: { agentation: 'true' }, key });
  answers = false;
  await comment(site);
  await arrived(before + 1);
  await server.kill();
  answers = true;
  server = await start(server.port);
  // The node that took it is taken to be dead after 90 seconds.
  await arrived(before + 2);
  const [first, second] = received.slice(before);
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id']);
  assert.equal(second.body, first.body);
  assert.ok(!second.body.includes('private remark'));
  new Webhook(hook.secret).verify(second.body, second.headers);
  const { deliveries } = await until('the record', async () => {
    const list = await call('GET', `/webhooks/${hook.id}/deliveries`);
    return list.deliveries[0].state === 'delivered' && list;
  });
  assert.equal(deliveries.length, 1);
  assert.equal(deliveries[0].attempts, 2);
});
