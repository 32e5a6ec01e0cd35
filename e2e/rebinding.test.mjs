// DNS rebinding: a foreign name that leads to this server. To the browser the attacker's page and the server are then one
// origin, so its script may send anything and read every answer; the server itself has to refuse by the name.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { api, publish } from './http.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer } from './server.mjs';

const SECRET = 'the-secret-of-the-page';
const NAMES = ['evil.example', 'localhost.evil.example', 'xn--lcalhost-9ub.example'];

let server, browser, key, site, page;

before(async () => {
  server = await startServer();
  browser = await launch({ hosts: NAMES });
  key = await operatorKey(server);
  site = await publish(server, { name: 'page.html', bytes: samples.html('Kept', `<p>${SECRET}</p>`), key });
  // The policy of that first page would be the attacker's own.
  page = await openPage(await browser.newContext({ bypassCSP: true }));
  await takeCookie(page, await sessionOf(browser, server));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const READ = () => ['/', '/dashboard', `/dashboard/pages/${site.id}`, '/operator', '/login', '/device', '/oauth/authorize', '/sites', '/me', '/api-keys', '/mcp', '/openapi.json', '/docs',
  '/metrics', '/robots.txt', '/assets/app.js', '/.well-known/oauth-authorization-server', site.path, `${site.path}_dropleaf/report`, `/sites/${site.id}/content`];
const WRITE = ['/sites', '/check', '/publish', '/mcp', '/oauth/register', '/oauth/token', '/device/code', '/appeals', '/login', '/provision'];
/** What a script may add, in the hope that the server takes it for the name it was asked by. */
const HEADERS = { none: {}, 'X-Forwarded-Host': { 'x-forwarded-host': 'localhost' }, Forwarded: { forwarded: 'host=localhost;proto=http' }, 'X-Host': { 'x-host': 'localhost', 'x-original-host': 'localhost' } };

/** Runs in the attacker's page: gives what can be read of each answer. */
async function attempt({ reads, writes, headers, key }) {
  const seen = [];
  const ask = async (method, path, options = {}) => {
    const response = await fetch(path, { method, credentials: 'include', redirect: 'follow', ...options });
    seen.push({ what: `${method} ${path}`, status: response.status, text: await response.text() });
  };
  for (const path of reads) await ask('GET', path, { headers });
  for (const path of reads) await ask('GET', path, { headers: { ...headers, authorization: `Bearer ${key}` } });
  for (const path of writes) {
    const form = new FormData();
    form.set('file', new Blob(['<title>Planted</title>']), 'page.html');
    await ask('POST', path, { headers, body: form });
    await ask('POST', path, { headers: { ...headers, 'content-type': 'application/json' }, body: '{}' });
  }
  return seen;
}

for (const name of NAMES) {
  test(`under the name ${name} a script reads and writes nothing`, { timeout: 120_000 }, async () => {
    const origin = `http://${name}:${server.port}`;
    // The one answer that every name gets stands for the attacker's own page, from when the name led to their machine.
    assert.equal((await page.goto(`${origin}/healthz`)).status(), 200, 'the name leads to the server');
    const before = (await api(server, key)('GET', '/sites')).sites.length;
    for (const [which, headers] of Object.entries(HEADERS)) {
      const seen = await page.evaluate(attempt, { reads: READ(), writes: WRITE, headers, key });
      assert.equal(seen.length, 2 * (READ().length + WRITE.length));
      assert.deepEqual(seen.filter(({ status }) => status !== 421).map(({ what, status }) => `${what} (${which}): ${status}`), []);
      assert.deepEqual(seen.filter(({ text }) => text.includes(SECRET) || text.includes(site.unlisted_token)).map(({ what }) => what), []);
    }
    assert.equal((await api(server, key)('GET', '/sites')).sites.length, before, 'nothing was published');
  });

  test(`under the name ${name} a person is shown a refusal`, { timeout: 120_000 }, async () => {
    for (const path of ['/', '/dashboard', '/login', site.path]) {
      const answer = await page.goto(`http://${name}:${server.port}${path}`);
      assert.equal(answer.status(), 421, path);
      assert.ok(!(await page.content()).includes(SECRET));
    }
  });
}
