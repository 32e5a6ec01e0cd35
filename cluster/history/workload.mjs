// Clients that use everything the service promises something about, on all nodes at once, and a verification of what they were told.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT, until } from '../../e2e/server.mjs';
import { idempotency, password, shareToken } from './access-scenarios.mjs';
import { checkHistory } from './check.mjs';
import { auditAccount, auditPayments, DECIDED } from './ledger.mjs';
import { byKey } from './linearizable.mjs';
import { authorizationCode, device } from './login-scenarios.mjs';
import { balance, payLink, payment, readBalance } from './money-scenarios.mjs';
import { burn, claim, deletion, durablePage, readPage, register, slug } from './page-scenarios.mjs';
import { World } from './world.mjs';

/** Scenarios and how often each is chosen, relative to the others. */
const SCENARIOS = [
  [durablePage, 6], [claim, 2], [burn, 3], [register, 3], [deletion, 2], [slug, 2],
  [password, 1], [shareToken, 2], [idempotency, 2], [device, 1], [authorizationCode, 1], [balance, 2], [payment, 1], [payLink, 1],
];

/** Milliseconds without an answer after which the final verification fails: nothing is injected any more. */
const RECOVERY = 120_000;

/** Faults that are shown in full; one cause often has many effects. */
const SHOWN = 12;

/** Writes the history and all faults of a failed test beside each other; gives a message with the first faults. */
export async function report(name, history, faults) {
  if (faults.length === 0) return '';
  const folder = path.join(ROOT, '.test/output');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, `${name}.jsonl`), history.toLines());
  await writeFile(path.join(folder, `${name}.txt`), faults.join('\n\n'));
  const shown = faults.slice(0, SHOWN).join('\n\n');
  return `${faults.length} faults; all of them and the history are in ${folder}/${name}.*\n\n${shown}`;
}

export class Workload {
  constructor(options) {
    this.world = Object.assign(new World(options), { pages: [], finals: [], counted: [], payments: [], proofs: 0, links: 0, linkKeys: [] });
  }

  get history() {
    return this.world.history;
  }

  async prepare({ buyers = 16 } = {}) {
    await this.world.prepare({ buyers });
  }

