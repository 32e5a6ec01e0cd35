// Fills the tables of publishing: pages of every kind and state, their versions, names, counters and stored responses.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { api, publish, request, upload } from '../http.mjs';
import * as samples from '../samples.mjs';
import { seal } from '../sealed.mjs';
import { zip } from '../zip.mjs';

export const PASSWORD = 'correct horse';

/** Bytes that do not compress, the same in every run. */
const noise = (seed, length) => createHash('shake256', { outputLength: length }).update(seed).digest();

/** What the tests need to know about a page: how to find it, and the hash of the document that was uploaded. */
export function record(site, bytes, more = {}) {
  return {
    id: site.id,
    token: site.unlisted_token,
    version: site.version,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    ...more,
  };
}

/** Publishes as the owner and returns the record of the page, with the site itself under `site`. */
async function page(server, key, name, bytes, fields = {}, more = {}) {
  const site = await publish(server, { name, bytes, fields, key });
  return { ...record(site, bytes, more), site };
}

/** Large enough for the object store, compressed and as is. */
const LARGE_TEXT = samples.html('Large page', `<h1>Large page</h1><pre>${noise('text', 6000).toString('hex')}</pre>`);
const LARGE_SECRET = seal(samples.html('Secret', noise('secret', 3000).toString('hex')), { salt: Buffer.alloc(16, 1), iv: Buffer.alloc(12, 2) });

const ARCHIVE_INDEX = samples.html('Archive', '<link rel="stylesheet" href="style.css"><h1>Archive</h1>');
const archive = zip([
  { name: 'index.html', bytes: ARCHIVE_INDEX },
  { name: 'style.css', bytes: 'h1 { color: green }' },
  { name: 'data/values.json', bytes: '{"answer": 42}' },
  { name: 'picture.bin', bytes: noise('picture', 5000) },
]);

/** Pages of the owner, by name. */
export async function ownedPages(server, key) {
  const call = api(server, key);
  const pages = {
    plain: await page(server, key, 'page.html', samples.html('Plain page')),
    markdown: await page(server, key, 'notes.md', samples.markdown),
    pdf: await page(server, key, 'report.pdf', samples.pdf()),
    large: await page(server, key, 'large.html', LARGE_TEXT),
    encrypted: await page(server, key, 'secret.html', LARGE_SECRET, { e2e: 'true' }),
    password: await page(server, key, 'page.html', samples.html('Behind a password'), { password: PASSWORD }, { password: PASSWORD }),
    email_gate: await page(server, key, 'page.html', samples.html('For colleagues'), { email_gate_domain: 'example.org' }),
    public: await page(server, key, 'page.html', samples.html('Public page'), { slug: 'orchard-report' }, { slug: 'orchard-report' }),
    comments: await page(server, key, 'page.html', samples.html('With comments'), { agentation: 'true' }),
    strict: await page(server, key, 'page.html', samples.html('Strict', '<h1>Strict</h1><script>document.title = "ran"</script>'), { csp_strict: 'true' }),
    burn: await page(server, key, 'page.html', samples.html('Read once'), { burn_after_read: 'true' }),
    burnt: await page(server, key, 'page.html', samples.html('Was read'), { burn_after_read: 'true' }),
    expiring: await page(server, key, 'page.html', samples.html('Expires'), { expires_in_hours: '720' }),
    // Expired by the time that the sweep of the second run looks.
    expired: await page(server, key, 'page.html', samples.html('Expired'), { expires_in_hours: '0.0003' }),
    deleted: await page(server, key, 'page.html', samples.html('Deleted'), { slug: 'released-name' }),
    purged: await page(server, key, 'page.html', samples.html('Purged')),
  };
  const files = await publish(server, { name: 'site.zip', bytes: archive, fields: { spa: 'true' }, key });
  pages.archive = { ...record(files, ARCHIVE_INDEX), site: files };
  pages.versions = await versions(server, key, call);
  pages.live = await livePage(server, key);
  await call('DELETE', `/sites/${pages.deleted.id}`);
  await call('DELETE', `/sites/${pages.purged.id}?purge=true`);
  await idempotent(server, key);
  return pages;
}

/** Five versions, of which the server keeps the newest three, and a rollback. */
async function versions(server, key, call) {
  const draft = (n) => samples.html(`Draft ${n}`);
  const first = await page(server, key, 'page.html', draft(1));
  for (let n = 2; n <= 4; n += 1) {
    const answer = await upload(server, { to: first.id, name: 'page.html', bytes: draft(n), key });
    assert.equal(answer.status, 200, answer.text());
  }
  await call('POST', `/sites/${first.id}/rollback`, { version: 3 });
  const site = await call('GET', `/sites/${first.id}`);
  return { ...record({ ...first.site, ...site }, draft(3)), site: first.site };
}

/** A page that updates in the browser and shows its changes, with a title that its new version does not change. */
async function livePage(server, key) {
  const fields = { live: 'true', show_changes: 'true', title: 'Harvest, live' };
  const first = await page(server, key, 'page.html', samples.html('Ten baskets'), fields);
  const bytes = samples.html('Twelve baskets');
  const answer = await upload(server, { to: first.id, name: 'page.html', bytes, key });
  assert.equal(answer.status, 200, answer.text());
  assert.equal(answer.json().title, fields.title);
  return { ...record({ ...first.site, version: 2 }, bytes), site: first.site };
}

/** A request with an Idempotency-Key, sent twice. */
async function idempotent(server, key) {
  const options = { name: 'page.html', bytes: samples.html('Sent twice'), key, headers: { 'idempotency-key': 'a-key-of-the-fixture' } };
  const [first, second] = [await upload(server, options), await upload(server, options)];
  assert.equal(first.status, 201, first.text());
  assert.equal(second.json().id, first.json().id);
}

/** Pages without an account: one unclaimed, one that was replaced with its claim token and that the owner has claimed. */
export async function anonymousPages(server, key) {
  const bytes = samples.html('Anonymous');
  const unclaimed = await publish(server, { name: 'page.html', bytes });
  const claimed = await publish(server, { name: 'page.html', bytes: samples.html('Not claimed yet') });
  const other = samples.html('Claimed');
  const headers = { authorization: `Claim ${claimed.claim_token}` };
  const replaced = await upload(server, { to: claimed.id, name: 'page.html', bytes: other, headers });
  assert.equal(replaced.status, 200, replaced.text());
  await api(server, key)('POST', `/sites/${claimed.id}/claim`, { claim_token: claimed.claim_token });
  return {
    anonymous: { ...record(unclaimed, bytes, { claim_token: unclaimed.claim_token }), site: unclaimed },
    claimed: { ...record({ ...claimed, version: 2 }, other), site: claimed },
  };
}

/** A second key, used once. */
export async function secondKey(server, key) {
  const { key: created } = await api(server, key)('POST', '/api-keys', { name: 'build server' });
  assert.equal((await request(server, { path: '/me', key: created })).status, 200);
}
