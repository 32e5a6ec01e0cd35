// An EVM chain on loopback that a stock x402 client takes for Base: anvil with Base's chain id, and our own token with
// EIP-3009 (token.sol) at the address of USDC. Name, version, chain and address are what a payer signs, so a
// signature made for this token is byte for byte what the real one would get.

import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { createPublicClient, createWalletClient, http } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { base } from 'viem/chains';

export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const NETWORK = 'eip155:8453';

/** The public development accounts that anvil gives ether to; the same on every machine, worth nothing on any. */
export const account = (index) => mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: index });

/** Its key, for programs that are given one as text. */
export const keyOf = (of) => `0x${Buffer.from(of.getHdKey().privateKey).toString('hex')}`;

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Compiles the token; gives its interface and the code that a deployed one has. */
async function compileToken() {
  const require = createRequire(import.meta.url);
  const input = {
    language: 'Solidity',
    sources: { 'token.sol': { content: await readFile(new URL('token.sol', import.meta.url), 'utf8') } },
    settings: {
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { Token: ['abi', 'evm.deployedBytecode.object'] } },
    },
  };
  const output = JSON.parse(require('solc').compile(JSON.stringify(input)));
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'));
  const { abi, evm } = output.contracts['token.sol'].Token;
  return { abi, code: `0x${evm.deployedBytecode.object}` };
}

/** The program itself comes in a package for each kind of machine. */
function anvil() {
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`);
}

/** Starts a chain whose first twenty accounts have ether, and those named in `funded` that many units of the token. */
export async function startEvm({ funded = {} } = {}) {
  const token = await compileToken();
  const child = spawn(anvil(), ['--host', '127.0.0.1', '--port', '0', '--chain-id', '8453', '--accounts', '20'], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = new Promise((resolve) => child.once('close', resolve)).then(() => running.delete(child));
  const url = await listening(child);

  const options = { chain: base, transport: http(url), pollingInterval: 20 };
  const client = createPublicClient(options);
  await client.request({ method: 'anvil_setCode', params: [USDC, token.code] });
  const minter = createWalletClient({ ...options, account: account(0) });
  for (const [address, amount] of Object.entries(funded)) {
    const hash = await minter.writeContract({ address: USDC, abi: token.abi, functionName: 'mint', args: [address, amount] });
    await client.waitForTransactionReceipt({ hash });
  }

  return {
    url,
    client,
    abi: token.abi,
    read: (functionName, ...args) => client.readContract({ address: USDC, abi: token.abi, functionName, args }),
    balance: (address) => client.readContract({ address: USDC, abi: token.abi, functionName: 'balanceOf', args: [address] }),
    /** Whether a transaction of that name is on the chain and did what it was to do. */
    happened: async (hash) => (await client.getTransactionReceipt({ hash })).status === 'success',
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Waits until it says where it listens, and leaves the rest of what it says unread. */
async function listening(child) {
  const said = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const address = line.match(/^Listening on (127\.0\.0\.1:\d+)/)?.[1];
    if (address) {
      child.stdout.resume();
      return `http://${address}`;
    }
    said.push(line);
  }
  throw new Error(`anvil ended before it listened:\n${said.join('\n')}`);
}
