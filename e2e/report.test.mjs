// Reporting a page in a real browser, without script, at desk and phone width; the pictures are those of the manual.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT, pictureFile } from './browser.mjs';
import { publish } from './http.mjs';
import { assertReadable, examine } from './readable.mjs';
import * as samples from './samples.mjs';
import { command, operatorKey, startServer } from './server.mjs';


let server, browser, site;

before(async () => {
  server = await startServer();
  browser = await launch();
  const key = await operatorKey(server);
  site = await publish(server, { name: 'page.html', bytes: samples.html('Suspicious'), fields: { password: 'correct horse' }, key });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const reports = async () => JSON.parse(await command(server, 'reports', '--json')).reports;

async function form(view) {
  const page = await openPage(await browser.newContext({ javaScriptEnabled: false, ...view }));
  // The gate of the page links to it.
  await page.goto(site.url);
  await page.goto(new URL('_dropleaf/report', page.url()).href);
  assert.equal(await page.textContent('h1'), 'Report this page');
  assert.equal(await page.getByText('Suspicious').count(), 0, 'nothing of the page is shown');
  return page;
}

test('a report is sent without script and the operator sees it', async () => {
  const page = await form({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await page.getByLabel('It pretends to be somebody else').check();
  await page.getByLabel('What did you see?').fill('It asks for my <b>bank</b> password.');
  await page.getByLabel('How can they reach you?').fill('ada@example.org');
  await page.screenshot({ path: pictureFile('report-desktop-light'), fullPage: true });
  await page.getByRole('button', { name: 'Send the report' }).click();
  await page.waitForURL(/_dropleaf\/report\?sent$/);
  assert.equal(await page.textContent('h1'), 'Thank you for the report');
  await page.screenshot({ path: path.join(OUTPUT, 'report-thanks-desktop-light.png') });
  await page.reload();
  const [report, ...more] = await reports();
  assert.equal(more.length, 0, 'a reload sends nothing again');
  assert.equal(report.reason, 'phishing');
  assert.equal(report.comment, 'It asks for my <b>bank</b> password.');
  assert.equal(report.contact, 'ada@example.org');
  assert.equal(report.site_id, site.id);
  assert.deepEqual(page.complaints.filter((text) => /Content.Security.Policy/i.test(text)), []);
});

test('the form reads well on a phone in the dark and works with the keyboard', async () => {
  const page = await form({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  await page.screenshot({ path: pictureFile('report-phone-dark'), fullPage: true });
  const before = (await reports()).length;
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Pop-ups everywhere');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?sent$/);
  const [report, ...more] = await reports();
  assert.equal(more.length, before);
  assert.deepEqual([report.reason, report.comment, report.contact], ['malware', 'Pop-ups everywhere', null]);
});

test('a form without a reason says so and keeps what was typed', async () => {
  const page = await form({ viewport: { width: 390, height: 844 }, colorScheme: 'light' });
  await page.getByLabel('What did you see?').fill('kept');
  await page.locator('form').evaluate((element) => (element.noValidate = true));
  await page.getByRole('button', { name: 'Send the report' }).click();
  await page.getByRole('alert').waitFor();
  assert.equal(await page.getByLabel('What did you see?').inputValue(), 'kept');
});

test('it is readable: contrast and width, light and dark', async () => {
  for (const width of [320, 390, 1280]) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await form({ viewport: { width, height: 800 }, colorScheme });
      assertReadable(await page.evaluate(examine), `${width} ${colorScheme}`);
      await page.context().close();
    }
  }
});