  /** Runs scenarios, `clients` at a time, until `isOver` says so. */
  async drive(isOver, { clients = 8 } = {}) {
    const { world } = this;
    const weights = SCENARIOS.flatMap(([scenario, weight]) => Array(weight).fill(scenario));
    const counts = {};
    const work = async () => {
      while (!isOver()) {
        const scenario = weights[world.roll.below(weights.length)];
        counts[scenario.name] = (counts[scenario.name] ?? 0) + 1;
        await scenario(world);
        await world.pause(1, 20);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
    return counts;
  }

  /** Publishes pages that stay, at once; each is tried at most `tries` times. */
  async publish(count, options) {
    await Promise.all(Array.from({ length: count }, () => durablePage(this.world, options)));
  }

  /** The keys of pages whose publication was acknowledged. */
  acknowledged() {
    return this.world.pages.filter(({ site }) => site).map(({ key }) => key);
  }

  /** Reads everything again on healthy nodes. The operations are recorded, so that the models judge what is read. */
  async verify() {
    const { world } = this;
    for (const page of world.pages) {
      // A page without an answer is asked for with the same key: it exists now, exactly once.
      page.site ??= await this.#answered(`page ${page.key}`, (node) => page.publish(node));
    }
    // Longer than the stated staleness, so that what is read now must be the latest.
    const since = world.history.now();
    await until('cached rows to expire', () => world.history.now() - since > 1e9);
    await inTurns(world.nodes.flatMap((node) => world.pages.flatMap((page) => ['view', 'content'].map((op) => () =>
      this.#read(`page ${page.key} at ${node.name}`, () => readPage(world, node, page, 'end', op)),
    ))));
    await inTurns(world.finals.map((read) => () => this.#read('final reads', async () => (await read()).every(Boolean))));
    await this.#count();
    for (const buyer of world.buyers) await this.#answered(`balance of ${buyer.name}`, (node) => readBalance(world, node, 'end', buyer));
  }

  /** Everything that is wrong: texts. Needs the ledger's own check to have passed. */
  async faults() {
    const { world } = this;
    const { faults, summary } = checkHistory(world.history);
    this.summary = summary;
    return [...faults.map(({ text }) => text), ...world.recorder.unexpected, ...this.#broken(), ...(await this.#audit())];
  }

  /** Burnt pages that arrived whole with other bytes than were published; the model looks at whether there was a body. */
  #broken() {
    return this.world.history.operations
      .filter(({ model, result }) => model === 'burn' && result?.isRight === false)
      .map(({ key, id }) => `burn ${key}: #${id} received other bytes than were published`);
  }

  /** Counts the pages of every Idempotency-Key, by their titles. */
  async #count() {
    const { world } = this;
    const [one] = world.counted;
    if (!one) return;
    const started = world.counted.map(({ key }) => world.history.begin({ model: 'idempotency', key, process: 'end', call: { op: 'count' } }));
    const sites = await this.#list(one.owner);
    for (const [at, { title }] of world.counted.entries()) {
      const found = sites.filter((site) => site.title === title);
      started[at].answered({ count: found.length, id: found[0]?.id });
    }
  }

  async #list(owner) {
    const sites = [];
    for (let query = ''; ; ) {
      const list = await this.#json(`/sites?limit=500${query}`, owner.key);
      sites.push(...list.sites);
      if (!list.has_more) return sites;
      query = `&before=${list.next_before}&before_id=${list.next_before_id}`;
    }
  }

  async #audit() {
    const { world } = this;
    const faults = [];
    const operations = byKey(world.history.operations);
    for (const buyer of world.buyers) {
      const { transactions, balance_minor: left } = await this.#json('/me/transactions?limit=200', buyer.key);
      const movements = transactions.map(({ amount_minor: amount }) => ({ amount }));
      faults.push(...auditAccount(buyer.name, operations.get(buyer.name), { transactions: movements, left }));
    }
    for (const [rail, keys] of [['mpp', world.payments], ['card', world.linkKeys]]) {
      const payments = await this.#payments(rail);
      faults.push(...auditPayments(keys.flatMap((key) => operations.get(key) ?? []), payments).map((text) => `${rail}: ${text}`));
    }
    // Exits with 3 if the ledger is inconsistent, and says where.
    await world.run('ledger', 'audit').catch((error) => faults.push(`ledger: ${error.stdout ?? ''}${error.stderr ?? error.message}`));
    return faults;
  }

  /** All payments by a rail, once a killed node's payments have been taken over by others. */
  async #payments(rail) {
    let payments;
    const areDecided = async () => {
      ({ payments } = JSON.parse(await this.world.run('payments', 'list', '--rail', rail, '--limit', '500', '--json')));
      return payments.every(({ state }) => DECIDED.includes(state));
    };
    // Those that are left open are reported by the audit.
    await until('payments to be decided', areDecided, { timeout: RECOVERY, every: 1_000 }).catch(() => {});
    return payments;
  }

  async #json(path, key) {
    const answer = await this.#answered(path, async (node) => {
      const found = await this.world.client.request(node, { path, key }).catch(() => null);
      return found?.status === 200 && found;
    });
    return answer.json();
  }

  /** The same for reads whose answers are judged: an answer that must not occur has failed the test already, so it is not repeated. */
  #read(what, step) {
    return this.#answered(what, async () => (await step()) || this.world.recorder.unexpected.length > 0);
  }

  /** Repeats a step on healthy nodes until it gives something. */
  #answered(what, step) {
    return until(what, () => step(this.world.node()), { timeout: RECOVERY, every: 200 });
  }

  close() {
    this.world.isOver = true;
    this.world.client.close();
  }
}

/** Runs many steps, a few at a time. */
async function inTurns(steps, atOnce = 8) {
  const left = [...steps];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (left.length > 0) await left.pop()();
  }));
}
