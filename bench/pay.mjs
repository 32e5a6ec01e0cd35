// What payments cost: the rate of 402 challenges against that of the plain 404 path, on the same server in interleaved
// rounds, and the time of one local check of a proof.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { request } from '../e2e/http.mjs';
import { ROOT, startServer } from '../e2e/server.mjs';
import { contest, load, onServerCore, ratio, RELEASE, save, SETTINGS, table } from './measure.mjs';

/** PROFILE=dev measures a debug build, which says nothing but that this script works. */
const PROFILE = process.env.BENCH_PROFILE ?? 'release';

const server = await startServer({ binary: RELEASE, wrap: onServerCore, env: SETTINGS });
const host = `localhost:${server.port}`;
const at = (path) => `http://127.0.0.1:${server.port}${path}`;

/** Each contestant: what is asked, and what must be answered. */
const asked = {
  'not found (404)': { path: '/nothing-is-here', status: 404 },
  'not found (404), POST': { path: '/nothing-is-here', status: 404, script: 'post.lua' },
  'terms (402), GET /publish': { path: '/publish', status: 402 },
  'terms (402), POST /publish': { path: '/publish', status: 402, script: 'post.lua' },
  'terms (402), POST /provision': { path: '/provision', status: 402, script: 'post.lua' },
};
const sizes = {};
for (const [name, { path, status, script }] of Object.entries(asked)) {
  const answer = await request(server, { method: script ? 'POST' : 'GET', path });
  assert.equal(answer.status, status, name);
  sizes[name] = answer.bytes.length + (answer.headers['payment-required']?.length ?? 0);
}

const run = ({ path, status, script }) => () =>
  load({ url: at(path), pids: [server.pid], headers: { Host: host }, script, refused: status });
const seen = await contest(Object.fromEntries(Object.entries(asked).map(([name, what]) => [name, run(what)])));

const rows = [];
const ratios = {};
for (const [name, result] of Object.entries(seen)) {
  const plain = asked[name].script ? 'not found (404), POST' : 'not found (404)';
  ratios[name] = ratio(result, seen[plain]);
  rows.push({
    request: name,
    'req/s': result.rps,
    'req/CPU-s': result.perCpu,
    'p50 ms': result.p50,
    'p99 ms': result.p99,
    bytes: sizes[name],
    'ratio req/s': ratios[name].rps,
    'ratio req/CPU-s': ratios[name].perCpu,
  });
}
table('Terms against the plain 404, 64 connections, one core (medians; ratio = 402 / 404)', rows);
await server.stop();

const cargo = ['run', '--quiet', '--locked', '--profile', PROFILE, '-p', 'dropleaf-pay', '--features', 'test-payer', '--example', 'check_time'];
const checks = JSON.parse(execFileSync('cargo', cargo, { cwd: ROOT, encoding: 'utf8' }));
table('A proof checked locally', Object.entries(checks).map(([proof, micros]) => ({ proof, 'µs': micros })));

await save('pay', { seen, ratios, sizes, checkMicros: checks });

// What was asked for: terms cost little more than saying no, and a proof is checked in less than a millisecond. A debug build shows neither.
if (PROFILE === 'release') {
  for (const [name, { status }] of Object.entries(asked)) {
    if (status === 402) assert.ok(ratios[name].rps >= 0.8, `${name}: ${ratios[name].rps} of the rate of the 404`);
  }
  for (const [proof, micros] of Object.entries(checks)) assert.ok(micros < 1000, `${proof}: ${micros} µs`);
}
