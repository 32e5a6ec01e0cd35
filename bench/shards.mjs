// Simulates how evenly pages spread over shards that are chosen by a hash of the account: node bench/shards.mjs
// A million accounts, whose numbers of pages follow a Pareto distribution: few have very many. The same in every run.

import { createHash } from 'node:crypto';
import { report } from './report.mjs';

const ACCOUNTS = 1_000_000;
const SHARDS = [4, 16, 64];

/** A number in (0, 1] and the first bytes of the hash of an account's ID. */
function account(n) {
  const digest = createHash('sha256').update(`acc_${n}`).digest();
  return { chance: (digest.readUInt32BE(0) + 1) / 2 ** 32, hash: digest.readUInt32BE(4) };
}

const rows = [];
for (const alpha of [2, 1.5, 1.2]) {
  const loads = new Map(SHARDS.map((count) => [count, new Float64Array(count)]));
  let [total, largest] = [0, 0];
  for (let n = 0; n < ACCOUNTS; n += 1) {
    const { chance, hash } = account(n);
    const pages = Math.floor(chance ** (-1 / alpha));
    total += pages;
    largest = Math.max(largest, pages);
    for (const [count, load] of loads) load[hash % count] += pages;
  }
  rows.push({
    'Pareto exponent': String(alpha),
    'pages of the average account': total / ACCOUNTS,
    'share of the largest account, %': (100 * largest) / total,
    ...Object.fromEntries([...loads].map(([count, load]) => [`fullest of ${count} shards, times the average`, Math.max(...load) / (total / count)])),
  });
}
await report('shards', { 'A million accounts on shards by a hash of the account': rows });
