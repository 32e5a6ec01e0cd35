// The faults that can be injected into a running cluster and healed again, each under a name. `inject` resolves when the fault
// is in place, `heal` when the part works again; both may be called in any order and more than once.

import { startRelay } from './relay.mjs';

const POSTGRES = 5432;

/** Delay of the slow links, in each direction. */
const SLOW_MS = 200;

/** How often connections are reset. */
const CUT_MS = 1_000;

export function makeFaults(cluster) {
  const { database, firewall, network, nodes, s3 } = cluster;
  const faults = [];
  /** `inject` gives the function that heals it. `needs` names what it acts upon, so that a plan can avoid doubles. */
  const add = (name, what, needs, inject) => {
    let heal;
    faults.push({
      name,
      what,
      needs,
      active: () => heal !== undefined,
      async inject() {
        if (heal) return;
        heal = async () => {};
        heal = await inject();
      },
      async heal() {
        // If this fails, for example because a node cannot start while its database is away, it can be tried again.
        await heal?.();
        heal = undefined;
      },
    });
  };

  for (const node of nodes) {
    const { name } = node;
    add(`kill-${name}`, `kill -9 of ${name}`, name, async () => {
      await node.kill();
      return () => node.restart();
    });
    add(`pause-${name}`, `SIGSTOP of ${name}`, name, async () => {
      await node.stop();
      return () => node.cont();
    });
    add(`partition-${name}-database`, `everything between ${name} and all databases is lost`, name, () => firewall.drop(node, ...database.members));
    add(`deafen-${name}-database`, `what the databases send to ${name} is lost`, name, () => undoAll(database.members.map((member) => firewall.dropOneWay(member, node))));
    add(`mute-${name}-database`, `what ${name} sends to the databases is lost`, name, () => firewall.dropOneWay(node, ...database.members));
    add(`strand-${name}`, `the connections of ${name} to the leader are forgotten, new ones work`, name, async () => firewall.strand(node, await database.leader(), POSTGRES));
    add(`partition-${name}-s3`, `everything between ${name} and S3 is lost`, name, () => firewall.drop(node, s3));
    add(`slow-${name}-database`, `${SLOW_MS} ms more each way between ${name} and the databases`, name, () => undoAll(database.members.map((member) => relayed(node, member, POSTGRES, (relay) => relay.delay(SLOW_MS)))));
    add(`stall-${name}-database`, `answers of the databases to ${name} stall, connections stay open`, name, () => undoAll(database.members.map((member) => relayed(node, member, POSTGRES, (relay) => relay.stall('down')))));
    add(`slow-${name}-s3`, `${SLOW_MS} ms more each way between ${name} and S3`, name, () => relayed(node, s3, s3.port, (relay) => relay.delay(SLOW_MS)));
    add(`stall-${name}-s3`, `answers of S3 to ${name} stall, connections stay open`, name, () => relayed(node, s3, s3.port, (relay) => relay.stall('down')));
    add(`cut-${name}-database`, `connections of ${name} to the databases are reset every second`, name, () => undoAll(database.members.map((member) => relayed(node, member, POSTGRES, cutting))));
    add(`cut-${name}-s3`, `connections of ${name} to S3 are reset every second`, name, () => relayed(node, s3, s3.port, cutting));
  }

  add('kill-leader', 'kill -9 of Patroni and PostgreSQL of the leader', 'database', async () => {
    const leader = await database.leader();
    await leader.kill();
    return () => back(leader);
  });
  add('power-off-leader', 'the leader dies without a word to anybody: its connections are not even closed', 'database', async () => {
    const leader = await database.leader();
    const undo = await firewall.isolate(leader);
    await leader.kill();
    return async () => {
      await undo();
      await back(leader);
    };
  });
  add('kill-postgres', 'kill -9 of PostgreSQL of the leader; Patroni starts it again', 'database', async () => {
    await database.killPostgres((await database.leader()).name);
    return () => database.whole();
  });
  add('pause-leader', 'SIGSTOP of Patroni and PostgreSQL of the leader', 'database', async () => {
    const leader = await database.leader();
    await leader.stop();
    return async () => {
      await leader.cont();
      await database.whole();
    };
  });
  add('isolate-leader', 'the leader loses etcd and its replicas; nodes still reach it', 'database', async () => {
    const leader = await database.leader();
    const undo = await firewall.drop(leader, cluster.etcd, ...database.members.filter((member) => member !== leader));
    return async () => {
      await undo();
      await database.whole();
    };
  });
  add('partition-replicas', 'everything between the leader and its replicas is lost', 'database', async () => {
    const leader = await database.leader();
    const undo = await firewall.drop(leader, ...database.members.filter((member) => member !== leader));
    return async () => {
      await undo();
      await database.whole();
    };
  });
  add('kill-replica', 'kill -9 of Patroni and PostgreSQL of a replica', 'database', async () => {
    const [replica] = await database.replicas();
    await replica.kill();
    return () => back(replica);
  });
  add('switchover', 'a planned change of the leader', 'database', async () => {
    await database.switchover();
    return () => database.whole();
  });
  add('kill-s3', 'kill -9 of the S3 server', 's3', async () => {
    await s3.kill();
    return async () => {
      await s3.restart();
      await s3.ready();
    };
  });
  add('pause-s3', 'SIGSTOP of the S3 server', 's3', async () => {
    await s3.stop();
    return () => s3.cont();
  });
  return faults;

  async function back(member) {
    await member.restart();
    await database.whole();
  }

  /** Puts a relay between a node and another part. */
  async function relayed(from, to, port, configure) {
    const relay = await startRelay(network.machine, { address: to.address, port });
    const finish = configure(relay);
    const undo = await firewall.redirect(from, to, port, relay.port);
    return async () => {
      finish?.();
      await undo();
      await relay.close();
    };
  }
}

function cutting(relay) {
  const timer = setInterval(relay.cut, CUT_MS);
  return () => clearInterval(timer);
}

async function undoAll(starting) {
  const undos = await Promise.all(starting);
  return async () => {
    for (const undo of undos) await undo();
  };
}
