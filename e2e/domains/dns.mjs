// A DNS server whose answers the test decides: pebble-challtestsrv. Pebble asks it where a name leads, and the server under
// test asks it for the records of custom domains. Its data lives in memory.

import path from 'node:path';
import { onFreePorts, startProgram, TOOLS } from './program.mjs';

/** Every name that has no record of its own leads to 127.0.0.1, and to no IPv6 address. */
export function startDns() {
  return onFreePorts(2, async (port, management) => {
    const url = `http://127.0.0.1:${management}`;
    const post = async (operation, body) => {
      const answer = await fetch(`${url}/${operation}`, { method: 'POST', body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${await answer.text()}`);
      return answer;
    };
    const program = await startProgram(
      path.join(TOOLS, 'pebble-challtestsrv'),
      [
        ...['-dnsserver', `127.0.0.1:${port}`, '-management', `127.0.0.1:${management}`],
        ...['-defaultIPv4', '127.0.0.1', '-defaultIPv6', '', '-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', ''],
      ],
      { isReady: async () => (await post('clear-request-history', { type: 'dns', host: 'ready.test' })).ok },
    );
    const dotted = (name) => (name.endsWith('.') ? name : `${name}.`);
    const at = (name) => ({ host: dotted(name) });
    return {
      address: `127.0.0.1:${port}`,
      managementUrl: url,
      setA: (name, ...addresses) => post('add-a', { ...at(name), addresses }),
      clearA: (name) => post('clear-a', at(name)),
      setCname: (name, target) => post('set-cname', { ...at(name), target: dotted(target) }),
      clearCname: (name) => post('clear-cname', at(name)),
      setTxt: (name, value) => post('set-txt', { ...at(name), value }),
      clearTxt: (name) => post('clear-txt', at(name)),
      setCaa: (name, value) => post('add-caa', { ...at(name), policies: [{ tag: 'issue', value }] }),
      clearCaa: (name) => post('clear-caa', at(name)),
      /** From now on queries for the name fail as at a broken server. */
      setServfail: (name) => post('set-servfail', at(name)),
      clearServfail: (name) => post('clear-servfail', at(name)),
      /** The queries for a name so far. */
      queries: async (name) => (await post('dns-request-history', { host: name })).json(),
      /** Where names without a record of their own lead. */
      setDefault: (address) => post('set-default-ipv4', { ip: address }),
      stop: program.stop,
    };
  });
}
