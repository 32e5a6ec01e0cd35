// The cost of a cached view in two builds of dropleaf, for judging a change: the same page, one worker each on the same core,
// interleaved rounds.
//   DROPLEAF_BIN=target/release/dropleaf node bench/versions.mjs BINARY_OF_THE_OTHER_VERSION

import { publish, request } from '../e2e/http.mjs';
import { operatorKey, startServer } from '../e2e/server.mjs';
import { contest, load, onServerCore, ratio, RELEASE, save, SETTINGS, table, tenKilobytes } from './measure.mjs';

const [other] = process.argv.slice(2);
if (!other) {
  console.error('usage: node bench/versions.mjs BINARY_OF_THE_OTHER_VERSION');
  process.exit(2);
}

async function start(binary) {
  const server = await startServer({ binary, wrap: onServerCore, env: SETTINGS });
  const site = await publish(server, { name: 'ten.html', bytes: tenKilobytes(), key: await operatorKey(server) });
  const navigation = { 'sec-fetch-mode': 'navigate', 'user-agent': 'Mozilla/5.0' };
  const redirect = await request(server, { path: site.path, headers: navigation });
  return { server, url: `http://127.0.0.1:${server.port}${site.path}`, ownHost: new URL(redirect.headers.location).host };
}

const versions = { this: await start(RELEASE), other: await start(other) };
const variants = {
  'plain, 10 KB': ({ server }) => ({ Host: `localhost:${server.port}` }),
  'plain, on its own host': ({ ownHost }) => ({ Host: ownHost }),
  gzip: ({ server }) => ({ Host: `localhost:${server.port}`, 'Accept-Encoding': 'gzip' }),
};
const results = {};
const rows = [];
for (const [name, headers] of Object.entries(variants)) {
  const run = (version) => () => load({ url: version.url, pids: [version.server.pid], headers: headers(version) });
  const seen = await contest({ this: run(versions.this), other: run(versions.other) });
  results[name] = { ...seen, ratio: ratio(seen.this, seen.other) };
  const row = (version, { rps, perCpu, p50, p99 }) => rows.push({ variant: name, version, 'req/s': rps, 'req/CPU-s': perCpu, 'p50 ms': p50, 'p99 ms': p99 });
  row('this', seen.this);
  row('other', seen.other);
  row('ratio', results[name].ratio);
}
table('View of a 10 KB page in two builds, 64 connections, one core (medians; ratio = this / other)', rows);
await save('versions', results);
for (const { server } of Object.values(versions)) await server.stop();
