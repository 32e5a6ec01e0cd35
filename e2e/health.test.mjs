// The operator's health page: results of the checks in groups, problems with their fix, and a button to run them again.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, OUTPUT, VIEWS } from './browser.mjs';
import { signIn } from './people.mjs';
import { operatorKey, startServer } from './server.mjs';

let server, browser;

before(async () => {
  // Two faults: a list of proxies that trusts everybody, and more connections than the system allows files.
  server = await startServer({ env: { DROPLEAF_TRUSTED_PROXIES: '0.0.0.0/0', DROPLEAF_LIMITS__CONNECTIONS: '9999999999' } });
  await operatorKey(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Waits for the result of a run. */
async function results(page) {
  await page.getByText(/^\d+ problems/).waitFor();
  await page.locator('button:not([disabled])', { hasText: 'Run again' }).waitFor();
}

test('problems are shown with their fix, on each screen, and checked again', async () => {
  for (const view of VIEWS) {
    const context = await browser.newContext({ viewport: view.viewport, colorScheme: view.colorScheme });
    const page = await openPage(context);
    await signIn(page, server, 'operator@localhost', '/operator');
    await page.getByRole('navigation', { name: 'Operator' }).getByRole('link', { name: 'Health' }).click();
    await results(page);
    const row = page.locator('#trusted_proxies');
    assert.match(await row.innerText(), /problem[^]*0\.0\.0\.0\/0[^]*Fix[^]*List only the addresses of your proxies/);
    assert.match(await page.locator('#file_limit').innerText(), /LimitNOFILE=/);
    assert.match(await page.locator('#bodies').innerText(), /ok[^]*can be written, read and listed/);
    assert.equal(await page.locator('#public_address .badge').innerText(), 'ok');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, `${view.name}: the page is wider than the screen`);
    await assertAccessible(page, `health, ${view.name}`);
    await page.screenshot({ path: path.join(OUTPUT, `health-${view.name}.png`), fullPage: true });
    await page.getByRole('button', { name: 'Run again' }).click();
    await results(page);
    assert.deepEqual(page.complaints, []);
    await context.close();
  }
});
