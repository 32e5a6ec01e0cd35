// Single TLS handshakes, as a client that looks at the outcome and not at the page.

import net from 'node:net';
import tls from 'node:tls';

/** Whether something accepts connections at this port. */
export function connects(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/**
 * One handshake with this server name (none: no SNI). Gives `{ protocol, alpn, certificate }` with the certificate in PEM,
 * or `{ alert }` with the code that Node gives an alert or an interruption. The certificate is not judged here: curl and Chromium do that.
 */
export function handshake(port, servername, { alpn = ['h2', 'http/1.1'], ...more } = {}) {
  return new Promise((resolve) => {
    const socket = tls.connect({ host: '127.0.0.1', port, servername: servername ?? '', ALPNProtocols: alpn, rejectUnauthorized: false, ...more });
    socket.setTimeout(30_000, () => socket.destroy(new Error('no answer')));
    socket.once('error', (error) => resolve({ alert: error.code ?? error.message }));
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate();
      const lines = raw.toString('base64').match(/.{1,64}/g).join('\n');
      const certificate = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
      resolve({ protocol: socket.getProtocol(), alpn: socket.alpnProtocol, certificate });
      socket.destroy();
    });
  });
}

