// The traffic of the upgrade tests: publishes, views, edits, comments, keys and payments, on all nodes. A request that a node did
// not take (no connection, cut before the response, or 503) is repeated on another, as docs/upgrades.md tells clients; anything
// else that fails is recorded in `failures`.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sandboxCards } from '../e2e/populate/cards.mjs';
import { multipart, request } from '../e2e/http.mjs';
import { HANGS, sleep, until } from '../e2e/server.mjs';
import { hash } from '../torture/fixture.mjs';

const json = { 'content-type': 'application/json' };
/** How long another node may show what was changed: docs/storage.md, Caches. */
const STALE = 5_000;
/** Pages of every fixture whose document is served as it was uploaded. */
const DOCUMENTS = ['plain', 'pdf', 'large', 'encrypted', 'archive', 'strict', 'versions', 'expiring', 'anonymous', 'paid'];
const GONE = ['burnt', 'expired', 'deleted', 'purged'];

export class Traffic {
  #isOver = false;
  #workers = [];
  #next = 0;
  #pinned = new Map();

  /** `nodes` are objects with a `port`; the list may be changed at any time. */
  constructor(store, nodes) {
    this.nodes = nodes;
    this.owner = store.contents.key;
    this.publisher = store.contents.operator_key;
    this.fixed = DOCUMENTS.map((name) => store.contents.pages[name]);
    this.gone = GONE.map((name) => store.contents.pages[name]);
    this.comments = store.contents.pages.comments;
    this.pages = [];
    this.said = [];
    this.failures = [];
    this.done = { publish: 0, view: 0, edit: 0, comment: 0, key: 0, pay: 0 };
    this.retries = 0;
  }

  start() {
    for (const name of ['publish', 'publish', 'view', 'view', 'edit', 'comment', 'key', 'pay']) this.#workers.push(this.#work(name));
  }

