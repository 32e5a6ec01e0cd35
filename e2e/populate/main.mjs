// Makes a populated store of the current schema and writes it to a folder: node e2e/populate/main.mjs DIR
//
// The folder is a backup (manifest.json, blobs/) whose database is compressed, with what the tests need to use it:
// contents.json and the server's secret key. Everything in it was made by this script, for tests only.

import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { launch } from '../browser.mjs';
import { publish } from '../http.mjs';
import { sessionCookie } from '../people.mjs';
import * as samples from '../samples.mjs';
import { command, operatorKey, startServer, tempDir } from '../server.mjs';
import { startProcessor } from '../stripe/processor.mjs';
import { cardSettings, liveCards, sandboxCards } from './cards.mjs';
import { unfilled, vacuum } from './database.mjs';
import { customDomains } from './domains.mjs';
import { anotherExpiry, dailyEmails, earlierRun, emailed } from './notifications.mjs';
import { livePayments, liveSettings, prepaid, sandboxPayments, startFailingFacilitator } from './payments.mjs';
import { mcpSession, operatorOverview, ownerTicket, people, programPage } from './people.mjs';
import { anonymousPages, ownedPages, secondKey } from './publishing.mjs';
import { decideAppeals, moderation, openAppeals, signals, unsealedTakedown } from './safety.mjs';
import { threads } from './threads.mjs';
import { burn, viewers } from './viewers.mjs';
import { listenedWebhook, programWebhook, startReceiver, webhooks, webhookSettings } from './webhooks.mjs';

const EMAIL = 'owner@example.org';
const SETTINGS = {
  // Small, so that a fixture has objects and stays small itself.
  DROPLEAF_STORAGE__INLINE_BYTES: '2048',
  DROPLEAF_STORAGE__VERSIONS_KEPT: '3',
  // Within what the x402 client pays without being asked.
  DROPLEAF_PAYMENTS__PRICES__CUSTOM_DOMAIN: '0.75',
  DROPLEAF_PAYMENTS__PRICES__HIGHER_LIMITS: '1.00',
  // The same in every fixture, and nobody's.
  DROPLEAF_SECRET_KEY: '7e57'.repeat(16),
};

/** Everything that needs a server with the defaults. */
async function firstRun(server, browser, key) {
  const operator = await operatorKey(server);
  const pages = { ...(await ownedPages(server, key)), ...(await anonymousPages(server, key)) };
  await secondKey(server, key);
  const seen = await viewers(server, browser, key, pages);
  const paid = await sandboxPayments(server, key);
  await sandboxCards(server);
  const unwanted = await moderation(server);
  await openAppeals(server, key, unwanted);
  const contents = Object.entries({ ...pages, paid: paid.page }).map(([name, { site, ...facts }]) => [name, facts]);
  return { base_url: server.url, email: EMAIL, key, operator_key: operator, provisioned_key: paid.key, ...seen, pages: Object.fromEntries(contents) };
}

/** Everything that must still be open when the server stops, or that needs other settings. `repair` is called after that. */
async function secondRun(server, browser, { key, pages }, { facilitator, processor, receiver }) {
  await webhooks(server, receiver, key);
  await operatorOverview(server, browser);
  await livePayments(server, facilitator);
  await prepaid(server, EMAIL, key);
  await liveCards(server, processor, key);
  await emailed(server);
  const { page, accessToken } = await people(server, browser);
  pages.program = await programPage(server, page, accessToken);
  await programWebhook(server, receiver, accessToken, pages.program);
  await mcpSession(server, key, pages.comments, await threads(server, key, pages.comments));
  await anotherExpiry(server, key, pages.soon);
  const repair = await unsealedTakedown(server, key);
  const annKey = await command(server, 'account', 'key', 'ann@example.org');
  await listenedWebhook(server, annKey);
  await dailyEmails(server, annKey);
  await ownerTicket(server, page, await publish(server, { name: 'page.html', bytes: samples.html('Of Ann'), key: annKey }));
  await burn(server, browser, pages.burnt);
  await signals(server);
  return { repair, session_cookie: await sessionCookie(page), access_token: accessToken };
}

async function populate(dataDir) {
  const browser = await launch();
  const facilitator = await startFailingFacilitator();
  const receiver = await startReceiver();
  let server, processor;
  try {
    const { port, key, page } = await earlierRun(dataDir, SETTINGS, EMAIL);
    server = await startServer({ dataDir, port, env: SETTINGS });
    const contents = await firstRun(server, browser, key);
    contents.pages.soon = page;
    await server.stop();
    processor = await startProcessor({ url: `${server.url}/webhooks/stripe` });
    const live = { ...SETTINGS, ...liveSettings(facilitator), ...cardSettings(processor) };
    const attention = { DROPLEAF_SAFETY__ATTENTION: 'interstitial', DROPLEAF_SAFETY__ATTENTION_COPIES: '2' };
    const env = { ...live, ...webhookSettings, ...attention, DROPLEAF_SWEEP__EVERY_SECONDS: '1', DROPLEAF_OAUTH__REFRESH_REUSE: 'tolerate_lost' };
    server = await startServer({ dataDir, port: server.port, env });
    const { repair, ...secrets } = await secondRun(server, browser, contents, { facilitator, processor, receiver });
    await server.stop();
    // After the second run, which would check these names again, and before the repair, so that the takedown stays unfinished.
    contents.pages.domain = await customDomains(server, live, contents.key);
    await repair();
    await decideAppeals(server);
    return { server, contents: { ...secrets, ...contents } };
  } finally {
    await server?.stop();
    await facilitator.stop();
    await receiver.stop();
    await processor?.stop();
    await browser.close();
  }
}

/** Backs the stopped server's store up into `dir`, and adds what the tests need. */
async function write(dir, server, contents) {
  await vacuum(server);
  await command(server, 'backup', dir);
  const manifest = JSON.parse(await readFile(path.join(dir, 'manifest.json'), 'utf8'));
  const database = path.join(dir, 'dropleaf.db');
  const missing = await unfilled(database);
  if (missing.length) throw new Error(`no value in any row, extend e2e/populate: ${missing.join(', ')}`);
  await writeFile(`${database}.gz`, gzipSync(await readFile(database), { level: 9 }));
  await rm(database);
  await writeFile(path.join(dir, 'test-only.secret.key'), `${SETTINGS.DROPLEAF_SECRET_KEY}\n`);
  await writeFile(path.join(dir, 'contents.json'), `${JSON.stringify(contents, null, 2)}\n`);
  return manifest;
}

const [target] = process.argv.slice(2);
if (!target || existsSync(target)) {
  console.error(target ? `${target} exists already` : 'usage: node e2e/populate/main.mjs DIR');
  process.exit(64);
}
const dataDir = await tempDir('populate');
try {
  const { server, contents } = await populate(dataDir);
  const dir = path.resolve(target);
  const { schema, rows } = await write(dir, server, contents).catch(async (error) => {
    await rm(dir, { recursive: true, force: true });
    throw error;
  });
  console.log(`schema ${schema}, ${Object.values(rows).reduce((sum, count) => sum + count)} rows: ${target}`);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
