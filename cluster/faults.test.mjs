// The faults do what their names say, and nothing is left behind. Tests of the nodes under faults would pass without this if a
// fault had no effect.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { request } from '../e2e/http.mjs';
import { ROOT, until } from '../e2e/server.mjs';
import { startCluster } from './cluster.mjs';

let cluster;
let node;
let leader;
before(async () => {
  cluster = await startCluster({ nodes: 1, databases: 1 });
  node = cluster.nodes[0];
  leader = await cluster.database.leader();
});
afterEach((context) => cluster?.keepLogs(context));
after(() => cluster?.stop());

const LOST = 124;

/** Connects from one part to a port of another: 0 connected, 1 refused, `LOST` no answer in a second. */
const connect = async (from, to, port) => (await from.run('timeout', '1', 'bash', '-c', `: </dev/tcp/${to.address}/${port}`)).code;

async function under(name, check) {
  const fault = cluster.fault(name);
  await fault.inject();
  try {
    await check(fault);
  } finally {
    await fault.heal();
  }
}

/** The time of one statement over a new connection from the node, or undefined when it took more than three seconds. */
async function statement() {
  const start = performance.now();
  const psql = await node.run('timeout', '3', 'psql', '-X', '-d', `host=${leader.address} user=postgres dbname=dropleaf`, '-c', 'SELECT 1');
  return psql.code === 0 ? performance.now() - start : undefined;
}

test('a partition loses packets in both directions, and heals', async () => {
  assert.equal(await connect(node, leader, 5432), 0);
  await under('partition-node1-database', async () => {
    assert.equal(await connect(node, leader, 5432), LOST);
    assert.equal(await connect(leader, node, 8080), LOST);
    assert.equal(await connect(node, cluster.s3, cluster.s3.port), 0, 'S3 is on the same side');
  });
  assert.equal(await connect(node, leader, 5432), 0);
  await under('partition-node1-s3', async () => {
    assert.equal(await connect(node, cluster.s3, cluster.s3.port), LOST);
    assert.equal(await connect(node, leader, 5432), 0);
  });
});

test('a partition in one direction loses packets in that direction only', async () => {
  await under('mute-node1-database', async () => {
    assert.equal(await connect(node, leader, 5432), LOST);
    assert.ok((await cluster.firewall.dropped(leader)) > 0);
    assert.equal(await cluster.firewall.dropped(node), 0);
  });
  await under('deafen-node1-database', async () => {
    assert.equal(await connect(node, leader, 5432), LOST);
    assert.ok((await cluster.firewall.dropped(node)) > 0);
    assert.equal(await cluster.firewall.dropped(leader), 0);
  });
});

test('stranded connections are lost while new ones work', async () => {
  await until('a ready node', () => node.isReady());
  const fault = cluster.fault('strand-node1');
  await fault.inject();
  assert.equal(await connect(node, leader, 5432), 0);
  const asked = request(node, { path: '/readyz', timeout: 10_000 }).catch(() => undefined);
  await until('a packet of an old connection', async () => (await cluster.firewall.dropped(leader)) > 0, { timeout: 20_000 });
  await fault.heal();
  await asked;
});

test('a slow link is slow, and a stalled one says nothing', async () => {
  const usual = await statement();
  assert.ok(usual !== undefined);
  await under('slow-node1-database', async () => {
    const slow = await statement();
    // Connecting, signing in and asking take three turns at least, each 200 ms later in each direction.
    assert.ok(slow - usual > 1_000, `${slow} ms, otherwise ${usual} ms`);
  });
  await under('stall-node1-database', async () => assert.equal(await statement(), undefined));
  assert.ok((await statement()) !== undefined);
});

test('cut connections are reset, again and again', async () => {
  await under('cut-node1-database', async () => {
    const where = `host=${leader.address} user=postgres dbname=dropleaf`;
    const psql = await node.run('timeout', '10', 'psql', '-X', '-d', where, '-c', 'SELECT pg_sleep(5)');
    assert.match(psql.stderr, /reset by peer|closed the connection|connection to server was lost/);
  });
  assert.ok((await statement()) !== undefined);
});

test('an S3 server with an error answers nothing else, and one whose answers are cut short sends no whole object', async () => {
  const { s3 } = cluster;
  const object = path.join(os.tmpdir(), `object-${process.pid}`);
  writeFileSync(object, Buffer.alloc(100_000, 'x'));
  try {
    assert.notEqual(await s3.call('dropleaf/object', '-T', object), undefined);
  } finally {
    rmSync(object);
  }
  /** What a plain client on the node sees. It has no key, so 403 is what a server that works says. */
  const get = () => node.run('curl', '-s', '--max-time', '10', '-w', '%{http_code}', `${s3.endpoint}/dropleaf/object`);
  assert.match((await get()).stdout, /403$/);
  await under('error-node1-s3', async () => assert.match((await get()).stdout, /SlowDown.*503$/s));
  await under('truncate-node1-s3', async () => {
    const whole = await node.run('curl', ...s3.signed, '-s', '--max-time', '10', `${s3.endpoint}/dropleaf/object`);
    assert.ok([18, 56].includes(whole.code), `curl said ${whole.code}`);
    assert.ok(whole.stdout.length < 100_000, `${whole.stdout.length} bytes`);
  });
  assert.match((await get()).stdout, /403$/);
});

test('without etcd there is no leader, and afterwards there is one', async () => {
  await under('pause-etcd', async () => {
    await until('the leader to give up', async () => (await cluster.database.findLeader()) === undefined, { timeout: 60_000, every: 200 });
  });
  assert.ok(await cluster.database.leader());
});

test('a paused node says nothing and goes on afterwards', async () => {
  await until('a ready node', () => node.isReady());
  await under('pause-node1', async () => assert.equal(await node.isReady(1_000), false));
  await until('a ready node', () => node.isReady());
});

test('a killed node comes back', async () => {
  await under('kill-node1', async () => assert.equal(await connect(leader, node, 8080), 1));
  assert.equal(await node.isReady(), true);
});

const LEAVER = `
  import { openNetwork } from '${path.join(ROOT, 'cluster/network.mjs')}';
  import { makePart } from '${path.join(ROOT, 'cluster/part.mjs')}';
  import { mkdirSync } from 'node:fs';
  const network = await openNetwork();
  const folder = '${os.tmpdir()}/' + network.id + 'files';
  mkdirSync(folder);
  const part = await makePart(network, folder, 'sleeper', { command: () => ['sleep', '1000'] });
  part.start();
  console.log(network.id + ' ' + part.pid);
  setInterval(() => {}, 1000);
`;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL']) {
  test(`nothing is left behind after ${signal}`, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', LEAVER], { stdio: ['ignore', 'pipe', 'inherit'] });
    const line = await new Promise((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
    const [id, pid] = line.trim().split(' ');
    const left = () => [...readdirSync('/run/netns'), ...readdirSync(os.tmpdir())].filter((name) => name.startsWith(id));
    const found = left().length;
    child.kill(signal);
    assert.equal(found, 3, 'two namespaces and a folder');
    await until(`nothing to be left after ${signal}`, () => left().length === 0 && !existsSync(`/proc/${pid}`), { timeout: 30_000 });
  });
}
