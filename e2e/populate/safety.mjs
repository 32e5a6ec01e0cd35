// Fills the tables of content safety: reports, signals, takedowns with evidence, blocked content, appeals and a suspended account.

import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { multipart, publish, request } from '../http.mjs';
import * as samples from '../samples.mjs';
import { command, until } from '../server.mjs';
import { query } from './database.mjs';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** A page that the phishing check refuses. */
const phishing = (title) => `<!doctype html><title>${title}</title><h1>Log in to PayPal</h1>
<form action="/elsewhere"><label>Password <input type=password name=p></label><button>Log in</button></form>`;

async function report(server, site, fields) {
  const answer = await request(server, { method: 'POST', path: `${site.path}_dropleaf/report`, headers: FORM, body: new URLSearchParams(fields).toString() });
  assert.equal(answer.status, 200, answer.text());
}

/** Three pages that were taken down, reports in every state, and an account that was suspended. */
export async function moderation(server) {
  const key = await command(server, 'account', 'create', 'spammer@example.org', '--plan', 'free');
  const words = 'A letter of a captain who owes nobody anything and says so at length. '.repeat(8);
  const send = (title) => publish(server, { name: 'page.html', bytes: samples.html(title, `<h1>${title}</h1><p>${title}. ${words}</p>`), key });
  const [kept, erased, forgotten] = [await send('Win a prize'), await send('Free phones'), await send('Wrongly taken down')];
  await report(server, kept, { reason: 'phishing', comment: 'It asks for my card.', contact: 'ada@example.org' });
  await report(server, kept, { reason: 'malware' });
  await command(server, 'takedown', kept.id, '--reason', 'a fraud');
  await command(server, 'takedown', erased.id, '--reason', 'a fraud too');
  await command(server, 'evidence', erased.id, '--erase', '--reason', 'not needed');
  await command(server, 'takedown', forgotten.id, '--reason', 'a mistake');
  await command(server, 'unwanted', 'forget', forgotten.id, '--reason', 'it was fine');

  const [open, dismissed] = [await publish(server, { name: 'page.html', bytes: samples.html('Reported'), key }), await publish(server, { name: 'page.html', bytes: samples.html('Harmless'), key })];
  await report(server, open, { reason: 'other', comment: 'I do not like pears.' });
  await report(server, dismissed, { reason: 'other' });
  await command(server, 'reports', 'dismiss', dismissed.id, '--reason', 'harmless');
  await command(server, 'account', 'suspend', 'spammer@example.org', '--reason', 'fraud');
  return samples.html('Win a prize', `<h1>Win a prize</h1><p>Win a prize. ${words}</p>`);
}

/** A document that two networks published without an account: the signal about one copy is dismissed, the other has a warning. */
export async function signals(server) {
  const bytes = samples.html('Copied', '<h1>Copied</h1><p>The same from two networks.</p>');
  const copies = [];
  for (const localAddress of ['127.0.0.1', '127.0.0.2']) {
    const agent = new http.Agent({ localAddress });
    copies.push(await publish(server, { name: 'page.html', bytes, agent }));
    agent.destroy();
  }
  await until('two signals', async () => (await query(server, 'SELECT COUNT(*) FROM reports WHERE signal IS NOT NULL')) === '2', { every: 200 });
  await command(server, 'reports', 'dismiss', copies[0].id, '--reason', 'an example');
}

async function send(server, to, bytes, fields, key) {
  const form = await multipart({ fields, file: { name: 'page.html', bytes } });
  return request(server, { method: 'POST', path: to, headers: form.headers, body: form.body, key });
}

/** `status` is 200 for content that is under appeal already. */
async function appeal(server, bytes, fields, { key, status = 201 } = {}) {
  const refused = await send(server, '/sites', bytes, {}, key);
  assert.equal(refused.status, 422, refused.text());
  const sent = await send(server, '/appeals', bytes, fields, key);
  assert.equal(sent.status, status, sent.text());
}

/** Appeals that stay open: one with two senders, one about content that is like a page that was taken down. */
export async function openAppeals(server, key, unwanted) {
  const drill = phishing('A drill');
  await appeal(server, drill, { comment: 'A drill for our own staff.', contact: 'sam@example.org' });
  await appeal(server, drill, { comment: 'I need it too.', contact: 'tom@example.org' }, { key, status: 200 });
  await appeal(server, unwanted, { comment: 'I wrote it first.' }, { key });
  await appeal(server, phishing('To be allowed'), { contact: 'sam@example.org' }, { key });
  await appeal(server, phishing('To be refused'), { contact: 'eve@example.org' });
}

/** Decides two appeals while no server runs, so that the emails about it are still to be sent. */
export async function decideAppeals(server) {
  const { appeals } = JSON.parse(await command(server, 'appeals', '--json'));
  const id = (title) => appeals.find((one) => one.title === title).id;
  await command(server, 'appeals', 'allow', id('To be allowed'), '--answer', 'A drill: fine.');
  await command(server, 'appeals', 'uphold', id('To be refused'), '--answer', 'It asks for a password.');
}

/**
 * Takes down a page whose body cannot be read, so that its evidence is not sealed yet and the page that the operator named
 * still waits. Gives a function that repairs the body; it is called when the server has stopped.
 */
export async function unsealedTakedown(server, key) {
  const noise = createHash('shake256', { outputLength: 3000 }).update('unsealed').digest('hex');
  const site = await publish(server, { name: 'page.html', bytes: samples.html('Unsealed', `<p>${noise}</p>`), key });
  const file = await newestObject(path.join(server.dataDir, 'blobs'));
  const bytes = await readFile(file);
  await writeFile(file, Buffer.alloc(bytes.length));
  // It says that the evidence could not be sealed.
  await command(server, 'takedown', site.id, '--page', 'index.html', '--reason', 'a test of the seal').catch(() => {});
  await until('a failed attempt to seal', async () => Number(await query(server, 'SELECT COUNT(*) FROM sealing_tries')) > 0);
  return () => writeFile(file, bytes);
}

async function newestObject(folder) {
  const names = await readdir(folder, { recursive: true });
  const files = await Promise.all(names.map(async (name) => ({ name, about: await stat(path.join(folder, name)) })));
  const newest = files.filter(({ about }) => about.isFile()).sort((a, b) => b.about.mtimeMs - a.about.mtimeMs)[0];
  return path.join(folder, newest.name);
}
