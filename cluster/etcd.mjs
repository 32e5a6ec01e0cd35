// etcd, where Patroni keeps which PostgreSQL is the leader. One member: it is never the part under test.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { request } from '../e2e/http.mjs';
import { ROOT } from '../e2e/server.mjs';
import { makePart, untilWorks } from './part.mjs';

const OWN = path.join(ROOT, '.test/tools/bin/etcd');

export async function startEtcd(network, folder) {
  const part = await makePart(network, folder, 'etcd', {
    command: () => {
      const clients = `http://${part.address}:2379`;
      const peers = `http://${part.address}:2380`;
      return [
        existsSync(OWN) ? OWN : 'etcd', '--name', 'etcd', '--data-dir', path.join(folder, 'etcd'),
        '--listen-client-urls', clients, '--advertise-client-urls', clients,
        '--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers, '--initial-cluster', `etcd=${peers}`,
        '--logger', 'zap', '--log-level', 'warn',
      ];
    },
    // Versions before 3.5 want to be told so on processors other than amd64.
    env: process.arch === 'x64' ? {} : { ETCD_UNSUPPORTED_ARCH: process.arch },
  });
  part.start();
  await untilWorks(part, 'a healthy etcd', async () => {
    const answer = await request({ address: part.address, port: 2379 }, { path: '/health', timeout: 2_000 }).catch(() => undefined);
    return answer?.status === 200;
  });
  return part;
}
