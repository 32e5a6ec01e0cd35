// A raw TCP client for requests that no HTTP library would send.

import net from 'node:net';
import { HANGS } from '../e2e/server.mjs';

/**
 * Connects, sends `parts` one after another, and gathers what comes back until the server closes or `patience` ms pass.
 * Gives {text, statuses, closed, after}: `statuses` are those of every response seen, `after` the ms until the close.
 */
export function exchange(port, parts, { patience = HANGS, enough = () => false } = {}) {
  return new Promise((resolve) => {
    const started = Date.now();
    const chunks = [];
    const socket = net.connect(port, '127.0.0.1');
    let done = false;
    const finish = (closed) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      const statuses = [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map((match) => Number(match[1]));
      resolve({ text, statuses, closed, after: Date.now() - started });
    };
    const timer = setTimeout(() => finish(false), patience);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (enough(Buffer.concat(chunks).toString('latin1'))) finish(false);
    });
    socket.on('error', () => finish(true));
    socket.on('close', () => finish(true));
    socket.on('connect', () => {
      for (const part of parts) socket.write(part);
    });
  });
}

/** Sends `head`, then one byte of `rest` every `every` ms, until the server gives up; gives the ms it took, or null. */
export function drip(port, head, rest, { every = 500, patience = HANGS } = {}) {
  return new Promise((resolve) => {
    const started = Date.now();
    const socket = net.connect(port, '127.0.0.1');
    let at = 0;
    let answer = '';
    const ticker = setInterval(() => socket.writable && socket.write(rest[at++ % rest.length]), every);
    const finish = (gaveUp) => {
      clearInterval(ticker);
      clearTimeout(timer);
      socket.destroy();
      resolve({ gaveUpAfter: gaveUp ? Date.now() - started : null, answer });
    };
    const timer = setTimeout(() => finish(false), patience);
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => finish(true));
    socket.on('close', () => finish(true));
    socket.on('connect', () => socket.write(head));
  });
}

/** Opens `count` connections that send the beginning of a request and then nothing; gives the open sockets. */
export async function holdOpen(port, count, beginning) {
  const sockets = [];
  const open = () =>
    new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.write(beginning);
        sockets.push(socket);
        resolve();
      });
      socket.once('error', reject);
      socket.on('error', () => {});
    });
  for (let left = count; left > 0; left -= 100) await Promise.all(Array.from({ length: Math.min(100, left) }, open));
  return sockets;
}
