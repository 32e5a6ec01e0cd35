// A network of its own for each part of a cluster: one namespace per part, joined by a bridge that lives in a namespace too, so
// that firewall rules of the machine do not reach it. The machine itself is connected as well and can call every part.
// Addresses are of 198.18.0.0/15, which is reserved for tests. Needs root.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { OWNER, removeAtExit, removeOrphans } from './leftovers.mjs';

const run = promisify(execFile);

/** Runs a program to its end; gives its output. */
export async function sh(...command) {
  const { stdout } = await run(command[0], command.slice(1), { maxBuffer: 64 << 20 });
  return stdout;
}

/** Runs a program and hands it a text as its input. */
export async function feed(text, ...command) {
  const running = run(command[0], command.slice(1));
  running.child.stdin.end(text);
  return (await running).stdout;
}

let made = 0;

/** What a cluster needs of the machine; a clear message where it is missing. */
async function requireRights() {
  if (process.getuid() !== 0) throw new Error('cluster: needs root, for network namespaces and firewall rules');
  for (const program of ['ip', 'nft', 'nsenter', 'setpriv', 'ss']) {
    await sh('sh', '-c', `command -v ${program}`).catch(() => {
      throw new Error(`cluster: no \`${program}\`; run scripts/install-test-tools first`);
    });
  }
}

export async function openNetwork() {
  await requireRights();
  removeOrphans();
  removeAtExit();
  // Two may be opened at the same time.
  const number = (made += 1);
  const id = `${OWNER}${number}-`;
  const bridge = `${id}switch`;
  try {
    await addNamespace(bridge);
  } catch (error) {
    throw new Error(`cluster: cannot create a network namespace; a container needs CAP_SYS_ADMIN and CAP_NET_ADMIN (docker run --privileged): ${error.message}`);
  }
  const inBridge = (...args) => sh('ip', '-netns', bridge, ...args);
  await inBridge('link', 'add', 'bridge', 'type', 'bridge');
  await inBridge('link', 'set', 'bridge', 'up');
  const outside = `dl${process.pid}x${number}`;
  await sh('ip', 'link', 'add', outside, 'type', 'veth', 'peer', 'name', 'machine', 'netns', bridge);
  await inBridge('link', 'set', 'machine', 'master', 'bridge', 'up');
  await sh('ip', 'link', 'set', outside, 'up');
  const subnet = await takeSubnet(outside, number);

  let last = 9;
  return {
    id,
    subnet: `${subnet}.0/24`,
    machine: `${subnet}.1`,
    /** A namespace with an address of its own, connected to the others. */
    async join(name) {
      last += 1;
      const namespace = `${id}${name}`;
      const address = `${subnet}.${last}`;
      const port = `port${last}`;
      await addNamespace(namespace);
      const inside = (...args) => sh('ip', '-netns', namespace, ...args);
      await inBridge('link', 'add', port, 'type', 'veth', 'peer', 'name', 'net', 'netns', namespace);
      await inBridge('link', 'set', port, 'master', 'bridge', 'up');
      await inside('address', 'add', `${address}/24`, 'dev', 'net');
      await inside('link', 'set', 'net', 'up');
      await inside('link', 'set', 'lo', 'up');
      return { namespace, address };
    },
  };
}

async function addNamespace(name) {
  await sh('ip', 'netns', 'add', name);
  if (!existsSync(`/run/netns/${name}`)) throw new Error(`no /run/netns/${name}`);
}

/** Gives the interface an address of a subnet that no other interface of this machine has. */
async function takeSubnet(device, number) {
  for (let tries = 0; tries < 512; tries += 1) {
    const at = (process.pid + number * 131 + tries) % 512;
    const subnet = `198.${18 + (at >> 8)}.${at & 255}`;
    const isTaken = async () => (await sh('ip', '-4', 'address')).split(`inet ${subnet}.1/24`).length > 1;
    if (await isTaken()) continue;
    await sh('ip', 'address', 'add', `${subnet}.1/24`, 'dev', device);
    // Another process may have chosen the same one at the same moment: both see it and both move on.
    const takers = (await sh('ip', '-4', 'address')).split(`inet ${subnet}.1/24`).length - 1;
    if (takers === 1) return subnet;
    await sh('ip', 'address', 'delete', `${subnet}.1/24`, 'dev', device);
  }
  throw new Error('cluster: no free subnet in 198.18.0.0/15');
}
