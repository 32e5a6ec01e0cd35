// An issuer of mandates (AP2 v0.1): a key of its own, the file that makes a server trust it, and its signature.

import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir } from '../e2e/server.mjs';

const KID = 'torture';

export async function createIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const dir = await tempDir('issuer');
  const file = path.join(dir, 'issuers.json');
  await writeFile(file, JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KID }] }));
  return {
    file,
    /** A mandate for the terms `ap2` of a server, which names this shared payment token. */
    mandate: (ap2, token) => signed(ap2, contents(ap2, token), privateKey),
    stop: () => rm(dir, { recursive: true, force: true }),
  };
}

/** Members in alphabetical order: their canonical form (RFC 8785) is signed. */
function contents(ap2, token) {
  return {
    merchant_agent: ap2.payee.id,
    payment_details_id: ap2.transaction_id,
    payment_details_total: { amount: { currency: ap2.amount.currency, value: ap2.amount.amount / 100 }, label: 'API key' },
    payment_mandate_id: randomUUID(),
    payment_response: { details: { shared_payment_token: token }, method_name: 'stripe_spt', request_id: ap2.transaction_id },
    timestamp: new Date().toISOString(),
  };
}

function signed(ap2, contents, key) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const hash = createHash('sha256').update(JSON.stringify(contents)).digest('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const claims = { aud: ap2.aud, nonce: ap2.nonce, iat, exp: iat + 600, transaction_data: [hash] };
  const text = `${encode({ alg: 'ES256', kid: KID })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return { payment_mandate_contents: contents, user_authorization: `${text}.${signature.toString('base64url')}` };
}
