// An owner's own pages in a real browser: opened from the dashboard past their gates, and previewed without burning. With a
// script and without one; desktop and phone, light and dark.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { publish, request, siteHost } from './http.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import * as samples from './samples.mjs';
import { FRAGMENT, seal } from './sealed.mjs';
import { operatorKey, startServer } from './server.mjs';
import { zip } from './zip.mjs';

let server, browser, key, session;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  browser = await launch();
  session = await sessionOf(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const send = (name, bytes, fields = {}) => publish(server, { name, bytes, fields, key });
const viewCount = async (site) => (await request(server, { path: `/sites/${site.id}`, key })).json().view_count;

/** A tab of the owner at the dashboard's page about a site. */
async function at(site, options = {}) {
  const page = await openPage(await browser.newContext(options));
  await takeCookie(page, session);
  await page.goto(`${server.url}/dashboard/pages/${site.id}`);
  return page;
}

/** Presses the button; the tab that opens. */
async function press(page, name) {
  const [opened] = await Promise.all([page.context().waitForEvent('page'), page.getByRole('button', { name, exact: true }).click()]);
  await opened.waitForLoadState();
  return opened;
}

test('an owner opens a page with a password, and it is not counted', async () => {
  const site = await send('page.html', samples.html('Behind the gate'), { password: 'correct horse' });
  const page = await at(site);
  const opened = await press(page, 'Open page');
  assert.equal(await opened.textContent('h1'), 'Behind the gate');
  assert.ok(!opened.url().includes('own_'), opened.url());
  assert.match(new URL(opened.url()).hostname, /^s-/, 'on its own host');
  await opened.reload();
  assert.equal(await opened.textContent('h1'), 'Behind the gate');
  assert.equal(await viewCount(site), 0);
  const stranger = await openPage(await browser.newContext());
  assert.equal((await stranger.goto(site.url)).status(), 401);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test('a burn page is previewed, marked and unburnt, on every screen', async () => {
  const title = 'A plan for the orchard that has quite a long title';
  for (const { name, ...options } of VIEWS) {
    const site = await send('page.html', samples.html(title, `<h1>${title}</h1><script>document.body.append('script ran')</script>`), { burn_after_read: 'true' });
    const page = await at(site, options);
    await page.screenshot({ path: pictureFile(`owner-burn-${name}`) });
    const opened = await press(page, 'Preview');
    const seen = await opened.evaluate(examine);
    assertReadable(seen, name);
    assert.match(await opened.textContent('header'), /Preview.*Only you can see this/s);
    const frame = opened.frameLocator('iframe');
    assert.equal(await frame.locator('h1').textContent(), title);
    assert.match(await frame.locator('body').textContent(), /script ran/);
    assert.equal(await frame.locator('body').evaluate(() => self.origin), 'null', 'it has no origin');
    await opened.screenshot({ path: pictureFile(`preview-${name}`) });
    const head = await request(server, { method: 'HEAD', path: site.path, host: siteHost(server) });
    assert.equal(head.status, 200, 'still there');
    assert.equal(await viewCount(site), 0);
    await page.context().close();
  }
});

test('a burn page cannot burn itself in its preview', async () => {
  const script = `<h1>Sly</h1><p id="done"></p><script>
    const root = location.pathname.replace(/_dropleaf.*/, '');
    Promise.allSettled([
      fetch(root + '_dropleaf/reveal', { method: 'POST', body: '', credentials: 'include' }),
      fetch(root + '_dropleaf/reveal', { method: 'POST', mode: 'no-cors', credentials: 'include' }),
    ]).then(() => document.getElementById('done').textContent = 'tried');
  </script>`;
  const site = await send('page.html', samples.html('Sly', script), { burn_after_read: 'true' });
  const page = await at(site);
  const opened = await press(page, 'Preview');
  await opened.frameLocator('iframe').locator('#done:has-text("tried")').waitFor();
  assert.equal((await request(server, { method: 'HEAD', path: site.path, host: siteHost(server) })).status, 200);
  await page.context().close();
});

test('the files beside a burn page and an encrypted page are shown in the preview', async () => {
  const bytes = zip([
    { name: 'index.html', bytes: '<link rel="stylesheet" href="a.css"><h1>Styled</h1>' },
    { name: 'a.css', bytes: 'h1 { color: rgb(1, 2, 3) }' },
  ]);
  const styled = await send('site.zip', bytes, { burn_after_read: 'true' });
  const page = await at(styled);
  const opened = await press(page, 'Preview');
  const heading = opened.frameLocator('iframe').locator('h1');
  assert.equal(await heading.evaluate((element) => getComputedStyle(element).color), 'rgb(1, 2, 3)');

  const secret = await send('page.html', seal('<!doctype html><title>x</title><h1>Decrypted here</h1>'), { burn_after_read: 'true', e2e: 'true' });
  await page.goto(`${server.url}/dashboard/pages/${secret.id}`);
  const sealed = await press(page, 'Preview');
  const frame = sealed.frameLocator('iframe');
  await frame.locator('#link').fill(`${secret.url}${FRAGMENT}`);
  await frame.locator('#use').click();
  await frame.locator('h1:has-text("Decrypted here")').waitFor();
  assert.equal((await request(server, { method: 'HEAD', path: secret.path, host: siteHost(server) })).status, 200);
  await page.context().close();
});

test('without a script the owner gets there too', async () => {
  const site = await send('page.html', samples.html('Plain'), { password: 'correct horse' });
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await openPage(context);
  await takeCookie(page, session);
  await page.goto(`${server.url}/dashboard/pages/${site.id}`);
  const opened = await press(page, 'Open page');
  assert.equal(await opened.textContent('h1'), 'Plain');
  await context.close();
});
