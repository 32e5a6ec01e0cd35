// The stock clients of x402, each made to fit one form: {chain, payer, receiptHeader, network, pay, stop}, where
// `pay(url, {headers, body})` posts, pays what is asked, and gives {status, header, text, receipt}; the receipt is what the
// client itself reads from the answer.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { getAddressEncoder, getBase58Decoder } from '@solana/kit';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment as wrapFetchWithPayment1 } from 'x402-fetch';
import { ROOT } from '../server.mjs';
import { keyOf, NETWORK as BASE } from './evm.mjs';
import { keyBytes, NETWORK as SOLANA } from './solana.mjs';
import { PAYERS, solanaPayer } from './world.mjs';

const nothingToStop = async () => {};

/** A client that wraps fetch, as both generations in TypeScript do. */
const fetching = (paying, receiptHeader, decode) => async (url, init) => {
  const answer = await paying(url, { method: 'POST', ...init });
  const header = (name) => answer.headers.get(name);
  const receipt = header(receiptHeader);
  return { status: answer.status, header, text: await answer.text(), receipt: receipt && decode(receipt) };
};

export async function typescript2() {
  const paying = wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(PAYERS.typescript2)));
  const receiptHeader = 'PAYMENT-RESPONSE';
  return {
    chain: 'evm',
    network: BASE,
    payer: PAYERS.typescript2.address,
    receiptHeader,
    pay: fetching(paying, receiptHeader, decodePaymentResponseHeader),
    stop: nothingToStop,
  };
}

export async function typescript1() {
  const signer = await createSigner('base', keyOf(PAYERS.typescript1));
  // Left alone it refuses to pay more than ten cents.
  const paying = wrapFetchWithPayment1(fetch, signer, 1_000_000n);
  const receiptHeader = 'X-PAYMENT-RESPONSE';
  return {
    chain: 'evm',
    network: 'base',
    payer: PAYERS.typescript1.address,
    receiptHeader,
    pay: fetching(paying, receiptHeader, decodeXPaymentResponse),
    stop: nothingToStop,
  };
}

export async function solana2(world) {
  const signer = await solanaPayer();
  const scheme = new ExactSvmScheme(signer, { rpcUrl: world.solana.url });
  const paying = wrapFetchWithPayment(fetch, new x402Client().register('solana:*', scheme));
  const receiptHeader = 'PAYMENT-RESPONSE';
  return {
    chain: 'solana',
    network: SOLANA,
    payer: signer.address,
    receiptHeader,
    pay: fetching(paying, receiptHeader, decodePaymentResponseHeader),
    stop: nothingToStop,
  };
}

/** It tries its transaction out before it signs, so it needs a chain on which it has money. */
export async function solana1(world) {
  const { address } = await solanaPayer();
  const signer = await createSigner('solana', getBase58Decoder().decode(Buffer.concat([keyBytes(1), getAddressEncoder().encode(address)])));
  const paying = wrapFetchWithPayment1(fetch, signer, 1_000_000n, undefined, { svmConfig: { rpcUrl: world.solana.url } });
  const receiptHeader = 'X-PAYMENT-RESPONSE';
  return {
    chain: 'solana',
    network: 'solana',
    payer: address,
    receiptHeader,
    pay: fetching(paying, receiptHeader, decodeXPaymentResponse),
    stop: nothingToStop,
  };
}

/** One process for all it pays: it is told what to post on its standard input, a line each, and answers with a line. */
export async function python() {
  const script = fileURLToPath(new URL('python_client.py', import.meta.url));
  const child = spawn(path.join(ROOT, '.test/venv/bin/python'), [script], {
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', EVM_KEY: keyOf(PAYERS.python) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (complaints += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    chain: 'evm',
    network: BASE,
    payer: PAYERS.python.address,
    receiptHeader: 'PAYMENT-RESPONSE',
    pay: async (url, { headers, body } = {}) => {
      child.stdin.write(`${JSON.stringify({ url, headers, body })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the Python client ended: ${complaints}`);
      const { headers: said, ...answer } = JSON.parse(value);
      return { ...answer, header: (name) => said[name.toLowerCase()] ?? null };
    },
    stop: async () => {
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
}
