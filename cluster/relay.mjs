// A TCP relay that can delay data, stall one direction or both, cut connections, cut answers short, and answer itself, because not
// every kernel can (netem). It runs in the process of the test, on this machine's address in the cluster's network.

import net from 'node:net';

/** Bytes held back in one direction of a connection before the sender has to wait. */
const MOST_HELD = 1 << 20;

/** Relays to `target` ({address, port}). `up` is the direction to the target, `down` the direction from it. */
export async function startRelay(address, target) {
  const connections = new Set();
  const HEALTHY = { delay: 0, up: true, down: true, most: Infinity, answer: undefined };
  let rules = HEALTHY;

  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const other = net.connect({ host: target.address, port: target.port, allowHalfOpen: true });
    const connection = { answered: 0 };
    connection.pipes = [pipe(connection, client, other, 'up'), pipe(connection, other, client, 'down')];
    connection.end = () => {
      connections.delete(connection);
      client.destroy();
      other.destroy();
    };
    connection.reset = () => {
      client.resetAndDestroy();
      other.resetAndDestroy();
      connection.end();
    };
    connections.add(connection);
    for (const socket of [client, other]) {
      socket.setNoDelay(true);
      socket.on('error', connection.end);
      socket.on('close', () => (client.destroyed && other.destroyed ? connection.end() : undefined));
    }
  });

  /** Copies one direction; every chunk waits for the delay, and for the direction to be open. */
  function pipe(connection, from, to, direction) {
    const held = [];
    let bytes = 0;
    let timer;
    const step = () => {
      timer = undefined;
      while (held.length > 0 && rules[direction] && held[0].at + rules.delay <= performance.now()) {
        const { chunk } = held.shift();
        if (to.destroyed) return;
        if (chunk === null) to.end();
        else {
          bytes -= chunk.length;
          to.write(chunk);
        }
      }
      if (bytes < MOST_HELD) from.resume();
      if (held.length > 0 && rules[direction]) timer ??= setTimeout(step, Math.max(1, held[0].at + rules.delay - performance.now()));
    };
    from.on('data', (chunk) => {
      if (rules.answer !== undefined) {
        if (direction === 'up' && !from.writableEnded) from.end(rules.answer);
        return;
      }
      if (direction === 'down' && (connection.answered += chunk.length) > rules.most) {
        connection.reset();
        return;
      }
      held.push({ chunk, at: performance.now() });
      bytes += chunk.length;
      if (bytes >= MOST_HELD) from.pause();
      if (timer === undefined) step();
    });
    from.on('end', () => {
      held.push({ chunk: null, at: performance.now() });
      if (timer === undefined) step();
    });
    from.on('close', () => (from.errored ? to.destroy() : undefined));
    return () => {
      clearTimeout(timer);
      step();
    };
  }

  const change = (next) => {
    rules = { ...rules, ...next };
    for (const connection of connections) for (const step of connection.pipes) step();
  };
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, address, resolve);
  });
  server.unref();
  return {
    port: server.address().port,
    /** Every chunk arrives this much later. */
    delay: (ms) => change({ delay: ms }),
    /** Holds back one direction ('up', 'down') or both; connections stay open. */
    stall: (direction) => change(direction ? { [direction]: false } : { up: false, down: false }),
    /** Resets each connection when its answers have this many bytes. */
    truncate: (bytes) => change({ most: bytes }),
    /** Answers everything that arrives with these bytes, and closes the connection. */
    answer: (bytes) => change({ answer: bytes }),
    heal: () => change(HEALTHY),
    /** Resets all connections, in the middle of whatever they carry; new ones work. */
    cut: () => [...connections].forEach((connection) => connection.reset()),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const connection of [...connections]) connection.end();
      await closed;
    },
  };
}
