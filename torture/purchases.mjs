// Purchases on every rail that are begun, cut off when the server is killed, and finished as an agent would.

import assert from 'node:assert/strict';
import { mppxClient } from '../e2e/mpp/clients.mjs';
import { until } from '../e2e/server.mjs';

const CARD = '4242424242424242';
/** In cents: a key, what is paid for one by link, a page. */
export const KEY_PRICE = 100;
export const LINK_AMOUNT = 600;
export const PAGE_PRICE = 50;

/** Whether a payment is still held by the process that was killed. */
const isHeld = (answer) => answer.status === 409 && answer.json().error === 'payment_in_flight';

/** A key for the holder of a pay link. */
export class LinkPurchase {
  constructor(shop, feature = 'provision', key) {
    Object.assign(this, { shop, feature, key, cut: 0 });
  }

  async create() {
    const body = { feature: this.feature, amount_minor: LINK_AMOUNT };
    const answer = await this.shop.post('/pay/sessions', { body, key: this.key });
    assert.equal(answer.status, 201, answer.text());
    this.session = answer.json();
  }

  /** Opens the payment form; null when the node was killed. */
  async open() {
    const path = new URL(this.session.url).pathname;
    try {
      const answer = await this.shop.request({ method: 'POST', path, headers: { origin: `http://${this.shop.host}` } });
      assert.equal(answer.status, 303, answer.text());
      const { location } = answer.headers;
      // A paid link leads back to its page.
      if (location.includes('/form/')) this.checkout = location.split('/').at(-1);
      return location;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return null;
    }
  }

  async pay() {
    const paid = await this.shop.processor.pay(this.checkout, CARD);
    assert.equal(paid.status, 200, JSON.stringify(paid.body));
    this.shop.charged += LINK_AMOUNT;
  }

  /** One poll; the state, or null when the node was killed. */
  async poll() {
    try {
      const answer = await this.shop.request({ path: `/pay/sessions/${this.session.code}/poll` });
      assert.equal(answer.status, 200, answer.text());
      const polled = answer.json();
      this.shop.deliver(this, polled.api_key);
      this.wasDelivered = polled.key_delivered;
      return polled.status;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      this.cut += 1;
      return null;
    }
  }

  /** Polls like a client, until something is known: the server does not ask the processor each time. */
  async wait() {
    return until('something other than pending', async () => {
      const state = await this.poll();
      return state !== 'pending' && { state };
    }, { every: 300 });
  }

  /** As the agent and the payer go on after the kill. */
  async finish() {
    await this.open();
    const { payment_status } = await this.shop.ask(`/v1/checkout/sessions/${this.checkout}`);
    if (payment_status === 'unpaid') await this.pay();
    await until('a completed session', async () => (await this.poll()) === 'completed', { every: 300 });
    if (this.feature !== 'provision') return;
    const keys = this.shop.delivered.get(this);
    // A response that the kill cut off took the key with it, because a key is sent once.
    if (this.cut && keys.size === 0) assert.equal(this.wasDelivered, true);
    else assert.equal(keys.size, 1);
    for (const key of keys) assert.equal((await this.shop.request({ path: '/me', key })).status, 200);
    assert.equal(await this.poll(), 'completed');
    assert.ok(this.shop.delivered.get(this).size <= 1, 'the key was sent twice');
  }
}

/** A key for a shared payment token. */
export class TokenPurchase {
  constructor(shop, name) {
    Object.assign(this, { shop, once: name });
  }

  async create() {
    const limits = { 'usage_limits[currency]': 'usd', 'usage_limits[max_amount]': KEY_PRICE, payment_method: 'pm_card_visa' };
    this.token = (await this.shop.ask('/v1/test_helpers/shared_payment/granted_tokens', limits)).id;
    this.body = { acp_shared_payment_token: this.token };
  }

  async buy() {
    const answer = await this.shop.post('/provision', { body: this.body, once: this.once });
    if (answer?.status === 200) this.shop.deliver(this, answer.json().api_key);
    return answer;
  }

  async finish() {
    const bought = async () => {
      const answer = await this.buy();
      if (answer.status === 200) return true;
      assert.ok(isHeld(answer), `${answer.status} ${answer.text()}`);
      return false;
    };
    await until('a key for the token', bought, { every: 500 });
    this.shop.charged += KEY_PRICE;
    assert.equal(this.shop.delivered.get(this).size, 1, 'two keys for one token');
    const used = await this.shop.ask(`/v1/shared_payment/granted_tokens/${this.token}`);
    assert.equal(used.usage_details.amount_captured.value, KEY_PRICE);
    const [key] = this.shop.delivered.get(this);
    assert.equal((await this.shop.request({ path: '/me', key })).status, 200);
  }
}

/** A key for a mandate that names a shared payment token. */
export class MandatePurchase extends TokenPurchase {
  async create() {
    await super.create();
    const { ap2 } = (await this.shop.request({ path: '/provision' })).json();
    this.body = { ap2_mandate: this.shop.issuer.mandate(ap2, this.token) };
  }
}

/** A key for an MPP credential, made by the official client. */
export class MppPurchase {
  constructor(shop) {
    this.shop = shop;
  }

  /** Pays; null when the node was killed. The client's own request carries the credential. */
  async buy() {
    const recordingFetch = (input, options) => {
      this.credential = new Headers(options.headers).get('authorization');
      return fetch(input, options);
    };
    try {
      const answer = await mppxClient(recordingFetch).fetch(`${this.shop.node.url}/provision`, { method: 'POST' });
      if (answer.status === 200) this.shop.deliver(this, (await answer.json()).api_key);
      return answer;
    } catch (error) {
      if (error instanceof TypeError) return null;
      throw error;
    }
  }

  async finish() {
    const headers = { authorization: this.credential };
    await until('a key for the credential', async () => {
      const answer = await this.shop.request({ method: 'POST', path: '/provision', headers });
      if (answer.status === 200) this.shop.deliver(this, answer.json().api_key);
      else assert.ok(isHeld(answer), `${answer.status} ${answer.text()}`);
      return answer.status === 200;
    }, { every: 500 });
    assert.equal(this.shop.delivered.get(this).size, 1, 'two keys for one credential');
    this.shop.settled += 1;
  }
}

/** A page from the balance of an account. */
export class PagePurchase {
  constructor(shop, key, name) {
    Object.assign(this, { shop, key, once: name });
  }

  async buy() {
    const body = { html: `<!doctype html><title>${this.once}</title><p>${this.once}` };
    const answer = await this.shop.post('/publish', { body, key: this.key, once: this.once });
    if (answer?.status === 201) this.shop.deliver(this, answer.json().url);
    return answer;
  }

  async finish() {
    const bought = async () => {
      const answer = await this.buy();
      assert.ok([201, 409].includes(answer.status), `${answer.status} ${answer.text()}`);
      return answer.status === 201;
    };
    await until('a page', bought, { every: 300 });
    assert.equal(this.shop.delivered.get(this).size, 1, 'two pages for one purchase');
  }
}
