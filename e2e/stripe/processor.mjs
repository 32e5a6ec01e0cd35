// Starts `dropleaf processor` on a free port, and a webhook that receives its events.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import readline from 'node:readline';
import { BINARY } from '../server.mjs';

export const WEBHOOK_SECRET = 'whsec_for_tests';

/** A webhook that keeps the raw body and the signature of every event. */
export async function startWebhook() {
  const received = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ body: Buffer.concat(chunks), signature: request.headers['stripe-signature'] });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/`, received, stop: () => server.close() };
}

/**
 * The processor. `post` sends a form to its own endpoints, those that Stripe does not have. With `data`, the database of a
 * server in sandbox mode, it has the payments of that server.
 */
export async function startProcessor(webhook, { data } = {}) {
  const args = ['processor', '--listen', '127.0.0.1:0'];
  if (webhook) args.push('--webhook-url', webhook.url, '--webhook-secret', WEBHOOK_SECRET);
  if (data) args.push('--data', data);
  const child = spawn(BINARY, args, { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const [line] = await once(readline.createInterface({ input: child.stdout }), 'line');
  const url = line.split(' ').at(-1);
  const send = async (path, body) => {
    const response = await fetch(url + path, { method: 'POST', body });
    return { status: response.status, body: await response.json() };
  };
  return {
    url,
    post: (path, form = {}) => send(path, new URLSearchParams(form)),
    fault: (path, fault, times = 1) => send('/sandbox/faults', JSON.stringify({ path, fault, times })),
    pay: (session, number, more = {}) =>
      send(`/form/${session}`, new URLSearchParams({ number, exp: '12/34', cvc: '123', ...more })),
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
