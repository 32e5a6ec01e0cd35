// The dropleaf nodes of a cluster: stateless servers with the same settings, on the same databases and the same bucket.

import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { request } from '../e2e/http.mjs';
import { BINARY } from '../e2e/server.mjs';
import { makePart, untilWorks } from './part.mjs';

export const PORT = 8080;

/** The settings that all nodes share. */
export function nodeSettings({ network, proxy, databaseUrl, blobsUrl, env }) {
  return {
    DROPLEAF_LISTEN: `0.0.0.0:${PORT}`,
    DROPLEAF_BASE_URL: proxy.url,
    DROPLEAF_DATABASE_URL: databaseUrl,
    DROPLEAF_BLOBS_URL: blobsUrl,
    DROPLEAF_SECRET_KEY: randomBytes(32).toString('hex'),
    DROPLEAF_TRUSTED_PROXIES: proxy.address,
    // The load comes from this machine, so the limits for anonymous clients do not apply to it.
    DROPLEAF_LIMITS__EXEMPT: network.subnet,
    ...env,
  };
}

/**
 * A node that does not run yet. It can be passed to `request`, `publish` and `api` of e2e/http.mjs as a server. Its settings
 * are in `node.env` and are read at every start.
 */
export async function makeNode(network, folder, name, env, { binary = BINARY } = {}) {
  const dataDir = path.join(folder, name);
  await mkdir(dataDir, { recursive: true });
  const own = { ...env, DROPLEAF_DATA_DIR: dataDir };
  const node = await makePart(network, folder, name, { command: () => [node.binary, 'serve'], cwd: dataDir, env: own });
  Object.assign(node, {
    binary,
    env: own,
    dataDir,
    port: PORT,
    url: `http://${node.address}:${PORT}`,
    // Nodes know themselves by the address of the proxy.
    host: new URL(env.DROPLEAF_BASE_URL).host,
    siteUrl: env.DROPLEAF_BASE_URL,
  });
  node.isReady = async (timeout = 5_000) => {
    const answer = await request(node, { path: '/readyz', timeout }).catch(() => undefined);
    return answer?.status === 200;
  };
  /** Waits until the node says that it can serve; fails at once if it ends before. */
  node.ready = (options) => untilWorks(node, '/readyz', () => node.isReady(), options);
  const { start } = node;
  node.restart = async () => {
    if (!node.child) start();
    await node.ready();
  };
  return node;
}
