// Forwards TCP connections to a port that the test chooses for each one, and says when bytes went through.

import net from 'node:net';
import { once } from 'node:events';

/** `choose` gives the port for a new connection; `onBytes` is called when the client sent something. */
export async function startForwarder(choose, onBytes = () => {}) {
  const sockets = new Set();
  const server = net.createServer((client) => {
    const target = net.connect(choose(), '127.0.0.1');
    for (const [socket, other] of [[client, target], [target, client]]) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', onBytes);
    client.pipe(target).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: server.address().port,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
