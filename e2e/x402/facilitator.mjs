// The official facilitator as an HTTP server: both generations of x402 on both chains, settling for real. It can be told
// to misbehave, because what a service does with a facilitator that fails is where money gets lost.

import http from 'node:http';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { registerExactSvmScheme } from '@x402/svm/exact/facilitator';
import { createWalletClient, http as transport, publicActions } from 'viem';
import { base } from 'viem/chains';
import * as evmChain from './evm.mjs';
import * as solanaChain from './solana.mjs';

/** The wallets that pay for gas: the first development account, and one of Solana's. */
export const evmSponsor = () => evmChain.account(0);
export const solanaSponsor = () => solanaChain.wallet(3);

async function facilitatorOn({ evm, solana }) {
  const facilitator = new x402Facilitator();
  const account = evmSponsor();
  const wallet = createWalletClient({ account, chain: base, transport: transport(evm.url), pollingInterval: 20 }).extend(publicActions);
  registerExactEvmScheme(facilitator, {
    signer: toFacilitatorEvmSigner({ ...wallet, address: account.address }),
    networks: evmChain.NETWORK,
  });
  registerExactSvmScheme(facilitator, {
    signer: toFacilitatorSvmSigner(await solanaSponsor(), { defaultRpcUrl: solana.url }),
    networks: solanaChain.NETWORK,
  });
  return facilitator;
}

const json = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

/**
 * What can go wrong, by name. Each gets the response, the kind of call, the network asked about, and `act`, which does
 * what was asked for. Only `lost` and `overtaken` do it.
 */
const FAULTS = {
  refuse: (response, call, network) => {
    const reason = 'insufficient_funds';
    if (call === 'verify') json(response, 200, { isValid: false, invalidReason: reason });
    else json(response, 200, { success: false, errorReason: reason, transaction: '', network });
  },
  500: (response) => json(response, 500, { error: 'internal error' }),
  garbage: (response) => json(response, 200, '{"success": tru'),
  mistyped: (response, call, network) =>
    json(response, 200, { isValid: 'true', success: 'true', transaction: `0x${'0'.repeat(64)}`, network }),
  hang: () => {},
  close: (response) => response.destroy(),
  // A third party is faster: `overtake` runs first, then the facilitator does what was requested.
  overtaken: async (response, call, network, act, overtake) => {
    await overtake();
    json(response, 200, await act());
  },
  // The authorization is used between its last look and its sending, so that its transaction reverts.
  reverted: async (response, call, network, act, overtake) => {
    const transaction = await overtake({ reverts: true });
    json(response, 200, { success: false, errorReason: 'invalid_exact_evm_transaction_failed', transaction, network });
  },
  lost: async (response, call, network, act) => {
    await act();
    response.destroy();
  },
};

/**
 * Starts one. `calls` counts what it was asked, by name. `misbehave('settle', 'lost', 'close')` spoils the next calls of
 * that name one after the other; after those it is itself again.
 */
export async function startFacilitator(chains) {
  const facilitator = await facilitatorOn(chains);
  const calls = { verify: 0, settle: 0, supported: 0 };
  const planned = { verify: [], settle: [], supported: [] };

  const server = http.createServer(async (request, response) => {
    const call = new URL(request.url, 'http://facilitator').pathname.slice(1);
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (!Object.hasOwn(calls, call)) return json(response, 404, { error: 'not found' });
    calls[call] += 1;
    const body = chunks.length ? JSON.parse(Buffer.concat(chunks)) : {};
    const act = async () =>
      call === 'supported' ? facilitator.getSupported() : facilitator[call](body.paymentPayload, body.paymentRequirements);
    const fault = planned[call].shift();
    try {
      const overtake = (how) => server.overtake(body.paymentPayload.payload, how);
      if (fault) await FAULTS[fault](response, call, body.paymentRequirements?.network, act, overtake);
      else json(response, 200, await act());
    } catch (error) {
      // What the official server's example does with a payment that no scheme is registered for.
      json(response, 400, { error: error.message });
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    calls,
    /** Submits a payment before the facilitator does, in the faults that need a third party. */
    set overtake(submit) {
      server.overtake = submit;
    },
    misbehave(call, ...faults) {
      for (const fault of faults) if (!FAULTS[fault]) throw new Error(`no such fault: ${fault}`);
      planned[call].push(...faults);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
