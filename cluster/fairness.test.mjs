// One account that publishes as fast as it can does not take the node away from other people.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCluster } from './cluster.mjs';
import { measureFairness } from './fairness.mjs';
import { LONG } from './load.mjs';

/** Generous, because the machine is shared with the load; `scripts/bench fairness` states figures. */
const MOST_P50_MS = 60;
const MOST_P99_MS = 500;

let cluster;
before(async () => {
  cluster = await startCluster({ nodes: 1, databases: 1 });
});
after(() => cluster?.stop());

test('64 publishers of one account: other people view pages, the node stays ready', async (t) => {
  const { alone, busy, publishesPerSecond, publishes } = await measureFairness(cluster.nodes[0], cluster.apiKey, { seconds: LONG ? 20 : 5 });
  const say = ({ p50, p99 }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  t.diagnostic(`views alone ${say(alone)}; with publishers ${say(busy)}; ${publishesPerSecond.toFixed(0)} publishes/s ${JSON.stringify(publishes)}; readiness ${JSON.stringify(busy.readiness)}`);
  assert.deepEqual(Object.keys(busy.views), ['200']);
  assert.deepEqual(Object.keys(busy.readiness), ['200']);
  assert.ok(busy.p50 < MOST_P50_MS && busy.p99 < MOST_P99_MS, say(busy));
  // Too many at once may be refused, but only so that the client knows to come back.
  assert.deepEqual(Object.keys(publishes).filter((status) => status !== '201' && status !== '503'), []);
});