  async #work(name) {
    while (!this.#isOver) {
      try {
        await this[name]();
        this.done[name] += 1;
      } catch (error) {
        this.failures.push(`${name}: ${error.stack}`);
        return;
      }
      await sleep(5);
    }
  }

  /** Waits until every kind of request has succeeded `n` more times. */
  async progress(n) {
    const before = { ...this.done };
    const isDone = () => Object.keys(before).every((name) => this.done[name] >= before[name] + n);
    await until('the traffic', () => this.failures.length || isDone(), { timeout: HANGS });
    this.check();
  }

  /** Takes a node out of the list, stops it with SIGTERM while requests to it are under way, and waits for its end. */
  async stop(node) {
    // A payment is made by a person in several steps on one node, so it is the only one that is waited for.
    this.nodes.splice(this.nodes.indexOf(node), 1);
    await until('payments', () => !this.#pinned.get(node));
    const { code, signal } = await node.stop();
    assert.equal(code, 0, `stopped with ${signal ?? code}: ${node.log}`);
  }

  async end() {
    this.#isOver = true;
    await Promise.all(this.#workers);
    this.check();
  }

  check() {
    assert.deepEqual(this.failures, []);
  }

  #pick() {
    this.#next += 1;
    return this.nodes[this.#next % this.nodes.length];
  }

  /** One request, repeated on another node if this one did not take it. */
  async ask(options) {
    const deadline = Date.now() + HANGS;
    for (;;) {
      const node = this.#pick();
      const answer = node && (await request(node, options).catch(() => null));
      if (answer && answer.status !== 503) return answer;
      if (this.#isOver || Date.now() > deadline) throw new Error(`${options.method ?? 'GET'} ${options.path}: not answered`);
      this.retries += 1;
      await sleep(20);
    }
  }

  async publish() {
    const words = randomUUID().repeat(1 + (this.pages.length % 400));
    this.pages.push(await this.#create(`<!doctype html><title>${randomUUID()}</title><p>${words}</p>`));
  }

  async #create(bytes) {
    const { headers, body } = await multipart({ file: { name: 'page.html', bytes } });
    headers['idempotency-key'] = randomUUID();
    const answer = await this.ask({ method: 'POST', path: '/sites', key: this.publisher, headers, body });
    assert.equal(answer.status, 201, answer.text());
    const { id, unlisted_token } = answer.json();
    return { id, token: unlisted_token, sha256: hash(bytes) };
  }

  async view() {
    const all = this.pages.length ? [...this.fixed, ...this.pages.slice(-50)] : this.fixed;
    const page = all[Math.floor(Math.random() * all.length)];
    await this.#shows(page, await this.ask({ path: `/p/${page.token}/` }));
  }

  async #shows(page, answer) {
    assert.equal(answer.status, 200, `${page.id}: ${answer.text()}`);
    assert.equal(hash(answer.bytes), page.sha256, page.id);
  }

  /** Replaces the content of one page again and again; each node shows it within the stated time. */
  async edit() {
    this.edited ??= await this.#create('<!doctype html><title>Edited</title>');
    const bytes = `<!doctype html><title>Edited</title><p>${randomUUID()}</p>`;
    const body = JSON.stringify({ html: bytes });
    const answer = await this.ask({ method: 'PUT', path: `/sites/${this.edited.id}`, key: this.publisher, headers: json, body });
    assert.equal(answer.status, 200, answer.text());
    this.edited.sha256 = hash(bytes);
    for (const node of [...this.nodes]) {
      const shown = async () => {
        if (!this.nodes.includes(node)) return true;
        const page = await request(node, { path: `/p/${this.edited.token}/` }).catch(() => null);
        return page?.status === 200 && hash(page.bytes) === this.edited.sha256;
      };
      await until(`the edit on port ${node.port}`, shown, { timeout: node.isReady === false ? HANGS : STALE });
    }
  }

  async comment() {
    const comment = `Said ${randomUUID()}`;
    const path = `/p/${this.comments.token}/_dropleaf/feedback`;
    const answer = await this.ask({ method: 'POST', path, headers: json, body: JSON.stringify({ comment }) });
    assert.equal(answer.status, 201, answer.text());
    this.said.push(comment);
    await sleep(200);
  }

  /** A key is created on one node, works on the next, and after it is revoked on none. */
  async key() {
    const headers = { ...json, 'idempotency-key': randomUUID() };
    const made = await this.ask({ method: 'POST', path: '/api-keys', key: this.owner, headers, body: JSON.stringify({ name: 'upgrade' }) });
    assert.equal(made.status, 201, made.text());
    const { id, key } = made.json();
    const used = await this.ask({ path: '/sites?limit=1', key });
    assert.equal(used.status, 200, used.text());
    const revoked = await this.ask({ method: 'DELETE', path: `/api-keys/${id}`, key: this.owner });
    // The first attempt may have succeeded without a response.
    assert.ok([200, 404].includes(revoked.status), revoked.text());
    await until('a revoked key', async () => (await this.ask({ path: '/sites?limit=1', key })).status === 401, { timeout: STALE });
  }

  /** Cards in the sandbox: one paid, one open, one declined. */
  async pay() {
    const node = this.#pick();
    if (!node || node.isReady === false) return sleep(20);
    this.#pinned.set(node, (this.#pinned.get(node) ?? 0) + 1);
    try {
      await sandboxCards({ ...node, url: `http://localhost:${node.port}` });
    } finally {
      this.#pinned.set(node, this.#pinned.get(node) - 1);
    }
    return sleep(100);
  }

  /** Reads everything that was acknowledged, on one node. */
  async verify(node) {
    for (const page of [...this.fixed, ...this.pages, ...(this.edited ? [this.edited] : [])]) {
      await this.#shows(page, await request(node, { path: `/p/${page.token}/` }));
    }
    for (const page of this.gone) {
      assert.equal((await request(node, { path: `/p/${page.token}/` })).status, 410, page.id);
    }
    // What is said while the list is read need not be in it.
    const said = [...this.said];
    const listed = new Set();
    for (let cursor; ;) {
      const query = `limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`;
      const answer = await request(node, { path: `/sites/${this.comments.id}/feedback?${query}`, key: this.owner });
      assert.equal(answer.status, 200, answer.text());
      const { feedback, next_cursor } = answer.json();
      for (const { comment } of feedback) listed.add(comment);
      cursor = next_cursor;
      if (!cursor) break;
    }
    for (const comment of said) assert.ok(listed.has(comment), comment);
  }
}
