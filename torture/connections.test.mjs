// One client takes as many connections as it can get and keeps them busy: clients of other networks are still served, at once.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { publish } from '../e2e/http.mjs';
import { operatorKey, sleep, startServer, until } from '../e2e/server.mjs';
import { zip } from '../e2e/zip.mjs';
import { LONG } from './fixture.mjs';
import { connect } from './http2.mjs';
import { assertServed, measure, say } from './others.mjs';

/** `limits.connections` of the attacked server. */
const PLACES = 300;
/** What one network may hold at most: enough is left for others. */
const MOST_HELD = PLACES * 0.9;
const ATTEMPTS = 400;
/** How long a client may take nothing, in seconds. */
const IDLE_SECONDS = 5;
const REQUESTS = LONG ? 2_000 : 200;

let server, calm, pages, file;
const attackers = [];

before(async () => {
  const env = { DROPLEAF_LIMITS__CONNECTIONS: `${PLACES}`, DROPLEAF_LIMITS__IDLE_SECONDS: `${IDLE_SECONDS}` };
  [server, calm] = await Promise.all([startServer({ env }), startServer({ env })]);
  pages = [];
  for (const at of [server, calm]) {
    const bytes = zip([{ name: 'index.html', bytes: '<title>t</title><p>here</p>' }, { name: 'file.bin', bytes: randomBytes(64 * 1024) }]);
    const { path } = await publish(at, { name: 'site.zip', bytes, key: await operatorKey(at) });
    pages.push({ server: at, path });
  }
  file = `${pages[0].path}file.bin`;
});
after(async () => {
  clearInterval(again);
  for (const attacker of attackers) attacker.destroy();
  await Promise.all([server?.stop(), calm?.stop()]);
});

/** One more connection with one answer that is never read, and PINGs that would keep it alive. */
function take() {
  const attacker = connect(server.port, { window: 0, pingEvery: 1_000 });
  attacker.get(`localhost:${server.port}`, file);
  attackers.push(attacker);
}

let again;

const held = () => attackers.filter((attacker) => attacker.blocked() > 0);

test(`one network cannot hold all of ${PLACES} connections: others are served as fast as before`, async (context) => {
  for (let i = 0; i < ATTEMPTS; i += 1) take();
  // What is ended is replaced at once, as an attacker would.
  again = setInterval(() => {
    for (let i = attackers.filter((attacker) => attacker.isOpen).length; i < ATTEMPTS; i += 1) take();
    for (let i = attackers.length - 1; i >= 0; i -= 1) if (!attackers[i].isOpen) attackers.splice(i, 1);
  }, 250);
  // As many as the server lets it have: the number hardly changes any more.
  let before = 0;
  await until('the connections to be taken', async () => {
    const now = held().length;
    const isSteady = before > 0 && Math.abs(now - before) <= PLACES / 50;
    before = now;
    return isSteady;
  }, { every: 500 });
  const most = held().length;
  const [others, alone] = await measure(pages, REQUESTS);
  context.diagnostic(`${most} of ${PLACES} connections held by one network, ${held().length} at the end`);
  context.diagnostic(`others meanwhile: ${say(others)}; at a server that is not attacked: ${say(alone)}`);
  assert.ok(!server.gone, server.log);
  assertServed(others, alone);
  assert.ok(most <= MOST_HELD, `${most} of ${PLACES} connections held by one network`);
});

test('connections whose client takes nothing are ended, though it sends PINGs', async (context) => {
  clearInterval(again);
  for (const attacker of attackers.splice(0)) attacker.destroy();
  // Those that are refused, while the server has not yet noticed that the others are gone, are tried again.
  const some = await until('connections with an answer that has begun', async () => {
    while (attackers.filter((attacker) => attacker.isOpen).length < 20) take();
    return held().length >= 20 && held();
  }, { every: 100 });
  // Half a minute for a busy machine.
  const patience = IDLE_SECONDS * 3_000 + 30_000;
  await Promise.race([Promise.all(some.map((attacker) => attacker.closed)), sleep(patience)]);
  const left = some.filter((attacker) => attacker.blocked() > 0);
  const oldest = Math.max(...some.map((attacker) => attacker.endedAfter ?? Date.now() - attacker.startedAt));
  context.diagnostic(`${left.length} of ${some.length} connections still held, the oldest for ${Math.round(oldest / 1000)} s`);
  assert.equal(left.length, 0);
});
