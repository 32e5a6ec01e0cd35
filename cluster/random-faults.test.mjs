// Random faults under a workload: no acknowledged write is lost, no history is outside its model, no burnt page is seen twice, and the
// ledger is at zero. And the control: with asynchronous replication the same check must find what a failover loses.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { request } from '../e2e/http.mjs';
import { until } from '../e2e/server.mjs';
import { dice } from '../torture/fixture.mjs';
import { startCluster } from './cluster.mjs';
import { injectFaults } from './history/fault-plan.mjs';
import { report, Workload } from './history/workload.mjs';

const LONG = process.env.CLUSTER === 'long';
const SECONDS = Number(process.env.CLUSTER_SECONDS ?? (LONG ? 1_800 : 180));
/** Fixes the faults and their order, not how the clients interleave with them. The short form has one seed, the long one looks further. */
const SEED = Number(process.env.CLUSTER_SEED ?? (LONG ? Math.floor(Math.random() * 2 ** 31) : 1));
/** Each is used for six purchases. */
const BUYERS = LONG ? 300 : 30;
/** Pages that are published while no replica receives them. */
const DOOMED = 8;
const PATRONI = 8008;
/** Faults that every run has: a failover (the lease of the leader is 20 s), a node that dies, and one that wakes up later. */
const ALWAYS = [{ name: 'kill-leader', lasts: 26_000 }, { name: 'kill-node1', lasts: 5_000 }, { name: 'pause-node2', lasts: 8_000 }];

async function withWorkload(context, options, work) {
  const cluster = await startCluster({ nodes: 3, ...options });
  const { binary, env, dataDir } = cluster.nodes[0];
  const run = async (...args) => {
    const { stdout } = await promisify(execFile)(binary, args, { env: { PATH: process.env.PATH, ...env }, cwd: dataDir });
    return stdout.trim();
  };
  const workload = new Workload({ nodes: cluster.nodes, run, roll: dice(SEED), baseUrl: cluster.proxyUrl });
  try {
    await work(cluster, workload);
  } catch (error) {
    cluster.keepLogs({ name: context.name, passed: false });
    // Also when the work itself failed, before anything was checked.
    context.diagnostic(await report('unfinished', workload.history, [error.stack]));
    throw error;
  } finally {
    workload.close();
    await cluster.stop();
  }
}

/** All databases follow the leader, and all nodes say that they can serve. */
async function recovered({ nodes, database }) {
  await database.whole();
  for (const node of nodes) await until(`${node.name} to be ready`, () => node.isReady(), { timeout: 120_000, every: 200 });
}

/**
 * Cuts the leader off from its replicas, publishes pages, and kills the leader, so that a replica without them takes over. Gives the keys
 * of the pages that were acknowledged before and after the cut, and of those that the checker reports as lost.
 */
async function loseLeader(cluster, workload) {
  const { database } = cluster;
  const leader = await database.leader();
  // Patroni promotes no replica that lags by more than this, which would be another way of losing nothing: by not serving.
  const config = { method: 'PATCH', path: '/config', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ maximum_lag_on_failover: 2 ** 30 }) };
  assert.equal((await request({ address: leader.address, port: PATRONI }, config)).status, 200);
  await workload.publish(DOOMED);
  await until('the replicas to have everything', async () => {
    const behind = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn < pg_current_wal_lsn()";
    return (await database.sql(behind)) === '0';
  });
  const before = workload.acknowledged();
  const partition = cluster.fault('partition-replicas');
  await partition.inject();
  // A synchronous leader acknowledges nothing now. It must die before it gives its replicas up and goes on alone, a minute later.
  await workload.publish(DOOMED, { tries: 2 });
  const after = workload.acknowledged().filter((key) => !before.includes(key));
  await leader.kill();
  await until('another leader', async () => {
    const found = await database.findLeader();
    return found && found !== leader;
  }, { every: 200 });
  await leader.restart();
  await partition.heal();
  await recovered(cluster);
  await workload.verify();
  const faults = await workload.faults();
  const lost = faults.map((text) => text.match(/^page (page-\d+): no order/)?.[1] ?? text);
  return { before, after, lost };
}

// At the same time, on a cluster each: they mostly wait for leases to expire, and assert nothing about how long things take.
describe('histories under faults', { concurrency: 2 }, () => {
  test(`random faults for ${SECONDS} s with seed ${SEED}: every history is possible, and nothing acknowledged is lost`, (context) =>
    withWorkload(context, { sync: true }, async (cluster, workload) => {
      await workload.prepare({ buyers: BUYERS });
      const end = performance.now() + SECONDS * 1000;
      let problem;
      const isOver = () => problem !== undefined || performance.now() > end;
      const options = { first: ALWAYS, log: (line) => context.diagnostic(line) };
      const injecting = injectFaults(cluster.faults, dice(SEED + 1), isOver, options);
      // Whichever fails first ends the other, and nothing is injected into a cluster that is being removed.
      const fail = (error) => {
        problem ??= error;
      };
      const [counts, injected] = await Promise.all([workload.drive(isOver).catch(fail), injecting.catch(fail)]);
      if (problem) throw problem;
      await recovered(cluster);
      await workload.verify();
      const faults = await workload.faults();
      context.diagnostic(`seed ${SEED}: ${injected.length} faults injected; scenarios ${JSON.stringify(counts)}`);
      context.diagnostic(`operations ${JSON.stringify(workload.history.tally())}`);
      for (const line of workload.summary) context.diagnostic(line);
      assert.equal(faults.length, 0, await report('random-faults', workload.history, faults));
      assert.ok(injected.length >= SECONDS / 30, `only ${injected.length} faults were injected`);
      const missing = ALWAYS.filter(({ name }) => !injected.some((fault) => fault.name === name));
      if (SECONDS >= 120) assert.deepEqual(missing, [], 'faults that every run has');
    }));

  test('control: asynchronous replication loses acknowledged pages, and the checker reports exactly those', (context) =>
    withWorkload(context, { sync: false }, async (cluster, workload) => {
      await workload.prepare({ buyers: 0 });
      const { before, after, lost } = await loseLeader(cluster, workload);
      context.diagnostic(`${before.length} pages were replicated, ${after.length} were acknowledged without a replica, ${lost.length} are reported as lost`);
      assert.equal(before.length, DOOMED);
      assert.equal(after.length, DOOMED, 'an asynchronous leader acknowledges without its replicas');
      assert.deepEqual(lost.sort(), after.sort());
    }));

  // The short form leaves it to the random faults, which always kill the leader.
  test('the same with synchronous replication loses nothing that was acknowledged', { skip: !LONG && 'in the long form' }, (context) =>
    withWorkload(context, { sync: true }, async (cluster, workload) => {
      await workload.prepare({ buyers: 0 });
      const { before, after, lost } = await loseLeader(cluster, workload);
      context.diagnostic(`${before.length} pages before the cut, ${after.length} acknowledged after it, ${lost.length} reported as lost`);
      assert.deepEqual(lost, []);
    }));
});
