// The official MPP clients, unmodified, in one form: {name, chain, payer, pay}. `pay(url, {headers, body})` posts, pays
// what is asked, and returns {status, header, text, receipt, credentials}: the receipt as the client's own parser reads
// it, and every payment header that the client sent, as [name, value].

import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Receipt } from 'mppx';
import { evm, Mppx } from 'mppx/client';
import { ROOT } from '../server.mjs';
import { keyOf } from '../x402/evm.mjs';
import { PAYERS } from '../x402/world.mjs';

/** In US dollars: the price of the most expensive purchase in these tests. */
const MAX_AMOUNT = '2.00';

const PAYMENT_HEADERS = ['authorization', 'payment-authorization', 'payment-signature', 'x-payment'];

/** The payment headers of a request; an API key in `Authorization` is not one. */
const paymentHeaders = (headers) =>
  PAYMENT_HEADERS.map((name) => [name, headers.get(name)]).filter(([, value]) => value !== null && !value.startsWith('Bearer '));

/** The client `mppx`, which sends its requests through `fetch`. */
export function mppxClient(fetch) {
  const method = evm.charge({ account: PAYERS.author, currencies: [evm.assets.base.USDC], maxAmount: MAX_AMOUNT });
  return Mppx.create({ polyfill: false, fetch, methods: [method] });
}

export const mppx = {
  name: 'mppx',
  chain: 'evm',
  payer: PAYERS.author.address,
  pay: async (url, init) => {
    const credentials = [];
    const recordingFetch = (input, options) => {
      credentials.push(...paymentHeaders(new Headers(options.headers)));
      return fetch(input, options);
    };
    const answer = await mppxClient(recordingFetch).fetch(url, { method: 'POST', ...init });
    return {
      status: answer.status,
      header: (name) => answer.headers.get(name),
      text: await answer.text(),
      receipt: answer.headers.has('Payment-Receipt') ? Receipt.fromResponse(answer) : null,
      credentials,
    };
  },
};

/** A process for each payment: the request on its standard input, the result on its standard output. */
export const pympp = {
  name: 'pympp',
  chain: 'evm',
  payer: PAYERS.other.address,
  pay: async (url, { headers, body } = {}) => {
    const script = fileURLToPath(new URL('python_client.py', import.meta.url));
    const env = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', EVM_KEY: keyOf(PAYERS.other), MAX_AMOUNT };
    const run = promisify(execFile)(path.join(ROOT, '.test/venv/bin/python'), [script], { env });
    run.child.stdin.end(JSON.stringify({ url, headers, body }));
    const { headers: received, requests, ...answer } = JSON.parse((await run).stdout);
    return {
      ...answer,
      header: (name) => received[name.toLowerCase()] ?? null,
      credentials: requests.flatMap((sent) => paymentHeaders(new Headers(sent))),
    };
  },
};
