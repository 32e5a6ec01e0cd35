// A page stores more cookies for the parent domain than the server accepts. The dashboard and the other pages below that domain
// say what happened, clear the cookies, and open again after a reload. `pages.localhost` behaves like a domain of its own
// that is not on the Public Suffix List, and Chromium trusts it like https.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { publish } from './http.mjs';
import * as samples from './samples.mjs';
import { freePort, operatorKey, startServer } from './server.mjs';

let server, browser, base, hostile, victim;

before(async () => {
  const port = await freePort();
  base = `http://app.pages.localhost:${port}`;
  server = await startServer({ port, siteUrl: (port) => `http://pages.localhost:${port}`, env: { DROPLEAF_BASE_URL: base } });
  browser = await launch();
  const key = await operatorKey(server);
  const headers = { host: new URL(base).host };
  // Without an icon of its own, its request for one may be the first that is refused, and clear the cookies too early.
  const icon = '<link rel="icon" href="data:,">';
  hostile = await publish(server, { name: 'a.html', bytes: samples.html('Hostile', icon), key, headers });
  victim = await publish(server, { name: 'b.html', bytes: samples.html('Victim'), key, headers });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// 40 are enough for a lockout; 180 is all that Chromium keeps for one domain. Each address has a browser context of its own, because
// the answer to one clears the cookies for all.
for (const many of [40, 180]) {
  for (const [name, address] of [['the dashboard', () => `${base}/login`], ['another page', () => victim.url]]) {
    test(`${many} cookies of a sibling lock nobody out of ${name} for longer than a reload`, async () => {
      const context = await browser.newContext();
      const page = await openPage(context);
      await page.goto(hostile.url);
      const kept = await page.evaluate((many) => {
        for (let n = 0; n < many; n += 1) document.cookie = `c${n}=${'x'.repeat(4090 - `c${n}`.length)}; Domain=pages.localhost; Path=/`;
        return document.cookie.length;
      }, many);
      assert.ok(kept > 32 * 1024, `${kept} bytes of cookies`);
      const other = await openPage(context);
      const refused = await other.goto(address());
      assert.equal(refused.status(), 431);
      assert.equal(await other.textContent('h1'), 'Your browser sent too much data');
      assert.match(await other.textContent('main'), /They have been cleared. Reload the page/);
      const again = await other.reload();
      assert.equal(again.status(), 200);
      assert.deepEqual((await context.cookies()).filter(({ name }) => /^c\d+$/.test(name)), []);
      const open = await openPage(context);
      assert.equal((await open.goto(victim.url)).status(), 200);
      assert.equal(await open.title(), 'Victim');
      await context.close();
    });
  }
}
