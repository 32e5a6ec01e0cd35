// The warning before a page that many viewers have reported, in a real browser: without script, and before an encrypted page,
// whose key must survive it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { publish, request } from './http.mjs';
import { assertReadable, examine } from './readable.mjs';
import * as samples from './samples.mjs';
import { FRAGMENT, seal } from './sealed.mjs';
import { operatorKey, startServer, until } from './server.mjs';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const HEADING = 'Be careful with this page';

let server, browser, key;

before(async () => {
  const attention = { DROPLEAF_SAFETY__ATTENTION: 'interstitial', DROPLEAF_SAFETY__ATTENTION_REPORTS: '2' };
  server = await startServer({ env: { ...attention, DROPLEAF_SWEEP__EVERY_SECONDS: '1', DROPLEAF_TRUSTED_PROXIES: '127.0.0.1' } });
  key = await operatorKey(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Publishes a page that two networks report. */
async function reported(file) {
  const site = await publish(server, { ...file, key });
  for (const network of ['198.51.100.1', '198.51.100.2']) {
    const options = { method: 'POST', path: `${site.path}_dropleaf/report`, headers: { ...FORM, 'x-forwarded-for': network }, body: 'reason=phishing' };
    assert.equal((await request(server, options)).status, 200);
  }
  await until('a warning', async () => {
    const page = await openPage(await browser.newContext());
    await page.goto(site.url);
    const heading = await page.textContent('h1');
    await page.context().close();
    return heading === HEADING;
  }, { every: 200 });
  return site;
}

test('a person continues without script, and is not warned again', async () => {
  const site = await reported({ name: 'page.html', bytes: samples.html('Members', '<h1>Members</h1>') });
  const page = await openPage(await browser.newContext({ javaScriptEnabled: false }));
  await page.goto(`${site.url}?step=2`);
  assert.equal(await page.textContent('h1'), HEADING);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(/\?step=2$/);
  assert.equal(await page.textContent('h1'), 'Members');
  await page.reload();
  assert.equal(await page.textContent('h1'), 'Members');
  assert.deepEqual(page.complaints.filter((text) => /Content.Security.Policy/i.test(text)), []);
});

test('the key of an encrypted page survives the warning', async () => {
  const site = await reported({ name: 'page.e2e', bytes: seal('<h1>Sealed members</h1>'), fields: { e2e: 'true' } });
  const page = await openPage(await browser.newContext());
  await page.goto(site.url + FRAGMENT);
  assert.equal(await page.textContent('h1'), HEADING);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Sealed members').first().waitFor();
  assert.ok(page.url().endsWith(FRAGMENT), page.url());
});

test('the warning reads well at every width', async () => {
  const site = await reported({ name: 'page.html', bytes: samples.html('Wide', '<h1>Wide</h1>') });
  for (const { name, ...view } of VIEWS) {
    const page = await openPage(await browser.newContext(view));
    await page.goto(site.url);
    assertReadable(await page.evaluate(examine), name);
    await page.screenshot({ path: pictureFile(`warning-${name}`) });
    await page.context().close();
  }
});
