// Two nodes on one PostgreSQL database. The CA is always led to the node that did not order, so that a certificate is issued
// only if challenges are shared; and both nodes present it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { html } from '../samples.mjs';
import { freePort, operatorKey, startServer, tempDir, until } from '../server.mjs';
import { startClock } from './clock.mjs';
import { startDns } from './dns.mjs';
import { startForwarder } from './forwarder.mjs';
import { handshake } from './handshake.mjs';
import { startPebble } from './pebble.mjs';
import { acmeSettings, clients } from './world.mjs';

const SECRET = 'c0ffee'.padEnd(64, '0');
const POSTGRES = { skip: !process.env.DROPLEAF_TEST_POSTGRES && 'no PostgreSQL: run it under scripts/with-services' };

const parts = [];
const keep = (part) => parts.push(part) && part;
let world, nodes, pebble, site, clock;

/** The node that wrote to the CA last, and for each validation which node it was led to. */
let ordering = 0;
/** The node that is left after the other was killed. */
let alone;
const validated = [];

before(async () => {
  if (POSTGRES.skip) return;
  const admin = process.env.DROPLEAF_TEST_POSTGRES;
  const name = `domains_${process.pid}`;
  await promisify(execFile)('psql', ['-q', admin, '-c', `create database ${name} template template0 lc_collate 'C' lc_ctype 'C'`]);
  const blobs = await tempDir('domains-blobs');
  keep({ stop: () => rm(blobs, { recursive: true, force: true }) });
  clock = keep(await startClock());
  const dns = keep(await startDns());
  const tlsPorts = [await freePort(), await freePort()];
  const other = () => {
    const node = alone ?? 1 - ordering;
    validated.push({ ordering, node });
    return tlsPorts[node];
  };
  const challenges = keep(await startForwarder(other));
  pebble = keep(await startPebble({ dns, tlsPort: challenges.port, httpPort: await freePort() }));
  nodes = [];
  for (const [at, tlsPort] of tlsPorts.entries()) {
    // Each node has its own way to the CA, which tells who orders. The CA names its addresses after the one it was called at.
    const way = keep(await startForwarder(() => pebble.port, () => (ordering = at)));
    const env = {
      ...acmeSettings({ dns, tlsPort, caFile: pebble.caFile, directoryUrl: `https://127.0.0.1:${way.port}/dir` }),
      DROPLEAF_DATABASE_URL: admin.replace(/\/postgres(?=$|\?)/, `/${name}`),
      DROPLEAF_BLOBS_URL: `file:${blobs}`,
      DROPLEAF_SECRET_KEY: SECRET,
      ...clock.env,
    };
    nodes.push(Object.assign(keep(await startServer({ env })), { tlsPort }));
  }
  const key = await operatorKey(nodes[0]);
  world = clients({ server: nodes[0], key, dns, pebble, tlsPort: tlsPorts[0] });
  world.other = clients({ server: nodes[1], key, dns, pebble, tlsPort: tlsPorts[1] });
  site = await world.publish(html('On two nodes'));
});
after(async () => {
  for (const part of parts.reverse()) await part.stop();
});

test('the challenge lands on the node that did not order, and both nodes present the certificate', POSTGRES, async () => {
  const host = 'reports.customer.test';
  await world.connect(host, site);
  assert.ok(validated.length > 0);
  for (const { ordering, node } of validated) assert.notEqual(ordering, node);
  const certificates = [];
  for (const each of [world, world.other]) {
    certificates.push(await each.presents(host));
    const answer = await each.curl(`https://${host}/`);
    assert.deepEqual([answer.exit, answer.status], [0, 200]);
    assert.match(answer.text, /On two nodes/);
  }
  assert.equal(certificates[0], certificates[1]);
});

test('ten domains added on both nodes are ordered once each', POSTGRES, async () => {
  const before = pebble.orders();
  const names = Array.from({ length: 10 }, (_, at) => `page-${at}.customer.test`);
  await Promise.all(names.map((name, at) => (at % 2 ? world : world.other).connect(name, site)));
  assert.equal(pebble.orders(), before + names.length);
  for (const name of names) {
    const seen = await Promise.all(nodes.map(({ tlsPort }) => until(name, async () => (await handshake(tlsPort, name)).certificate)));
    assert.equal(seen[0], seen[1], name);
  }
});

test('the other node goes on ordering when the one that orders is killed', POSTGRES, async () => {
  const killed = ordering;
  alone = 1 - killed;
  await nodes[killed].kill();
  // Longer than the other node waits for a sign of life.
  await clock.advance('+10m');
  await [world, world.other][alone].connect('survivor.customer.test', site);
});
