// One network sends right and wrong passwords to many pages at once, and its account keeps changing them, so that every
// thread that hashes passwords is busy: the right passwords of other networks are still answered within two seconds.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { publish } from '../e2e/http.mjs';
import { command, HANGS, operatorKey, sleep, startServer } from '../e2e/server.mjs';
import { LONG } from './fixture.mjs';
import { assertServed, measure, say, single } from './others.mjs';

const PAGES = 20;
const CONNECTIONS = 200;
/** Clients that change passwords. */
const SETTERS = 5;
const PASSWORD = 'correct horse';
const TRIES = LONG ? 100 : 20;
const LONGEST = 2_000;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const form = (password) => new URLSearchParams({ password }).toString();

let server, calm, attacker, targets, own, openPages;

before(async () => {
  [server, calm] = await Promise.all([startServer(), startServer()]);
  attacker = (await command(server, 'account', 'create', 'attacker@example.org', '--plan', 'solo')).match(/stk_live_\w+/)[0];
  const gated = (key, title, at = server) => publish(at, { name: 'page.html', bytes: `<title>${title}</title><p>here</p>`, fields: { password: PASSWORD }, key });
  targets = [];
  for (let i = 0; i < PAGES; i += 1) targets.push(await gated(attacker, `Page ${i}`));
  own = [server, calm];
  for (const [i, at] of own.entries()) own[i] = { server: at, page: await gated(await operatorKey(at), 'Another page', at) };
  openPages = await Promise.all([server, calm].map(async (at) => ({ server: at, path: (await publish(at, { name: 'page.html', bytes: '<p>here</p>', key: await operatorKey(at) })).path })));
});
after(async () => {
  await Promise.all([server?.stop(), calm?.stop()]);
});

const gateOf = (page) => `${page.path}_dropleaf/gate`;

/** Sends passwords over many connections until it is told to stop; gives the count of each status. */
function attack() {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS + SETTERS, localAddress: '127.0.0.1' });
  const statuses = {};
  let isOver = false;
  const once = (method, path, headers, body) =>
    new Promise((resolve) => {
      const all = { host: `localhost:${server.port}`, ...headers, 'content-length': body.length };
      const call = http.request({ host: '127.0.0.1', port: server.port, method, path, headers: all, agent });
      call.once('error', () => resolve('none'));
      call.once('response', (response) => response.resume().once('close', () => resolve(response.statusCode)));
      call.end(body);
    });
  const repeat = async (number, act) => {
    for (let i = number; !isOver; i += 1) {
      const status = await act(targets[i % targets.length], i);
      statuses[status] = (statuses[status] ?? 0) + 1;
      // Refused, it tries again ten times a second: with all connections, thousands of attempts a second.
      if (status >= 400 || status === 'none') await sleep(100);
    }
  };
  // Of four clients three send the right password.
  const guess = (page, i) => once('POST', gateOf(page), FORM, form(i % 4 ? PASSWORD : `guess ${i}`));
  // A changed password is hashed, and what was remembered of the old one no longer counts.
  const set = (page) => once('PATCH', `/sites/${page.id}`, { 'content-type': 'application/json', authorization: `Bearer ${attacker}` }, JSON.stringify({ password: PASSWORD }));
  const clients = [
    ...Array.from({ length: CONNECTIONS }, (_, number) => repeat(number, guess)),
    ...Array.from({ length: SETTERS }, (_, number) => repeat(number, set)),
  ];
  const stop = async () => {
    isOver = true;
    agent.destroy();
    await Promise.all(clients);
  };
  return { statuses, stop };
}

test(`under attack right passwords from other networks open their page in time, ${TRIES} of ${TRIES} times`, async (context) => {
  const flood = attack();
  const taken = [];
  const bad = [];
  try {
    // The attack is under way once it has been answered or refused more often than there are places.
    while (Object.values(flood.statuses).reduce((sum, count) => sum + count, 0) < CONNECTIONS) await sleep(20);
    for (let i = 0; i < TRIES; i += 1) {
      // Each from a network of its own, for which nothing is known yet: every one of them costs a hash.
      const from = `127.0.1.${1 + i}`;
      const enter = ({ server: at, page }) => single(at, { method: 'POST', path: gateOf(page), headers: FORM, body: form(PASSWORD), from, timeout: HANGS });
      const { status, ms } = await enter(own[0]);
      taken.push(ms);
      // What the machine is busy with besides delays a server that is not attacked as well.
      const alone = await enter(own[1]);
      assert.equal(alone.status, 303);
      if (status !== 303 || ms > LONGEST + 3 * alone.ms) bad.push(`${status} after ${Math.round(ms)} ms, ${Math.round(alone.ms)} ms without an attack`);
    }
    const [others, alone] = await measure(openPages, 100);
    context.diagnostic(`others' pages meanwhile: ${say(others)}; at a server that is not attacked: ${say(alone)}`);
    assertServed(others, alone);
  } finally {
    await flood.stop();
  }
  const sorted = [...taken].sort((a, b) => a - b);
  context.diagnostic(`the attack was answered ${JSON.stringify(flood.statuses)} (status: count)`);
  context.diagnostic(`right passwords of other networks: ${TRIES - bad.length} of ${TRIES} in time; median ${Math.round(sorted[Math.floor(TRIES / 2)])} ms, longest ${Math.round(sorted.at(-1))} ms`);
  assert.deepEqual(bad, []);
});
