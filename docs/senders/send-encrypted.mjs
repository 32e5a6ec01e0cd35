#!/usr/bin/env node
// Encrypts FILE and publishes it; prints the link with its key. Node 20 or later, no packages.
//   [DROPLEAF_URL=http://localhost:8080] [DROPLEAF_KEY=stk_live_…] [PASSPHRASE=…] node send-encrypted.mjs FILE
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

const { DROPLEAF_URL = 'http://localhost:8080', DROPLEAF_KEY, PASSPHRASE } = process.env;
const { subtle } = crypto;
const random = (size) => crypto.getRandomValues(Buffer.alloc(size));
const iterations = PASSPHRASE ? 600_000 : 0;
const [secret, salt, iv, head] = [random(32), random(16), random(12), Buffer.alloc(12)];
head.set([...Buffer.from('E2E1'), PASSPHRASE ? 1 : 0, 1]); // key derivation, flags: packed with gzip
head.writeUInt32BE(iterations, 8);
const aad = Buffer.concat([head, salt, iv]);

const aes = { name: 'AES-GCM', length: 256 };
const derive = async (words) => subtle.deriveKey({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations },
  await subtle.importKey('raw', Buffer.concat([Buffer.from(words), secret]), 'PBKDF2', false, ['deriveKey']), aes, false, ['encrypt']);
const key = PASSPHRASE ? await derive(PASSPHRASE) : await subtle.importKey('raw', secret, aes, false, ['encrypt']);
const sealed = await subtle.encrypt({ name: 'AES-GCM', iv, additionalData: aad }, key, gzipSync(await readFile(process.argv[2])));

const form = new FormData();
form.set('e2e', 'true');
form.set('file', new Blob([aad, sealed]), 'page.e2e');
const headers = DROPLEAF_KEY ? { authorization: `Bearer ${DROPLEAF_KEY}` } : {};
const answer = await fetch(`${DROPLEAF_URL}/sites`, { method: 'POST', headers, body: form });
if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
console.log(`${(await answer.json()).url}#k=${secret.toString('base64url')}`);
