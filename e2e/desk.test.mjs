// A hostile page on the operator's desk, in real Chromium: it is reported, looked at without running or sending anything,
// and taken down in the dashboard; another one by the command line.

import assert from 'node:assert/strict';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT, pictureFile } from './browser.mjs';
import { multipart, publish, request } from './http.mjs';
import { signIn } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import { command, operatorKey, startServer } from './server.mjs';
import { zip } from './zip.mjs';

const WIDE = { viewport: { width: 1280, height: 900 } };

let server, browser, outside, calls, site;

/** A third party's server: counts every connection, whatever is sent. */
async function listen() {
  calls = 0;
  outside = net.createServer((socket) => {
    calls += 1;
    socket.on('error', () => {});
    socket.end('HTTP/1.1 204 No Content\r\n\r\n');
  });
  await new Promise((resolve) => outside.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${outside.address().port}`;
}

const hostile = (evil) => `<!doctype html><html><head><meta charset="utf-8"><title>Members of the orchard</title>
<link rel="preconnect" href="${evil}"><link rel="dns-prefetch" href="${evil}"><link rel="stylesheet" href="style.css">
<link rel="stylesheet" href="${evil}/far.css"><link rel="&#112;reconnect" href="${evil}">
<meta http-equiv="refresh" content="0;url=${evil}/refreshed">
<style>body { background: url(${evil}/ground.png) } @font-face { font-family: Far; src: url(${evil}/far.woff) } h1 { font-family: Far }</style>
</head><body onload="document.title = 'ran'"><h1>Members of the orchard</h1>
<script>document.body.dataset.ran = 'yes'; fetch('${evil}/fetched'); new Image().src = '${evil}/image';</script>
<img src="${evil}/pixel.png"><img src="leaf.svg" alt="leaf"><img src="/healthz?from=page">
<video src="${evil}/film.mp4" autoplay></video><iframe src="${evil}/frame"></iframe><object data="${evil}/object"></object>
<form action="${evil}/taken"><label>Word <input name="word" value="typed"></label><button>Continue</button></form>
<a id="away" href="${evil}/away" ping="${evil}/ping">Leave</a> <a id="next" href="next.html">Next</a>
<noscript><link rel="preconnect" href="${evil}"><p id="plain">Without scripts</p></noscript></body></html>`;

before(async () => {
  server = await startServer();
  browser = await launch();
  await operatorKey(server);
  const evil = await listen();
  const key = await command(server, 'account', 'create', 'owner@example.org');
  const bytes = zip([
    { name: 'index.html', bytes: hostile(evil) },
    { name: 'style.css', bytes: 'h1 { color: rgb(1, 2, 3) }' },
    { name: 'leaf.svg', bytes: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>' },
    { name: 'next.html', bytes: '<!doctype html><title>Next</title><h1>The next step</h1>' },
  ]);
  site = await publish(server, { name: 'site.zip', bytes, key });
});
after(async () => {
  await browser?.close();
  outside?.close();
  await server?.stop();
});

async function report(reported, fields) {
  const body = new URLSearchParams(fields).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await request(server, { method: 'POST', path: `${reported.path}_dropleaf/report`, headers, body });
  assert.equal(answer.status, 200);
}

const frameOf = (page) => page.frames().find((frame) => frame.url().includes('/look/'));

test('a reported page is looked at safely and taken down', async () => {
  const reader = await openPage(await browser.newContext({ javaScriptEnabled: false }));
  // Straight to the form: the page itself would navigate away at the same moment.
  await reader.goto(new URL('_dropleaf/report', site.url).href);
  await reader.getByLabel('It impersonates someone').check();
  await reader.getByLabel('What did you see?').fill('It is not the orchard.');
  await reader.getByRole('button', { name: 'Send report' }).click();
  await reader.waitForURL(/\?sent$/);
  await reader.context().close();

  const page = await openPage(await browser.newContext(WIDE));
  await signIn(page, server, 'operator@localhost', '/operator/reports');
  calls = 0;
  // What the policy blocks is a request to the browser's tools, but nobody answers it.
  const answered = [];
  page.on('response', (made) => answered.push(made.url()));
  await page.getByRole('link', { name: 'Open safe preview' }).click();
  await page.getByRole('heading', { level: 1, name: 'Members of the orchard' }).waitFor();
  const frame = page.frameLocator('iframe.frame');
  await frame.getByRole('heading', { name: 'Members of the orchard' }).waitFor();
  await frame.locator('#plain').waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: pictureFile('case'), fullPage: true });

  // The style and the picture beside it are there; scripts did not run.
  const inside = await frame.locator('body').evaluate((body) => ({
    ran: body.dataset.ran,
    title: document.title,
    color: getComputedStyle(document.querySelector('h1')).color,
    leaf: document.querySelector('[alt=leaf]').naturalWidth,
    origin: self.origin,
  }));
  assert.deepEqual(inside, { ran: undefined, title: 'Members of the orchard', color: 'rgb(1, 2, 3)', leaf: 9, origin: 'null' });

  // Whatever is pressed, it stays, and nothing is sent.
  const { url } = { url: frameOf(page).url() };
  await frame.getByRole('button', { name: 'Continue' }).click();
  await frame.locator('#away').click();
  const now = page.frames().map((each) => each.url()).filter((each) => each !== page.url());
  assert.ok(now.every((each) => each === url || each.startsWith('chrome-error:') || each === 'about:blank'), now.join(' '));

  await page.reload();
  await frame.locator('#next').click();
  await frame.getByRole('heading', { name: 'The next step' }).waitFor();
  // This request was allowed, and it came after all that were not.
  assert.ok(answered.some((to) => to.endsWith('/next.html')), answered.join(' '));
  assert.equal(calls, 0, 'nobody outside was called');
  assert.deepEqual(answered.filter((to) => to.includes('/healthz')), [], 'nor anything of ours beside the page');

  // The source stands beside it, as text.
  const source = page.getByRole('region', { name: 'Source' });
  assert.ok(await source.getByText('document.body.dataset.ran').count());
  assert.ok(await page.getByText('/taken').count());

  await page.getByLabel('Reason for takedown').fill('It pretends to be the orchard.');
  await page.getByLabel('Also suspend the account').check();
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Take down' }).click();
  await page.getByRole('status').getByText('taken down and account suspended').waitFor();
  await page.getByText('It pretends to be the orchard.').first().waitFor();
  await page.screenshot({ path: path.join(OUTPUT, 'case-down.png'), fullPage: true });
  const gone = await openPage(await browser.newContext());
  assert.equal((await gone.goto(site.url)).status(), 410);
  assert.equal(await gone.textContent('h1'), 'This page was taken down');

  await page.goto(`${server.url}/operator/audit`);
  await page.getByText('took down').waitFor();
  await page.screenshot({ path: path.join(OUTPUT, 'acts.png'), fullPage: true });
  await page.goto(`${server.url}/operator/reports`);
  await page.getByRole('region', { name: 'Recently closed' }).getByText('taken down').waitFor();
});

test('the command line takes a page down and the case tells it', async () => {
  const bad = await publish(server, { name: 'page.html', bytes: '<!doctype html><title>Another</title><h1>Another</h1>' });
  await report(bad, { reason: 'malware' });
  await command(server, 'takedown', bad.url, '--reason', 'found by hand');
  const viewer = await openPage(await browser.newContext());
  assert.equal((await viewer.goto(bad.url)).status(), 410);
  const { reports } = JSON.parse(await command(server, 'reports', '--json'));
  assert.equal(reports.find((one) => one.site_id === bad.id).outcome, 'taken_down');
  assert.equal(JSON.parse(await command(server, 'reports', '--open', '--json')).reports.length, 0);
  const page = await openPage(await browser.newContext(WIDE));
  await signIn(page, server, 'operator@localhost', `/operator/pages/${bad.id}`);
  await page.getByText('found by hand').waitFor();
  await page.getByText('command line').waitFor();
});

const SCAM = `<!doctype html><html><head><title>Northern Harbour Growth Fund</title></head><body>
<h1>Northern Harbour Growth Fund</h1>
<p>For eleven quiet years our members have doubled what they brought to us, and not one of them has ever lost a single coin.
The captain of the fund trades timber, amber and salted fish between four ports, and he shares every profit on the first
Monday of the month.</p>
<p>Bring at least two hundred and fifty in the first week. Within thirty days the harbour pays back five hundred, in cash or
in kind, whichever you like better. Tell three neighbours about it and the next payment arrives a week early.</p>
<p>Places are few this season: only nine remain before the ice closes the harbour. Write to the captain today, and keep this
letter to yourself and to the friends you trust most.</p></body></html>`;

const DISGUISES = {
  'the same bytes under another name': () => ({ name: 'harmless.html', bytes: SCAM }),
  'another title and dress': () => ({
    name: 'page.html',
    bytes: SCAM.replace('<title>Northern Harbour Growth Fund', '<title>Recipes').replace('</head>', '<style>p { color: teal }</style></head>'),
  }),
  'words changed here and there': () => ({ name: 'page.html', bytes: SCAM.replace('eleven', 'twelve').replace('thirty', 'forty') }),
  'hidden characters and comments between the words': () => ({
    name: 'page.html',
    bytes: SCAM.replaceAll(' the ', ' t\u200bhe ').replaceAll('and ', 'and <!-- x -->'),
  }),
  'deep in an archive': () => ({
    name: 'site.zip',
    bytes: zip([
      { name: 'index.html', bytes: '<!doctype html><title>Recipes</title><h1>Recipes</h1>' },
      { name: 'a/b/letter.html', bytes: SCAM },
    ]),
  }),
};

test('what was taken down in the dashboard does not come back, in no disguise', async () => {
  const scam = await publish(server, { name: 'page.html', bytes: SCAM });
  const page = await openPage(await browser.newContext(WIDE));
  await signIn(page, server, 'operator@localhost', `/operator/pages/${scam.id}`);
  await page.getByLabel('Reason for takedown').fill('There is no captain.');
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Take down' }).click();
  await page.getByRole('heading', { name: 'Blocked content' }).waitFor();
  const send = async (file) => {
    const form = await multipart({ fields: {}, file });
    return request(server, { method: 'POST', path: '/sites', headers: form.headers, body: form.body });
  };
  for (const [disguise, dress] of Object.entries(DISGUISES)) {
    const answer = await send(dress());
    assert.equal(answer.status, 422, disguise);
    assert.equal(answer.json().error, 'content_blocked', disguise);
  }

  // A mistake is taken back on the same page.
  await page.getByText('Unblock this content').click();
  await page.getByLabel('Reason for unblocking').fill('There is a captain.');
  await page.getByRole('button', { name: 'Unblock', exact: true }).click();
  await page.getByRole('status').getByText('can be published again').waitFor();
  await page.getByText('Erase it early').click();
  await page.getByLabel('Reason for erasure').fill('Nobody needs it.');
  await page.screenshot({ path: path.join(OUTPUT, 'case-kept.png'), fullPage: true });
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Erase' }).click();
  await page.getByRole('status').getByText('Evidence erased').waitFor();
  assert.equal((await send({ name: 'page.html', bytes: SCAM })).status, 201);
});

test('the desk reads well in every light and width', async () => {
  const fine = await publish(server, { name: 'page.html', bytes: '<!doctype html><title>Orchard report</title><h1>Orchard</h1><form><input type="password" name="secret"></form>' });
  await report(fine, { reason: 'other', comment: 'Please look at this.', contact: 'ada@example.org' });
  for (const [name, view] of [
    ['light', WIDE],
    ['dark', { ...WIDE, colorScheme: 'dark' }],
    ['phone-dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ]) {
    const page = await openPage(await browser.newContext(view));
    await signIn(page, server, 'operator@localhost', `/operator/pages/${fine.id}`);
    await page.screenshot({ path: path.join(OUTPUT, `case-${name}.png`), fullPage: true });
    assertReadable(await page.evaluate(examine), `case ${name}`);
    await page.goto(`${server.url}/operator/reports`);
    await page.screenshot({ path: path.join(OUTPUT, `queue-${name}.png`), fullPage: true });
    assertReadable(await page.evaluate(examine), `queue ${name}`);
    await page.context().close();
  }
});
