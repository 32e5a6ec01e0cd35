// What other clients notice of an attack: how long a page takes them on connections of their own.

import assert from 'node:assert/strict';
import http from 'node:http';
import { percentile } from './fixture.mjs';

/** Another network than the attacker's, as far as limits by network go; all of 127.0.0.0/8 is this machine. */
export const OTHER_NETWORK = '127.0.0.2';

/** One request on a new connection; gives {status, ms, headers}, with status 0 when there was no answer in time. */
export function single(server, { method = 'GET', path, headers = {}, body, from = OTHER_NETWORK, timeout }) {
  const began = performance.now();
  return new Promise((resolve) => {
    const finish = (status, headers = {}) => resolve({ status, headers, ms: performance.now() - began });
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const call = http.request({
      host: '127.0.0.1', port: server.port, localAddress: from, method, path, agent: false,
      headers: { host: `localhost:${server.port}`, connection: 'close', ...length, ...headers },
    });
    // Counted from the beginning: a connection that is never accepted has no activity to wait for.
    const timer = setTimeout(() => call.destroy(new Error('no answer in time')), timeout);
    call.once('error', () => finish(0));
    call.once('response', (response) => {
      response.resume();
      response.once('error', () => finish(0));
      response.once('end', () => finish(response.statusCode, response.headers));
    });
    call.once('close', () => clearTimeout(timer));
    call.end(body);
  });
}

/**
 * Requests the page of each server in turn, `count` times, each on a new connection, so that whatever else the machine does
 * delays all of them alike. Stops early after `patience` failures at one of them. Gives {p50, p99, answered, failed} for each.
 */
export async function measure(sites, count, { timeout = 5_000, patience = 3 } = {}) {
  const seen = sites.map(() => ({ times: [], failed: 0 }));
  for (let i = 0; i < count && seen.every(({ failed }) => failed < patience); i += 1) {
    for (const [at, { server, path }] of sites.entries()) {
      const { status, ms } = await single(server, { path, timeout });
      seen[at].times.push(ms);
      if (status !== 200) seen[at].failed += 1;
    }
  }
  return seen.map(({ times, failed }) => ({ p50: percentile(times, 0.5), p99: percentile(times, 0.99), answered: times.length - failed, failed }));
}

export const say = ({ p50, p99, answered, failed }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${answered} answered, ${failed} failed`;

/**
 * Others are served as at a server that is not attacked: none fails, and what `measure` gave for both differs no more than a
 * busy machine explains. The slowest of a hundred say more about the machine than about the server.
 */
export function assertServed(others, alone) {
  const both = `${say(others)}; at a server that is not attacked: ${say(alone)}`;
  assert.equal(others.failed, 0, both);
  assert.ok(others.p50 < alone.p50 * 3 + 50, both);
  assert.ok(others.p99 < alone.p99 * 3 + 1_000, both);
}
