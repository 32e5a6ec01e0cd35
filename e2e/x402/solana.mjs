// Solana on loopback: LiteSVM, which runs the real token program, behind the few JSON-RPC methods that the official x402
// client and facilitator call. The mint stands at the address of USDC, so that stock clients pay with it.

import http from 'node:http';
import {
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  getAddressEncoder,
  getBase58Decoder,
  getProgramDerivedAddress,
  getTransactionDecoder,
  lamports,
} from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';

export const USDC = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
export const NETWORK = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const TOKEN_PROGRAM = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const TOKEN_ACCOUNTS_PROGRAM = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const DECIMALS = 6;

const bytesOf = (of) => getAddressEncoder().encode(of);

/** The key of a test wallet is one byte, repeated: the same in every run, and nobody's. */
export const keyBytes = (byte) => new Uint8Array(32).fill(byte);
export const wallet = (byte) => createKeyPairSignerFromPrivateKeyBytes(keyBytes(byte));

/** Where a wallet keeps its units of the token. */
async function tokenAccount(owner) {
  const seeds = [bytesOf(owner), bytesOf(TOKEN_PROGRAM), bytesOf(USDC)];
  return (await getProgramDerivedAddress({ programAddress: TOKEN_ACCOUNTS_PROGRAM, seeds }))[0];
}

/** The token program's own layout of a mint: no authority, a supply, six decimals, initialised, never frozen. */
function mintData(supply) {
  const data = Buffer.alloc(82);
  data.writeBigUInt64LE(supply, 36);
  data[44] = DECIMALS;
  data[45] = 1;
  return data;
}

/** … and of a holding: mint, owner, amount, no delegate, initialised, not wrapped, nobody else may close it. */
function holdingData(owner, amount) {
  const data = Buffer.alloc(165);
  data.set(bytesOf(USDC), 0);
  data.set(bytesOf(owner), 32);
  data.writeBigUInt64LE(amount, 64);
  data[108] = 1;
  return data;
}

/**
 * Starts a chain on which the wallets named in `funded` hold that many units of the token, and those in `wealthy` the coin
 * that fees are paid with. A wallet that is to receive must be named too, with 0n: no payer opens its account for it.
 */
export async function startSolana({ funded = {}, wealthy = [] } = {}) {
  // It would take the newest blockhash only, where the real chain takes those of the last minute.
  const svm = new LiteSVM().withBlockhashCheck(false);
  const put = (at, data) => {
    const space = BigInt(data.length);
    svm.setAccount({ address: at, data, space, lamports: lamports(10_000_000n), programAddress: TOKEN_PROGRAM, executable: false });
  };
  put(USDC, mintData(Object.values(funded).reduce((sum, amount) => sum + amount, 0n)));
  for (const [owner, amount] of Object.entries(funded)) put(await tokenAccount(owner), holdingData(owner, amount));
  for (const one of wealthy) svm.airdrop(one, lamports(1_000_000_000n));

  const outcomes = new Map();
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks));
    const answer = { jsonrpc: '2.0', id };
    try {
      if (!methods[method]) throw new Error(`the chain of the tests does not know ${method}`);
      answer.result = methods[method](svm, outcomes, params ?? []);
    } catch (error) {
      answer.error = { code: -32000, message: error.message };
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url,
    balance: async (owner) => amountOf(svm, await tokenAccount(owner)) ?? 0n,
    happened: async (signature) => outcomes.get(signature) === null,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function amountOf(svm, at) {
  const found = svm.getAccount(at);
  return found.exists ? Buffer.from(found.data).readBigUInt64LE(64) : undefined;
}

const transaction = (text) => getTransactionDecoder().decode(Buffer.from(text, 'base64'));
const failure = (result) => (result instanceof FailedTransactionMetadata ? result.toString() : null);
const slot = (svm) => svm.getClock().slot;
const told = (svm, value) => ({ context: { slot: slot(svm) }, value });

/** Each gets the chain, what became of what was sent (null: it succeeded), and the parameters of the call. */
const methods = {
  getSlot: slot,
  getBlockHeight: slot,

  getLatestBlockhash: (svm) => told(svm, { blockhash: svm.latestBlockhash(), lastValidBlockHeight: slot(svm) + 150n }),

  getBalance: (svm, _, [of]) => told(svm, svm.getBalance(of) ?? 0n),

  getAccountInfo(svm, _, [of]) {
    const found = svm.getAccount(of);
    if (!found.exists) return told(svm, null);
    const { executable, lamports, programAddress: owner, space } = found;
    const data = [Buffer.from(found.data).toString('base64'), 'base64'];
    return told(svm, { data, executable, lamports, owner, rentEpoch: 0, space });
  },

  getTokenAccountBalance(svm, _, [of]) {
    const amount = amountOf(svm, of);
    if (amount === undefined) throw new Error('could not find account');
    return told(svm, { amount: `${amount}`, decimals: DECIMALS, uiAmountString: `${Number(amount) / 10 ** DECIMALS}` });
  },

  simulateTransaction(svm, _, [text, options]) {
    // The sponsor signs last, so what is tried out before has a hole in place of its signature.
    svm.withSigverify(options?.sigVerify ?? false);
    try {
      const result = svm.simulateTransaction(transaction(text));
      const meta = result.meta();
      return told(svm, {
        err: failure(result),
        logs: meta.logs(),
        unitsConsumed: meta.computeUnitsConsumed(),
        accounts: null,
        innerInstructions: null,
        returnData: null,
      });
    } finally {
      svm.withSigverify(true);
    }
  },

  sendTransaction(svm, outcomes, [text]) {
    const sent = transaction(text);
    const result = svm.sendTransaction(sent);
    const signature = getBase58Decoder().decode(Object.values(sent.signatures)[0]);
    // Sent again, it runs no second time, and the first outcome stands: as on the real chain.
    if (!outcomes.has(signature)) {
      outcomes.set(signature, failure(result));
      // A block for each: a client without a memo would otherwise pay for two things with one transaction.
      svm.expireBlockhash();
    }
    return signature;
  },

  getSignatureStatuses(svm, outcomes, [signatures]) {
    const status = (err) => ({ slot: slot(svm), confirmations: null, err, confirmationStatus: 'finalized' });
    return told(svm, signatures.map((one) => (outcomes.has(one) ? status(outcomes.get(one)) : null)));
  },
};
