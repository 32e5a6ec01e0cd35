// Durable publishes on PostgreSQL by one account and by sixteen, and views of other people's pages meanwhile. One node, which
// shares the cores with PostgreSQL and the load. With BENCH_OTHER=BINARY another build is measured in turn with this one, on a
// database of its own.

import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase, psql } from '../e2e/postgres.mjs';
import { publish } from '../e2e/http.mjs';
import { operatorKey, sleep, startServer, tempDir } from '../e2e/server.mjs';
import { cpuSeconds, load, median, RELEASE, ROUNDS, SECONDS, tenKilobytes } from './measure.mjs';
import { report } from './report.mjs';
import { accounts, startStorage } from './services.mjs';

const PUBLISHERS = 64;
const PAGES = 1_000;
/** Milliseconds between two views of one of eight viewers, on average. */
const PAUSE = 20;

const storage = await startStorage();
const dir = await tempDir('bench-grouped');
const page = tenKilobytes();

async function start(build, binary) {
  const database = build === 'this' ? { url: storage.url, drop: storage.drop } : await createDatabase('bench');
  const node = await startServer({ binary, env: { ...storage.env, DROPLEAF_DATABASE_URL: database.url } });
  await operatorKey(node);
  const keys = await accounts(node, 17, 'account');
  const paths = [];
  for (let n = 0; n < PAGES; n += 1) {
    paths.push((await publish(node, { name: 'page.html', bytes: page.replace('Ten kilobytes', `Page ${n}`), key: keys[16] })).path);
  }
  const file = path.join(dir, build);
  await writeFile(file, paths.map((each) => `${each}\n`).join(''));
  return { build, node, keys, file, database };
}

const builds = [await start('this', RELEASE)];
if (process.env.BENCH_OTHER) builds.push(await start('other', process.env.BENCH_OTHER));

const run = ({ node }, how) => load({ url: `http://127.0.0.1:${node.port}/sites`, pids: [node.pid], headers: { Host: `localhost:${node.port}` }, ...how });
const commits = async ({ database }) => {
  const name = new URL(database.url).pathname.slice(1);
  return Number(await psql(database.url, `SELECT xact_commit FROM pg_stat_database WHERE datname = '${name}'`));
};

/** Publishes by the first `count` accounts, with views of another one's pages if `isViewed`. */
async function round(build, count, isViewed) {
  const before = [await cpuSeconds([build.node.pid]), await storage.cpu(), await commits(build)];
  const publishing = run(build, { script: 'publish.lua', args: ['dropleaf', build.keys.slice(0, count).join(',')], connections: PUBLISHERS, seconds: SECONDS });
  await sleep(300);
  const viewed = isViewed
    ? await run(build, { url: `http://127.0.0.1:${build.node.port}/`, script: 'paths.lua', args: [build.file, String(PAUSE)], connections: 8, seconds: SECONDS - 1 })
    : null;
  const published = await publishing;
  // The statistics of a connection arrive up to a second later.
  await sleep(1_100);
  const after = [await cpuSeconds([build.node.pid]), await storage.cpu(), await commits(build)];
  const each = (n) => (after[n] - before[n]) / (published.rps * SECONDS);
  return { ...published, node: each(0) * 1000, postgres: each(1) * 1000, commits: each(2), viewed };
}

const tables = {};
for (const isViewed of [false, true]) {
  const rows = [];
  for (const count of [1, 16]) {
    const seen = new Map(builds.map(({ build }) => [build, []]));
    for (let n = 0; n < ROUNDS; n += 1) for (const build of builds) seen.get(build.build).push(await round(build, count, isViewed));
    for (const [build, runs] of seen) {
      const middle = (read) => median(runs.map(read));
      rows.push({
        build,
        accounts: String(count),
        'publishes/s': middle((it) => it.rps),
        'p50 ms': middle((it) => it.p50),
        'p99 ms': middle((it) => it.p99),
        ...(isViewed
          ? { 'view p50 ms': middle((it) => it.viewed.p50), 'view p99 ms': middle((it) => it.viewed.p99) }
          : {
              'CPU ms of the node, each': middle((it) => it.node),
              'CPU ms of PostgreSQL, each': middle((it) => it.postgres),
              'commits, each': middle((it) => it.commits),
            }),
      });
    }
  }
  tables[isViewed ? `the same, with 8 viewers of other pages, a view every ${PAUSE} ms each` : `publishes of 10 KB, ${PUBLISHERS} at once, one node on PostgreSQL`] = rows;
}
await report('grouped', tables);
for (const { node, database } of builds) {
  await node.stop();
  await database.drop();
}
await rm(dir, { recursive: true, force: true });
