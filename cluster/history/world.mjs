// What the scenarios of a workload share: nodes, accounts, a session, the history, and steps that are repeated until they succeed.

import { createHash } from 'node:crypto';
import { multipart } from '../../e2e/http.mjs';
import { sleep } from '../../e2e/server.mjs';
import { provenPage } from '../../torture/fixture.mjs';
import { Client, Recorder } from './client.mjs';
import { History } from './history.mjs';

export const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/** Size of pages above the limit for bodies in the database: they are stored in S3. */
const LARGE = 200_000;

/** Credit of each account that buys, in cents: four purchases, so that the history of an account is short enough to be decided. */
export const CREDIT = 200;
/** Commands of dropleaf that prepare accounts at a time. */
const AT_ONCE = 4;

export class World {
  #labels = 0;

  /**
   * `nodes` are servers as e2e/http.mjs takes them, with a `name`; `run(...args)` runs a command of dropleaf on their database; `roll` is
   * a seeded generator.
   */
  constructor({ nodes, run, roll, baseUrl }) {
    Object.assign(this, { nodes, run, roll, baseUrl });
    this.history = new History();
    this.client = new Client();
    this.recorder = new Recorder(this.history, this.client);
    this.accounts = [];
    this.buyers = [];
    this.isOver = false;
  }

  label(kind) {
    this.#labels += 1;
    return `${kind}-${this.#labels}`;
  }

  node() {
    return this.nodes[this.roll.below(this.nodes.length)];
  }

  /** A page of known bytes that are found in no other page. */
  page(title, { large = false } = {}) {
    return provenPage(this.roll, large ? LARGE : this.roll.between(200, 3_000)).replace('<p>', `<p id="${title}">`);
  }

  /** Accounts that publish and claim, accounts that buy, and the session of a person. While nothing fails. */
  async prepare({ buyers }) {
    for (const name of ['ann', 'bob', 'cid']) {
      const made = JSON.parse(await this.run('account', 'create', `${name}@example.org`, '--plan', 'pro', '--json'));
      this.accounts.push({ name, id: made.id, key: made.api_key });
    }
    const names = Array.from({ length: buyers }, (_, at) => `buyer${at + 1}`);
    await this.together(AT_ONCE, async () => {
      for (let name = names.shift(); name; name = names.shift()) await this.#addBuyer(name);
    });
    this.cookie = await this.#signIn(`${this.accounts[0].name}@example.org`);
  }

  async #addBuyer(name) {
    const made = JSON.parse(await this.run('account', 'create', `${name}@example.org`, '--plan', 'pro', '--json'));
    const credit = this.history.begin({ model: 'balance', key: name, process: 'operator', call: { op: 'credit', amount: CREDIT } });
    await this.run('account', 'credit', `${name}@example.org`, '--amount', (CREDIT / 100).toFixed(2), '--reason', 'history');
    credit.answered({});
    this.buyers.push({ name, key: made.api_key, purchases: 0 });
  }

  async #signIn(email) {
    const link = new URL(await this.run('account', 'link', email));
    const shown = await this.client.request(this.nodes[0], { path: link.pathname + link.search });
    const headers = { cookie: cookies(shown), origin: this.baseUrl };
    const form = { token: link.searchParams.get('token'), form_token: formToken(shown) };
    const signedIn = await this.client.request(this.nodes[0], { method: 'POST', path: '/login/link', headers, form });
    if (signedIn.status !== 303) throw new Error(`sign-in: ${signedIn.status} ${signedIn.text()}`);
    return cookies(signedIn);
  }

  /** An upload as `POST /sites`, as options for a request. */
  async upload(bytes, { key, once, fields = {} } = {}) {
    const form = await multipart({ fields, file: { name: 'page.html', bytes } });
    return { method: 'POST', path: '/sites', key, headers: { ...form.headers, ...(once && { 'idempotency-key': once }) }, body: form.body };
  }

  /** Repeats a step on other nodes until it gives something, at most `tries` times; null if it never does. */
  async persist(step, { tries = 8 } = {}) {
    for (let left = tries; left > 0 && !this.isOver; left -= 1) {
      const found = await step(this.node());
      if (found) return found;
      await this.pause(100, 400);
    }
    return null;
  }

  /** Publishes outside of the history, for scenarios that need a page to begin with; gives the Site JSON or null. */
  async publish(bytes, { key, fields } = {}) {
    const options = await this.upload(bytes, { key, fields, once: this.label('setup') });
    return this.persist(async (node) => {
      const answer = await this.client.request(node, options).catch(() => null);
      return answer?.status === 201 ? answer.json() : null;
    });
  }

  async pause(from, to) {
    await sleep(this.roll.between(from, to));
  }

  /** Runs clients at the same time; each gets its name. */
  async together(count, client) {
    await Promise.all(Array.from({ length: count }, (_, at) => client(`c${at + 1}`, at)));
  }

  view(site) {
    return { path: `/p/${site.unlisted_token}/`, headers: { accept: 'application/json' } };
  }
}

export const cookies = (answer) =>
  (answer.headers['set-cookie'] ?? [])
    .map((cookie) => cookie.split(';')[0])
    .filter((cookie) => !cookie.endsWith('='))
    .join('; ');

export const formToken = (answer) => answer.text().match(/name="form_token" value="([^"]+)"/)?.[1];
