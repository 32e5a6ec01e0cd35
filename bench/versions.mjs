// The cost of a cached view and of a publish in two builds of dropleaf, for judging a change: the same page, one worker each
// on the same core, interleaved rounds, data on the same disk.
//   DROPLEAF_BIN=target/release/dropleaf node bench/versions.mjs BINARY_OF_THE_OTHER_VERSION

import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { publish, request } from '../e2e/http.mjs';
import { operatorKey, ROOT, startServer } from '../e2e/server.mjs';
import { contest, load, onServerCore, ratio, RELEASE, save, SETTINGS, table, tenKilobytes } from './measure.mjs';

const [other] = process.argv.slice(2);
if (!other) {
  console.error('usage: node bench/versions.mjs BINARY_OF_THE_OTHER_VERSION');
  process.exit(2);
}

// On the disk of the checkout: a temporary directory may be in memory, where nothing is durable.
const disk = path.join(ROOT, '.test/bench-versions');
await rm(disk, { recursive: true, force: true });

async function start(name, binary) {
  const dataDir = path.join(disk, name);
  await mkdir(dataDir, { recursive: true });
  const server = await startServer({ binary, wrap: onServerCore, env: SETTINGS, dataDir });
  const key = await operatorKey(server);
  const site = await publish(server, { name: 'ten.html', bytes: tenKilobytes(), key });
  const navigation = { 'sec-fetch-mode': 'navigate', 'user-agent': 'Mozilla/5.0' };
  const redirect = await request(server, { path: site.path, headers: navigation });
  return { server, key, url: `http://127.0.0.1:${server.port}${site.path}`, ownHost: new URL(redirect.headers.location).host };
}

const versions = { this: await start('this', RELEASE), other: await start('other', other) };
const view = (headers) => (version) => () => load({ url: version.url, pids: [version.server.pid], headers: headers(version) });
const shared = ({ server }) => ({ Host: `localhost:${server.port}` });
const variants = {
  'view, 10 KB': view(shared),
  'view, on its own host': view(({ ownHost }) => ({ Host: ownHost })),
  'view, gzip': view((version) => ({ ...shared(version), 'Accept-Encoding': 'gzip' })),
  'publish, 10 KB': (version) => () =>
    load({
      url: `http://127.0.0.1:${version.server.port}/sites`,
      pids: [version.server.pid],
      headers: shared(version),
      script: 'publish.lua',
      args: ['dropleaf', version.key],
    }),
};
const results = {};
const rows = [];
for (const [name, run] of Object.entries(variants)) {
  const seen = await contest({ this: run(versions.this), other: run(versions.other) });
  results[name] = { ...seen, ratio: ratio(seen.this, seen.other) };
  const row = (version, { rps, perCpu, p50, p99 }) => rows.push({ variant: name, version, 'req/s': rps, 'req/CPU-s': perCpu, 'p50 ms': p50, 'p99 ms': p99 });
  row('this', seen.this);
  row('other', seen.other);
  row('ratio', results[name].ratio);
}
table('Two builds, 64 connections, one core (medians; ratio = this / other)', rows);
await save('versions', results);
for (const { server } of Object.values(versions)) await server.stop();
await rm(disk, { recursive: true, force: true });
