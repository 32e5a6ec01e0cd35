// The faults that can be injected into a running cluster and healed again, each under a name. `inject` resolves when the fault is in
// place and fails if it cannot be; `heal` resolves when the part works again. Both may be called more than once.

import { makeFault } from './fault.mjs';
import { startRelay } from './relay.mjs';

const POSTGRES = 5432;

/** Delay of the slow links, in each direction. */
const SLOW_MS = 200;

/** How often connections are reset. */
const CUT_MS = 1_000;

/** Bytes of answers after which a connection is reset: more than the head of an answer, less than a large page. */
const TRUNCATED_BYTES = 20_000;

/** What an overloaded S3 server says. */
const SLOW_DOWN = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>';
const S3_ERROR = `HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/xml\r\nContent-Length: ${SLOW_DOWN.length}\r\nConnection: close\r\n\r\n${SLOW_DOWN}`;

export function makeFaults(cluster) {
  const { database, firewall, network, nodes, s3 } = cluster;
  const faults = [];
  const add = (...fault) => faults.push(makeFault(...fault));
  /** A fault of firewall rules alone. */
  const rules = (change) => async (onHeal) => onHeal(await change());
  /** All databases follow the leader again. */
  const whole = () => database.whole();

  for (const node of nodes) {
    const { name } = node;
    add(`kill-${name}`, `kill -9 of ${name}`, name, async (onHeal) => {
      onHeal(() => node.restart());
      await node.kill();
    });
    add(`pause-${name}`, `SIGSTOP of ${name}`, name, async (onHeal) => {
      onHeal(() => node.resume());
      await node.pause();
    });
    add(`partition-${name}-database`, `everything between ${name} and all databases is lost`, name, rules(() => firewall.drop(node, ...database.members)));
    add(`deafen-${name}-database`, `what the databases send to ${name} is lost`, name, rules(() => firewall.dropFrom(database.members, node)));
    add(`mute-${name}-database`, `what ${name} sends to the databases is lost`, name, rules(() => firewall.dropOneWay(node, ...database.members)));
    add(`strand-${name}`, `the connections of ${name} to the leader are forgotten, new ones work`, name, rules(async () => firewall.strand(node, await database.leader(), POSTGRES)));
    add(`partition-${name}-s3`, `everything between ${name} and S3 is lost`, name, rules(() => firewall.drop(node, s3)));
    const onDatabases = (configure) => async (onHeal) => {
      for (const member of database.members) await relay(onHeal, node, member, POSTGRES, configure);
    };
    const onS3 = (configure) => (onHeal) => relay(onHeal, node, s3, s3.port, configure);
    add(`slow-${name}-database`, `${SLOW_MS} ms more each way between ${name} and the databases`, name, onDatabases(slow));
    add(`stall-${name}-database`, `answers of the databases to ${name} stall, connections stay open`, name, onDatabases(stall));
    add(`cut-${name}-database`, `connections of ${name} to the databases are reset every second`, name, onDatabases(cut));
    add(`slow-${name}-s3`, `${SLOW_MS} ms more each way between ${name} and S3`, name, onS3(slow));
    add(`stall-${name}-s3`, `answers of S3 to ${name} stall, connections stay open`, name, onS3(stall));
    add(`cut-${name}-s3`, `connections of ${name} to S3 are reset every second`, name, onS3(cut));
    add(`error-${name}-s3`, `S3 answers 503 SlowDown to every request of ${name}`, name, onS3(error));
    add(`truncate-${name}-s3`, `answers of S3 to ${name} end after ${TRUNCATED_BYTES} bytes`, name, onS3(truncate));
  }

  add('kill-leader', 'kill -9 of Patroni and PostgreSQL of the leader', 'database', async (onHeal) => kill(onHeal, await database.leader()));
  add('power-off-leader', 'the leader loses power: its connections are not closed', 'database', async (onHeal) => {
    const leader = await database.leader();
    onHeal(whole);
    onHeal(() => leader.restart());
    onHeal(await firewall.isolate(leader));
    await leader.kill();
  });
  add('kill-postgres', 'kill -9 of PostgreSQL of the leader; Patroni starts it again', 'database', async (onHeal) => {
    onHeal(whole);
    await database.killPostgres(await database.leader());
  });
  add('pause-leader', 'SIGSTOP of Patroni and PostgreSQL of the leader', 'database', async (onHeal) => {
    const leader = await database.leader();
    onHeal(whole);
    onHeal(() => leader.resume());
    await leader.pause();
  });
  add('isolate-leader', 'the leader loses etcd and its replicas; nodes still reach it', 'database', async (onHeal) => {
    const leader = await database.leader();
    onHeal(whole);
    onHeal(await firewall.drop(leader, cluster.etcd, ...database.members.filter((member) => member !== leader)));
  });
  add('partition-replicas', 'everything between the leader and its replicas is lost', 'database', async (onHeal) => {
    const leader = await database.leader();
    onHeal(whole);
    onHeal(await firewall.drop(leader, ...database.members.filter((member) => member !== leader)));
  });
  add('kill-replica', 'kill -9 of Patroni and PostgreSQL of a replica', 'database', async (onHeal) => kill(onHeal, (await database.replicas())[0]));
  add('switchover', 'a planned change of the leader', 'database', async (onHeal) => {
    onHeal(whole);
    await database.switchover();
  });
  add('pause-etcd', 'SIGSTOP of etcd: the leader gives up, and there is no new one until it goes on', 'database', async (onHeal) => {
    onHeal(whole);
    onHeal(() => cluster.etcd.resume());
    await cluster.etcd.pause();
  });
  add('kill-s3', 'kill -9 of the S3 server', 's3', async (onHeal) => {
    onHeal(async () => {
      await s3.restart();
      await s3.ready();
    });
    await s3.kill();
  });
  add('pause-s3', 'SIGSTOP of the S3 server', 's3', async (onHeal) => {
    onHeal(() => s3.resume());
    await s3.pause();
  });
  return faults;

  async function kill(onHeal, member) {
    if (!member) throw new Error('there is no replica');
    onHeal(whole);
    onHeal(() => member.restart());
    await member.kill();
  }

  /** Puts a relay between a node and another part. */
  async function relay(onHeal, from, to, port, configure) {
    const between = await startRelay(network.machine, { address: to.address, port });
    onHeal(() => between.close());
    onHeal(configure(between));
    onHeal(await firewall.redirect(from, to, port, between.port));
  }
}

/** What a relay does; each gives the function that ends it. */
const slow = (relay) => {
  relay.delay(SLOW_MS);
  return relay.heal;
};
const stall = (relay) => {
  relay.stall('down');
  return relay.heal;
};
const error = (relay) => {
  relay.answer(S3_ERROR);
  return relay.heal;
};
const truncate = (relay) => {
  relay.truncate(TRUNCATED_BYTES);
  return relay.heal;
};
const cut = (relay) => {
  const timer = setInterval(relay.cut, CUT_MS);
  return () => clearInterval(timer);
};
