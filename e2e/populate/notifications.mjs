// Fills the tables of emails to owners: emails about comments and an expiry that were sent, and what waits for the next ones.

import { startClock } from '../domains/clock.mjs';
import { api, publish } from '../http.mjs';
import * as samples from '../samples.mjs';
import { command, startServer, until } from '../server.mjs';
import { query } from './database.mjs';
import { record } from './publishing.mjs';

/**
 * Runs a server whose clock is behind, so that a page of the owner has only a sixth of its life left when the next server
 * starts. Gives the owner's key and the page.
 */
export async function earlierRun(dataDir, env, email) {
  const clock = await startClock();
  let server;
  try {
    await clock.advance('-30h');
    server = await startServer({ dataDir, env: { ...env, ...clock.env } });
    const key = await command(server, 'account', 'create', email);
    await api(server, key)('PATCH', '/me', { notify: 'instant' });
    const bytes = samples.html('Expires soon');
    const site = await publish(server, { name: 'page.html', bytes, fields: { expires_in_hours: '36' }, key });
    return { port: server.port, key, page: record(site, bytes) };
  } finally {
    await server?.stop();
    await clock.stop();
  }
}

const count = async (server, table) => Number(await query(server, `SELECT COUNT(*) FROM ${table}`));

/** Waits for the emails about a comment and about an expiry, half a minute after the start of the server. A pause follows each. */
export async function emailed(server) {
  await until('two emails', async () => (await count(server, 'email_pauses')) >= 2, { every: 500 });
}

/** Changes the expiry of a page, about which its owner is emailed again after the pause. */
export async function anotherExpiry(server, key, page) {
  await api(server, key)('PATCH', `/sites/${page.id}`, { expires_in_hours: 5 });
  await until('an expiry that waits', async () => (await count(server, 'email_notices WHERE expires_at IS NOT NULL')) > 0);
}

/** An account that gets one email a day. */
export const dailyEmails = (server, key) => api(server, key)('PATCH', '/me', { notify: 'daily' });
