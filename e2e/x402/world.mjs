// The two settings every paying client is put in: `live`, where money moves on chains of our own through the official
// facilitator, and `sandbox`, the server as it comes, with neither. What is asked of a client is the same in both.

import { startServer } from '../server.mjs';
import { account, startEvm } from './evm.mjs';
import { solanaSponsor, startFacilitator } from './facilitator.mjs';
import { startSolana, wallet } from './solana.mjs';

export const SETTINGS = ['live', 'sandbox'];

/** Who plays whom; the first development account is the facilitator's. */
export const PAYERS = {
  typescript2: account(2),
  typescript1: account(3),
  python: account(4),
  author: account(5),
  other: account(6),
  stranger: account(7),
};
export const solanaPayer = () => wallet(1);
const evmPayTo = account(1).address;
const solanaPayTo = async () => (await wallet(2)).address;

const FUNDS = 100_000_000n;

/** Starts all there is in a setting; `stop` ends it again. `env` are more settings of the server, of the chains. */
export async function startWorld(setting, { env = () => ({}) } = {}) {
  const parts = [];
  const stop = async () => {
    for (const part of parts.splice(0).reverse()) await part.stop();
  };
  const add = async (starting) => {
    const part = await starting;
    parts.push(part);
    return part;
  };
  try {
    const solana = await add(chainOfSolana(setting));
    if (setting === 'sandbox') return { setting, solana, server: await add(startServer()), stop };
    const funded = Object.fromEntries(Object.values(PAYERS).map(({ address }) => [address, FUNDS]));
    const evm = await add(startEvm({ funded }));
    const facilitator = await add(startFacilitator({ evm, solana }));
    const server = await add(
      startServer({
        env: {
          DROPLEAF_PAYMENTS__MODE: 'live',
          DROPLEAF_PAYMENTS__FACILITATOR_URL: facilitator.url,
          DROPLEAF_PAYMENTS__EVM_PAY_TO: evmPayTo,
          DROPLEAF_PAYMENTS__SOLANA_PAY_TO: await solanaPayTo(),
          ...(await env({ evm, solana })),
        },
      }),
    );
    return { setting, solana, evm, facilitator, server, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** In the sandbox nobody holds anything: its client asks a chain for the mint and a recent blockhash only. */
async function chainOfSolana(setting) {
  if (setting === 'sandbox') return startSolana();
  return startSolana({
    funded: { [(await solanaPayer()).address]: FUNDS, [await solanaPayTo()]: 0n },
    wealthy: [(await solanaSponsor()).address],
  });
}

/** What payer and payee hold on the chain that a client pays on; nothing in the sandbox, which has none. */
export async function holdings(world, { chain, payer }) {
  if (world.setting === 'sandbox') return undefined;
  const payTo = chain === 'evm' ? evmPayTo : await solanaPayTo();
  return { payer: await world[chain].balance(payer), payTo: await world[chain].balance(payTo) };
}
