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
  await page.getByLabel('It impersonates someone').check();
  await page.getByLabel('What did you see?').fill('It asks for my <b>bank</b> password.');
  await page.getByLabel('How can we reach you?').fill('ada@example.org');
  await page.screenshot({ path: pictureFile('report-desktop-light'), fullPage: true });
  await page.getByRole('button', { name: 'Send report' }).click();
  await page.waitForURL(/_dropleaf\/report\?sent$/);
  assert.equal(await page.textContent('h1'), 'Thank you for your report');
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
  const all = await reports();
  assert.equal(all.length, before + 1);
  // Not the first of the list: reports of the same second are in no order.
  const sent = all.filter(({ comment }) => comment === 'Pop-ups everywhere').map(({ reason, contact }) => [reason, contact]);
  assert.deepEqual(sent, [['malware', null]]);
});

test('a form without a reason says so and keeps what was typed', async () => {
  const page = await form({ viewport: { width: 390, height: 844 }, colorScheme: 'light' });
  await page.getByLabel('What did you see?').fill('kept');
  await page.locator('form').evaluate((element) => (element.noValidate = true));
  await page.getByRole('button', { name: 'Send report' }).click();
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

test("a page's script floods the form, and its viewer's own report works", async () => {
  const strict = await startServer();
  try {
    const key = await operatorKey(strict);
    const flooding = await publish(strict, { name: 'a.html', bytes: samples.html('Flooding', '<button>Play</button>'), key });
    const other = await publish(strict, { name: 'b.html', bytes: samples.html('Other'), key });
    const page = await openPage(await browser.newContext());
    await page.goto(flooding.url);
    // A click of the viewer, so that the script has everything that a person's gesture allows.
    await page.getByRole('button', { name: 'Play' }).click();
    const seen = await page.evaluate(async () => {
      const address = new URL('_dropleaf/report', location.href).href;
      const body = new URLSearchParams({ reason: 'other', comment: 'by script' });
      const statuses = new Set();
      for (let n = 0; n < 12; n += 1) statuses.add((await fetch(address, { method: 'POST', body })).status);
      for (let n = 0; n < 12; n += 1) await fetch(address, { method: 'POST', body, mode: 'no-cors' });
      for (let n = 0; n < 12; n += 1) {
        const frame = document.createElement('iframe');
        frame.name = `f${n}`;
        document.body.append(frame);
        const form = document.createElement('form');
        Object.assign(form, { method: 'post', action: address, target: frame.name });
        form.innerHTML = '<input name="reason" value="other">';
        document.body.append(form);
        const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
        form.submit();
        await loaded;
      }
      // The form itself, in a frame, to be clicked by script.
      const frame = document.createElement('iframe');
      frame.src = address;
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
      let framed = 'shut out';
      try {
        framed = frame.contentDocument?.querySelector('form') ? 'reached' : 'shut out';
      } catch {}
      return { statuses: [...statuses], framed };
    });
    assert.deepEqual(seen, { statuses: [403], framed: 'shut out' });
    // In a window of its own: the opener is cut off from it.
    const opened = page.context().waitForEvent('page');
    const handle = await page.evaluateHandle(() => window.open(new URL('_dropleaf/report', location.href).href));
    await (await opened).waitForSelector('form');
    const reached = await handle.evaluate((view) => {
      try {
        return view?.document?.querySelector('form') ? 'reached' : 'cut off';
      } catch {
        return 'cut off';
      }
    });
    assert.equal(reached, 'cut off');
    const sent = async () => JSON.parse(await command(strict, 'reports', '--json')).reports;
    assert.deepEqual(await sent(), [], 'nothing that a script sent was stored');
    for (const site of [flooding, other]) {
      await page.goto(site.url);
      await page.goto(new URL('_dropleaf/report', page.url()).href);
      await page.getByLabel('It harms my device').check();
      await page.getByRole('button', { name: 'Send report' }).click();
      await page.waitForURL(/_dropleaf\/report\?sent$/);
    }
    assert.deepEqual((await sent()).map(({ reason }) => reason), ['malware', 'malware']);
  } finally {
    await strict.stop();
  }
});
