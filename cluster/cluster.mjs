// A whole cluster on one machine: Patroni with three PostgreSQL servers, etcd, SeaweedFS, dropleaf nodes and a proxy, each in a
// network namespace of its own. Tests start it with `startCluster`; `scripts/cluster up` starts one to try things out.

import { chmod, mkdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startEtcd } from './etcd.mjs';
import { makeFaults } from './faults.mjs';
import { makeFirewall } from './firewall.mjs';
import { remove } from './leftovers.mjs';
import { keepLogs } from './logs.mjs';
import { openNetwork } from './network.mjs';
import { makeNode, nodeSettings } from './nodes.mjs';
import { startPatroni } from './patroni.mjs';
import { makeProxy } from './proxy.mjs';
import { startS3 } from './s3.mjs';

/**
 * Starts a cluster. Options: `nodes` and `databases` (how many), `sync` (whether a commit waits for a replica), `env` (more
 * settings of the nodes), `start` (false: the nodes and the proxy are left to the caller), `binary`.
 */
export async function startCluster({ nodes: count = 3, databases = 3, sync = databases > 1, env = {}, start = true, binary } = {}) {
  const network = await openNetwork();
  const folder = path.join(os.tmpdir(), `${network.id}files`);
  await mkdir(folder);
  await chmod(folder, 0o755);
  try {
    const proxy = await makeProxy(network, folder);
    const [s3, database] = await Promise.all([
      startS3(network, folder),
      startEtcd(network, folder).then((etcd) => startPatroni(network, folder, { etcd, sync, members: databases }).then((made) => ({ ...made, etcd }))),
    ]);
    await database.sql('CREATE DATABASE dropleaf', { database: 'postgres' });
    const settings = nodeSettings({ network, proxy, databaseUrl: database.url(), blobsUrl: s3.blobsUrl, env });
    const nodes = [];
    for (let at = 1; at <= count; at += 1) nodes.push(await makeNode(network, folder, `node${at}`, settings, { binary }));
    const firewall = makeFirewall(network);
    const cluster = {
      network, folder, nodes, database, etcd: database.etcd, s3, proxy, proxyUrl: proxy.url, settings, firewall,
      apiKey: undefined,
      /** Keeps the logs if the test with this context failed; for `afterEach`. */
      keepLogs: ({ name, passed }) => {
        if (!passed) console.error(`cluster: the logs of "${name}" are in ${keepLogs(folder, name)}`);
      },
      /** Ends everything and removes it. */
      stop: async () => remove(network.id),
    };
    cluster.faults = makeFaults(cluster);
    /** The fault with this name. */
    cluster.fault = (name) => cluster.faults.find((fault) => fault.name === name) ?? fail(`no fault ${name}`);
    if (start) await startNodes(cluster);
    return cluster;
  } catch (error) {
    console.error(`cluster: it did not start; its logs are in ${keepLogs(folder, 'start')}`);
    remove(network.id);
    throw error;
  }
}

/** Starts the nodes one after another, then the proxy; the first node prints the API key of the operator. */
async function startNodes(cluster) {
  for (const node of cluster.nodes) await node.restart();
  cluster.apiKey = (await cluster.nodes[0].log()).match(/stk_live_[0-9A-Za-z]{36}/)?.[0] ?? fail('no API key in the log of the first node');
  await cluster.proxy.open(cluster.nodes);
}

function fail(message) {
  throw new Error(message);
}
