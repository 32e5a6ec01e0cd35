// SeaweedFS as the S3 server of a cluster, with one bucket.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../e2e/server.mjs';
import { sh } from './network.mjs';
import { makePart, untilWorks } from './part.mjs';

const WEED = path.join(ROOT, '.test/venv/bin/weed');
const PORT = 8333;
const BUCKET = 'dropleaf';
const KEY = 'clusterkey';
const SECRET = 'clustersecret';

export async function startS3(network, folder) {
  const home = path.join(folder, 's3');
  await mkdir(home);
  const config = path.join(home, 's3.json');
  const actions = ['Admin', 'Read', 'Write', 'List', 'Tagging'];
  const credentials = [{ accessKey: KEY, secretKey: SECRET }];
  await writeFile(config, JSON.stringify({ identities: [{ name: 'cluster', credentials, actions }] }));
  const part = await makePart(network, folder, 's3', {
    cwd: home,
    // It puts sockets into /tmp, named by their ports, where another cluster would find them and nothing would remove them:
    // hence /tmp is its own folder. The program is bound into it, because it may be below /tmp itself.
    command: () => [
      'unshare', '--mount', '--', 'sh', '-c', 'touch weed && mount --bind "$0" weed && mount --rbind . /tmp && cd /tmp && exec ./weed "$@"',
      WEED, 'server', '-dir=/tmp', `-ip=${part.address}`, `-ip.bind=${part.address}`,
      '-master.volumeSizeLimitMB=64', '-volume.max=40', '-filer',
      '-s3', `-s3.port=${PORT}`, '-s3.port.iceberg=0', '-s3.port.lance=0', '-s3.localSocket=/tmp/s3.sock',
      '-s3.iam=false', '-s3.config=/tmp/s3.json',
    ],
  });
  part.endpoint = `http://${part.address}:${PORT}`;
  part.port = PORT;
  part.blobsUrl = `s3://${BUCKET}?endpoint=${part.endpoint}&region=us-east-1&access_key_id=${KEY}&secret_access_key=${SECRET}&allow_http=true`;

  /** Options of curl to sign a request. */
  part.signed = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '-u', `${KEY}:${SECRET}`];
  /** An S3 request with curl; gives the body, or undefined when it fails. */
  part.call = (address, ...options) =>
    sh('curl', '-sf', '--max-time', '10', ...part.signed, ...options, `${part.endpoint}/${address}`).catch(() => undefined);
  /** The keys of all objects. */
  part.objects = async () => {
    const keys = [];
    let after = '';
    for (;;) {
      const page = await part.call(`${BUCKET}?list-type=2&start-after=${encodeURIComponent(after)}`);
      if (page === undefined) throw new Error('cluster: cannot list the bucket');
      const found = [...page.matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) => match[1]);
      keys.push(...found);
      if (!page.includes('<IsTruncated>true</IsTruncated>')) return keys;
      after = keys.at(-1);
    }
  };
  /** Ready means that an object can be stored: the port opens before there is a volume behind it. */
  const isReady = async () => {
    if ((await part.call(BUCKET, '-I')) === undefined && (await part.call(BUCKET, '-X', 'PUT')) === undefined) return false;
    return (await part.call(`${BUCKET}/ready`, '-T', config)) !== undefined;
  };
  part.ready = () => untilWorks(part, 'a bucket that stores objects', isReady, { every: 100 });

  part.start();
  await part.ready();
  return part;
}
