// Makes encrypted payloads by hand, with Node's own cryptography rather than the code that is tested.

import { createCipheriv, pbkdf2Sync, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** The vectors of docs/encryption.md. */
export const SECRET = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
export const FRAGMENT = `#k=${SECRET.toString('base64url')}`;
export const VECTORS = {
  plain: Buffer.from('453245310000000000000000a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0b0b0b0b0b0b0b0b0b0b0b0b0c6c2c222f7f6b1da3b3b49c070648cd28bfc19c0a22f1d808d', 'hex'),
  passphrase: Buffer.from('4532453101000000000927c0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0b0b0b0b0b0b0b0b0b0b0b0b03e1dce37433ae1f5673fd531d0dfbea66456f69dc9384d2194', 'hex'),
};

const sealWith = (key, iv, content, aad) => {
  const cipher = createCipheriv(key.length === 16 ? 'aes-128-gcm' : 'aes-256-gcm', key, iv);
  if (aad) cipher.setAAD(aad);
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
};

/** The framed format; every field of the head can be told to lie. */
export function seal(content, { secret = SECRET, passphrase, gzip = false, iterations = passphrase === undefined ? 0 : 600_000, kdf = passphrase === undefined ? 0 : 1, flags = gzip ? 1 : 0, zero = 0, salt = randomBytes(16), iv = randomBytes(12), raw } = {}) {
  const head = Buffer.alloc(40);
  head.write('E2E1');
  head[4] = kdf;
  head[5] = flags;
  head[7] = zero;
  head.writeUInt32BE(iterations, 8);
  salt.copy(head, 12);
  iv.copy(head, 28);
  const key = passphrase === undefined ? secret : pbkdf2Sync(Buffer.concat([Buffer.from(passphrase), secret]), salt, iterations, 32, 'sha256');
  return Buffer.concat([head, sealWith(key, iv, raw ?? (gzip ? gzipSync(content) : Buffer.from(content)), head)]);
}

/** The bare format: IV, ciphertext, tag. */
export function sealBare(content, secret = SECRET, iv = randomBytes(12)) {
  return Buffer.concat([iv, sealWith(secret, iv, Buffer.from(content))]);
}

export const fragment = (secret) => `#k=${secret.toString('base64url')}`;
