// Pages whose files lie at the root of their host, in a real browser: they run, deep links reload, gates hold, and no
// sibling page gets anything by the cookie that lets the viewer in.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { publish, request } from './http.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer } from './server.mjs';
import { zip } from './zip.mjs';

const SECRET = 'only-for-who-has-the-link';
const APP = zip([
  {
    name: 'index.html',
    bytes:
      '<!doctype html><title>App</title><link rel="stylesheet" href="/assets/app.css"><div id="app"></div>' +
      '<script type="module" src="/assets/app.js"></script>',
  },
  { name: 'assets/app.css', bytes: '#app { color: rgb(1, 2, 3) }' },
  { name: 'assets/data.json', bytes: JSON.stringify({ secret: SECRET }) },
  {
    name: 'assets/app.js',
    bytes: `const draw = async () => {
      const { secret } = await (await fetch('/assets/data.json')).json();
      document.getElementById('app').textContent = location.pathname + ' ' + secret;
    };
    addEventListener('popstate', draw);
    window.go = (path) => { history.pushState(null, '', path); return draw(); };
    draw();`,
  },
]);
const shown = (page, path) => page.waitForFunction((text) => document.getElementById('app')?.textContent === text, `${path} ${SECRET}`);

for (const site_host of ['localhost', 'pages.localhost']) {
  describe(`site_host ${site_host}`, () => {
    let server, browser, key;

    before(async () => {
      server = await startServer({ siteUrl: (port) => `http://${site_host}:${port}` });
      key = await operatorKey(server);
      browser = await launch();
    });
    after(async () => {
      await browser?.close();
      await server?.stop();
    });

    test('an app at its link runs at the root, and a reload of a deep link works', async () => {
      const site = await publish(server, { name: 'app.zip', bytes: APP, key, fields: { spa: 'true' } });
      assert.equal(site.spa, true);
      const page = await openPage(await browser.newContext());
      await page.goto(site.url);
      await shown(page, '/');
      assert.equal(await page.evaluate(() => getComputedStyle(document.getElementById('app')).color), 'rgb(1, 2, 3)');
      await page.evaluate(() => window.go('/users/7?tab=a'));
      await shown(page, '/users/7');
      await page.reload();
      await shown(page, '/users/7');
      await page.goBack();
      await shown(page, '/');
      assert.equal(await page.evaluate(() => document.cookie), '', 'no script reads the cookie');
      const worker = await page.evaluate(() => navigator.serviceWorker.register('/assets/app.js').then(() => 'registered', (error) => error.name));
      assert.notEqual(worker, 'registered');
    });

    test('the host alone shows nothing, also to who was given an address at the root', async () => {
      const site = await publish(server, { name: 'app.zip', bytes: APP, key, fields: { spa: 'true' } });
      const page = await openPage(await browser.newContext());
      await page.goto(site.url);
      await shown(page, '/');
      const { host, origin } = new URL(page.url());
      const other = await openPage(await browser.newContext());
      const answer = await other.goto(`${origin}/users/7`);
      assert.equal(answer.status(), 404);
      assert.match(await other.textContent('h1'), /complete link/);
      for (const path of ['/', '/assets/data.json', '/index.html']) {
        assert.equal((await request(server, { path, host })).status, 404, path);
      }
    });

    test('a sibling page can neither read, load nor frame what the cookie opens', async () => {
      const site = await publish(server, { name: 'app.zip', bytes: APP, key, fields: { spa: 'true' } });
      const sibling = await publish(server, { name: 'b.html', bytes: samples.html('Sibling'), key });
      const context = await browser.newContext();
      const page = await openPage(context);
      await page.goto(site.url);
      await shown(page, '/');
      const { origin } = new URL(page.url());
      const foreign = await openPage(context);
      await foreign.goto(sibling.url);
      const tried = await foreign.evaluate(async (target) => {
        const attempt = (options) => fetch(`${target}/assets/data.json`, options).then((answer) => answer.text(), () => 'blocked');
        const load = (name, attributes) =>
          new Promise((resolve) => {
            const node = Object.assign(document.createElement(name), attributes);
            node.onload = () => resolve('loaded');
            node.onerror = () => resolve('failed');
            document.body.append(node);
          });
        const frame = await new Promise((resolve) => {
          const node = document.createElement('iframe');
          node.onload = () => { try { resolve(node.contentDocument ? 'readable' : 'closed'); } catch { resolve('closed'); } };
          node.src = `${target}/`;
          document.body.append(node);
        });
        return {
          fetched: await attempt({ credentials: 'include' }),
          script: await load('script', { src: `${target}/assets/app.js`, type: 'text/javascript' }),
          style: await load('link', { rel: 'stylesheet', href: `${target}/assets/app.css` }),
          frame,
        };
      }, origin);
      assert.deepEqual(tried, { fetched: 'blocked', script: 'failed', style: 'failed', frame: 'closed' });
      for (const frame of foreign.frames()) assert.ok(!(await frame.content()).includes(SECRET));
    });

    test('a password keeps the app closed, leads to the root, and ends what was open before', async () => {
      const site = await publish(server, { name: 'app.zip', bytes: APP, key, fields: { spa: 'true', password: 'correct horse' } });
      const page = await openPage(await browser.newContext());
      await page.goto(site.url);
      await page.fill('input[name=password]', 'correct horse');
      await page.click('button');
      await shown(page, '/');
      await page.goto(`${new URL(page.url()).origin}/users/7`);
      await shown(page, '/users/7');
      const body = JSON.stringify({ password: 'another horse' });
      const changed = await request(server, { method: 'PATCH', path: `/sites/${site.id}`, key, body, headers: { 'content-type': 'application/json' } });
      assert.equal(changed.status, 200);
      assert.equal((await page.reload()).status(), 404);
      await page.goto(site.url);
      assert.equal(await page.locator('input[name=password]').count(), 1);
    });

    test('a page that burns shows its app once', async () => {
      const site = await publish(server, { name: 'app.zip', bytes: APP, key, fields: { spa: 'true', burn_after_read: 'true' } });
      const page = await openPage(await browser.newContext());
      await page.goto(site.url);
      await page.click('button');
      await shown(page, '/');
      const other = await openPage(await browser.newContext());
      assert.equal((await other.goto(site.url)).status(), 410);
    });
  });
}
