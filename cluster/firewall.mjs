// Firewall rules between the parts of a cluster. Packets are dropped where they arrive, as in a network that loses them: the
// sender learns nothing. Every function gives another one that takes its rules back.

import { feed, sh } from './network.mjs';

export function makeFirewall(network) {
  /** The rules of each part: for packets that arrive, for those that leave, and for addresses that are replaced. */
  const tables = new Map();

  /** The rules are loaded one after another: an older set must not replace a newer one. */
  let loaded = Promise.resolve();
  const load = (part) => {
    const loading = loaded.then(() => loadNow(part));
    loaded = loading.catch(() => {});
    return loading;
  };

  async function loadNow(part) {
    const rules = [...tables.get(part)];
    const lines = (chain) => rules.filter((rule) => rule.chain === chain).map((rule) => `    ${rule.text}`).join('\n');
    // One transaction: there is no moment without rules.
    const text = `table ip faults
delete table ip faults
table ip faults {
  chain arriving {
    type filter hook input priority 0; policy accept;
${lines('arriving')}
  }
  chain leaving {
    type filter hook output priority 0; policy accept;
${lines('leaving')}
  }
${rules.some((rule) => rule.chain === 'replaced') ? `  chain replaced {
    type nat hook output priority -100; policy accept;
${lines('replaced')}
  }
` : ''}}
`;
    await feed(text, ...inside(part), 'nft', '-f', '-');
  }

  /** Adds rules to parts; gives the function that removes them. */
  async function add(rules) {
    const parts = new Set(rules.map((rule) => rule.part));
    const undo = async () => {
      for (const rule of rules) tables.get(rule.part).delete(rule);
      for (const part of parts) await load(part);
    };
    for (const rule of rules) tables.set(rule.part, (tables.get(rule.part) ?? new Set()).add(rule));
    try {
      for (const part of parts) await load(part);
    } catch (error) {
      // Those of some parts may be in place.
      await undo().catch(() => {});
      throw error;
    }
    return undo;
  }

  const drops = (from, to) => to.map((part) => ({ part, chain: 'arriving', text: `ip saddr ${from.address} counter drop` }));

  /** The local ports of the connections that one part has open to a port of another. */
  async function portsOf(from, to, port) {
    const found = await sh(...inside(from), 'ss', '-Htn', 'state', 'established', 'dst', to.address, 'dport', '=', `:${port}`);
    return found.split('\n').filter(Boolean).map((line) => line.trim().split(/\s+/)[2].split(':').at(-1));
  }

  return {
    /** Loses everything that a part sends to the others, in this direction only. */
    dropOneWay: (from, ...to) => add(drops(from, to)),
    /** Loses everything that several parts send to one. */
    dropFrom: (senders, to) => add(senders.flatMap((from) => drops(from, [to]))),
    /** Loses everything between a part and the others, in both directions. */
    drop: (one, ...others) => add([...drops(one, others), ...others.flatMap((other) => drops(other, [one]))]),
    /** Drops all packets between a part and everything but this machine. */
    isolate: (part) => add([
      { part, chain: 'arriving', text: `ip saddr != ${network.machine} iifname "net" counter drop` },
      { part, chain: 'leaving', text: `ip daddr != ${network.machine} oifname "net" counter drop` },
    ]),
    /** Forgets the connections that are open now, as a firewall does that restarts: their packets are lost, new ones work. */
    async strand(from, to, port) {
      const ports = await portsOf(from, to, port);
      if (ports.length === 0) throw new Error(`no connections from ${from.name} to ${to.name}`);
      const undo = await add([
        { part: to, chain: 'arriving', text: `ip saddr ${from.address} tcp sport { ${ports.join(', ')} } counter drop` },
        { part: from, chain: 'arriving', text: `ip saddr ${to.address} tcp dport { ${ports.join(', ')} } counter drop` },
      ]);
      return Object.assign(undo, { connections: ports.length });
    },
    /** Leads new connections from a part to a port of another one to this machine instead, and resets those that are open. */
    async redirect(from, to, port, relayPort) {
      const text = `ip daddr ${to.address} tcp dport ${port} dnat to ${network.machine}:${relayPort}`;
      const undo = await add([{ part: from, chain: 'replaced', text }]);
      try {
        await sh(...inside(from), 'ss', '-K', 'dst', to.address, 'dport', '=', `:${port}`);
      } catch (error) {
        await undo();
        throw error;
      }
      return undo;
    },
    /** How many packets the rules of a part have dropped so far. */
    async dropped(part) {
      const listed = JSON.parse(await sh(...inside(part), 'nft', '-j', 'list', 'ruleset'));
      const counters = listed.nftables.flatMap((item) => item.rule?.expr ?? []).map((expression) => expression.counter?.packets ?? 0);
      return counters.reduce((sum, packets) => sum + packets, 0);
    },
  };
}

const inside = (part) => ['nsenter', `--net=/run/netns/${part.namespace}`, '--'];
