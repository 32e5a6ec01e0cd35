// A shop: servers in live mode, the real `dropleaf processor` and `dropleaf facilitator`, and gateways that can stop what they say to each
// other.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import readline from 'node:readline';
import { request } from '../e2e/http.mjs';
import { BINARY, freePort, startServer, tempDir } from '../e2e/server.mjs';
import { startProcessor, WEBHOOK_SECRET } from '../e2e/stripe/processor.mjs';
import { PAYERS } from '../e2e/x402/world.mjs';
import { UNLIMITED } from './fixture.mjs';
import { startGateway } from './gateway.mjs';
import { createIssuer } from './issuer.mjs';

const TEST_KEY = 'sk_test_x';
const SECRET = '7'.repeat(64);

/** `dropleaf facilitator`, which settles without a chain. */
async function startSandboxFacilitator() {
  const dataDir = await tempDir('facilitator');
  const env = { PATH: process.env.PATH, DROPLEAF_DATA_DIR: dataDir };
  const child = spawn(BINARY, ['facilitator', '--listen', '127.0.0.1:0'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const [line] = await once(readline.createInterface({ input: child.stdout }), 'line');
  const stop = async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: line.split(' ').at(-1), stop };
}

/** A shop: the processor, the gateways, and the nodes that sell. */
export class Shop {
  /**
   * Keys and links by the purchase they were delivered for; what must have been charged, in cents; payments that must have been
   * settled.
   */
  delivered = new Map();
  charged = 0;
  settled = 0;

  static async open(nodes, env) {
    const shop = new Shop();
    shop.events = await startGateway(() => shop.node.url, () => shop.host);
    const webhook = `${shop.events.url}/webhooks/stripe`;
    shop.processor = await startProcessor({ url: webhook });
    shop.api = await startGateway(() => shop.processor.url);
    shop.facilitator = await startSandboxFacilitator();
    shop.settling = await startGateway(() => shop.facilitator.url);
    shop.issuer = await createIssuer();
    shop.env = {
      ...UNLIMITED,
      DROPLEAF_PAYMENTS__MODE: 'live',
      DROPLEAF_STRIPE__SECRET_KEY: TEST_KEY,
      DROPLEAF_STRIPE__WEBHOOK_SECRET: WEBHOOK_SECRET,
      DROPLEAF_STRIPE__API_URL: shop.api.url,
      DROPLEAF_PAYMENTS__FACILITATOR_URL: shop.settling.url,
      DROPLEAF_PAYMENTS__EVM_PAY_TO: PAYERS.other.address,
      DROPLEAF_AP2__ISSUERS_FILE: shop.issuer.file,
      DROPLEAF_SECRET_KEY: SECRET,
      ...env,
    };
    shop.dirs = [];
    shop.nodes = [];
    for (let n = 0; n < nodes; n += 1) {
      shop.dirs.push({ dataDir: await tempDir('payments'), port: await freePort() });
      // All nodes have the address of the first, as behind a load balancer.
      shop.host ??= `localhost:${shop.dirs[0].port}`;
      shop.env.DROPLEAF_BASE_URL ??= `http://${shop.host}`;
      shop.nodes.push(await startServer({ ...shop.dirs[n], env: shop.env }));
    }
    return shop;
  }

  /** The node that sells, and is killed next. */
  get node() {
    return this.nodes[0];
  }

  async kill() {
    await this.node.kill();
    if (this.nodes.length > 1) this.nodes.reverse();
    else this.nodes[0] = await startServer({ ...this.dirs[0], env: this.env });
  }

  /** Starts the killed one of several nodes again. */
  async repair() {
    if (this.nodes.length === 1) return;
    const at = this.dirs.find(({ port }) => port === this.nodes[1].port);
    this.nodes[1] = await startServer({ ...at, env: this.env });
  }

  async close() {
    for (const node of this.nodes) await node.stop();
    await this.processor.stop();
    await this.facilitator.stop();
    await this.issuer.stop();
    for (const gateway of [this.api, this.events, this.settling]) gateway.stop();
    for (const { dataDir } of this.dirs) await rm(dataDir, { recursive: true, force: true });
  }

  request(options) {
    return request(this.node, { host: this.host, ...options });
  }

  /** POST of JSON; null when the node was killed before it answered. */
  async post(path, { body, key, once }) {
    const headers = { 'content-type': 'application/json', ...(once && { 'idempotency-key': once }) };
    try {
      return await this.request({ method: 'POST', path, key, headers, body: JSON.stringify(body ?? {}) });
    } catch {
      return null;
    }
  }

  /** What the processor says about an object, past the gateway. */
  async ask(path, form) {
    const init = { headers: { authorization: `Bearer ${TEST_KEY}` }, ...(form && { method: 'POST', body: new URLSearchParams(form) }) };
    const answer = await fetch(this.processor.url + path, init);
    assert.equal(answer.status, 200, `${path}: ${answer.status}`);
    return answer.json();
  }

  deliver(purchase, key) {
    const keys = this.delivered.get(purchase) ?? new Set();
    if (key) keys.add(key);
    this.delivered.set(purchase, keys);
  }
}
