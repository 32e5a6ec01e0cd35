// Pages are strangers to each other and to the API, on a host whose siblings are cross-site (localhost behaves like a
// public suffix) and on one whose siblings are same-site (pages.localhost does not).

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { publish, request, siteHost } from './http.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer } from './server.mjs';

const SECRET = 'the-secret-of-page-b';

for (const site_host of ['localhost', 'pages.localhost']) {
  describe(`site_host ${site_host}`, () => {
    let server, browser, context, key, a, b, pageA, ownB;

    before(async () => {
      server = await startServer({ siteUrl: (port) => `http://${site_host}:${port}` });
      key = await operatorKey(server);
      browser = await launch();
      context = await browser.newContext();
      a = await publish(server, { name: 'a.html', bytes: samples.html('Page A'), key });
      b = await publish(server, { name: 'b.html', bytes: samples.html('Page B', `<p id="secret">${SECRET}</p>`), key });
      const pageB = await openPage(context);
      await pageB.goto(b.url);
      ownB = pageB.url();
      await pageB.evaluate((secret) => {
        localStorage.setItem('secret', secret);
        document.cookie = `secret=${secret}`;
        return new Promise((resolve) => (indexedDB.open('vault', 1).onsuccess = resolve));
      }, SECRET);
      const api = await openPage(context);
      await api.goto(`${server.url}/docs`);
      await api.evaluate((secret) => localStorage.setItem('dashboard', secret), SECRET);
      await api.evaluate((secret) => (document.cookie = `session=${secret}; SameSite=Lax`), SECRET).catch(() => {});
      pageA = await openPage(context);
      await pageA.goto(a.url);
    });
    after(async () => {
      await browser?.close();
      await server?.stop();
    });

    test('each page has an origin of its own', async () => {
      const origins = [new URL(pageA.url()).origin, new URL(ownB).origin, server.url, server.siteUrl];
      assert.equal(new Set(origins).size, site_host === 'localhost' ? 3 : 4);
      assert.match(new URL(ownB).hostname, new RegExp(`^s-[a-z2-7]{26}\\.${site_host}$`));
    });

    test('A cannot fetch B', async () => {
      const read = await pageA.evaluate(async ([own, shared]) => {
        const attempt = async (url, options) => {
          try {
            return await (await fetch(url, options)).text();
          } catch {
            return 'blocked';
          }
        };
        return {
          plain: await attempt(own),
          withCookies: await attempt(own, { credentials: 'include' }),
          opaque: await attempt(own, { mode: 'no-cors', credentials: 'include' }),
          sharedWithCookies: await attempt(shared, { credentials: 'include' }),
        };
      }, [ownB, b.url]);
      assert.deepEqual(read, { plain: 'blocked', withCookies: 'blocked', opaque: '', sharedWithCookies: 'blocked' });
    });

    for (const target of ['own', 'shared']) {
      test(`A cannot look into B in a frame (${target} address)`, async () => {
        const seen = await pageA.evaluate(async (url) => {
          const frame = document.createElement('iframe');
          frame.src = url;
          document.body.append(frame);
          await new Promise((resolve) => (frame.onload = resolve));
          const attempt = (act) => {
            try {
              return String(act());
            } catch (error) {
              return error.name;
            }
          };
          return [
            attempt(() => frame.contentDocument),
            attempt(() => frame.contentWindow.document.body.innerText),
            attempt(() => frame.contentWindow.localStorage.getItem('secret')),
          ];
        }, target === 'own' ? ownB : b.url);
        assert.deepEqual(seen, ['null', 'SecurityError', 'SecurityError']);
      });

      test(`A cannot look into B through window.open (${target} address)`, async () => {
        const popup = context.waitForEvent('page');
        await pageA.evaluate((url) => void (window.handle = window.open(url)), target === 'own' ? ownB : b.url);
        const opened = await popup;
        await opened.waitForSelector('#secret');
        assert.equal(new URL(opened.url()).origin, new URL(ownB).origin);
        const seen = await pageA.evaluate(() => {
          try {
            return window.handle.closed ? 'severed' : window.handle.document.body.innerText;
          } catch (error) {
            return error.name;
          }
        });
        assert.ok(['severed', 'SecurityError'].includes(seen), seen);
        assert.equal(await opened.evaluate(() => (window.opener ? 'alive' : 'severed')), 'severed');
        await opened.close();
      });
    }

    test("A sees nothing of B's storage", async () => {
      const seen = await pageA.evaluate(async () => ({
        local: { ...localStorage },
        databases: await indexedDB.databases(),
        cookie: document.cookie,
      }));
      assert.deepEqual(seen, { local: {}, databases: [], cookie: '' });
    });

    test("A's host does not serve B", async () => {
      const answer = await request(server, { path: b.path, host: new URL(pageA.url()).host });
      assert.equal(answer.status, 404);
      const inBrowser = await pageA.evaluate(async (path) => (await fetch(path)).status, b.path);
      assert.equal(inBrowser, 404);
    });

    test('A cannot read the API origin', async () => {
      const seen = await pageA.evaluate(async (api) => {
        const attempt = async (path, options) => {
          try {
            const answer = await fetch(api + path, options);
            return answer.status;
          } catch {
            return 'blocked';
          }
        };
        const frame = document.createElement('iframe');
        frame.src = `${api}/docs`;
        document.body.append(frame);
        await new Promise((resolve) => (frame.onload = frame.onerror = resolve));
        let framed;
        try {
          framed = String(frame.contentDocument && frame.contentDocument.body.innerText);
        } catch (error) {
          framed = error.name;
        }
        return {
          sitesWithCookies: await attempt('/sites', { credentials: 'include' }),
          meWithCookies: await attempt('/me', { credentials: 'include' }),
          framed,
          storage: localStorage.getItem('dashboard'),
        };
      }, server.url);
      for (const status of [seen.sitesWithCookies, seen.meWithCookies]) assert.ok(['blocked', 401].includes(status), `${status}`);
      assert.ok(['null', 'SecurityError'].includes(seen.framed), seen.framed);
      assert.equal(seen.storage, null);
    });

    test('page hosts have no API, even with a key', async () => {
      for (const path of ['/sites', '/me', '/api-keys', '/openapi.json', '/docs']) {
        const answer = await request(server, { path, host: new URL(pageA.url()).host, key });
        assert.ok([404, 421].includes(answer.status), `${path}: ${answer.status}`);
      }
    });

    test('storage, siblings, modules, fonts and workers work; a service worker does not', async () => {
      const app = await publish(server, { name: 'application.zip', bytes: await samples.application(), key });
      const page = await openPage(await browser.newContext());
      await page.goto(app.url);
      await page.waitForFunction(() => window.report);
      const { serviceWorker, ...worked } = await page.evaluate(() => window.report);
      assert.deepEqual(worked, {
        module: 'imported',
        json: 42,
        localStorage: 'kept',
        indexedDB: 'kept',
        font: 1,
        worker: 21,
        digest: 32,
      });
      assert.match(serviceWorker, /Failed to register|SecurityError|TypeError/);
    });

    test('the redirect keeps query and fragment', async () => {
      const page = await openPage(context);
      await page.goto(`${a.url}?one=1&two=%20x%2F#part-3`);
      const { hostname, search, hash } = new URL(page.url());
      assert.notEqual(hostname, site_host);
      assert.deepEqual([search, hash], ['?one=1&two=%20x%2F', '#part-3']);
      const plain = await request(server, {
        path: `${a.path}?q=1`,
        host: siteHost(server),
        headers: { 'sec-fetch-mode': 'navigate', 'user-agent': 'Mozilla/5.0' },
      });
      assert.equal(plain.status, 307);
      assert.match(plain.headers['cache-control'], /no-store/);
    });

    test('a direct answer is sandboxed: the second lock holds in a browser', async () => {
      const direct = await request(server, { path: a.path, host: siteHost(server) });
      assert.equal(direct.status, 200);
      const policy = direct.headers['content-security-policy'];
      assert.match(policy, /^sandbox /);
      assert.doesNotMatch(policy, /allow-same-origin/);
      const page = await openPage(context);
      await page.route(a.url, (route) => route.fulfill({ status: 200, headers: direct.headers, body: direct.bytes }));
      await page.goto(a.url);
      const seen = await page.evaluate(() => {
        try {
          return String(localStorage.length);
        } catch (error) {
          return `${self.origin} ${error.name}`;
        }
      });
      assert.equal(seen, 'null SecurityError');
    });

    test('headers of a page on its own host', async () => {
      const { headers } = await request(server, { path: a.path, host: new URL(pageA.url()).host });
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'strict-origin');
      assert.equal(headers['x-robots-tag'], 'noindex, nofollow, noarchive');
      assert.equal(headers['origin-agent-cluster'], '?1');
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin-allow-popups');
      assert.equal(headers['cache-control'], 'private, no-cache');
      assert.match(headers.etag, /^"[^"]+"$/);
      assert.equal(headers['access-control-allow-origin'], undefined);
      assert.equal(headers['content-security-policy'], undefined);
    });
  });
}
