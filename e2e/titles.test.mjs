// Labels in the middle of their buttons and titles that break between words: on the pages where both went wrong, desktop
// and phone, light and dark.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { publish, request, upload } from './http.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer } from './server.mjs';

const TITLE = 'Quarterly report of the orchard, the cellar and the neighbouring vineyards with recommendations';

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

/** How far a label is from the middle of its button, and how wide the button is. */
const measure = (selector) => {
  const button = document.querySelector(selector);
  const box = button.getBoundingClientRect();
  const range = document.createRange();
  range.selectNodeContents(button);
  const label = range.getBoundingClientRect();
  return { off: Math.abs((label.left + label.right) / 2 - (box.left + box.right) / 2), width: box.width };
};

/** The words of an element that stand on more than one line. */
const split = (selector) => {
  const found = [];
  for (const element of document.querySelectorAll(selector)) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const match of node.data.matchAll(/\S+/g)) {
        const range = document.createRange();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(match[0]);
      }
    }
  }
  return found;
};

test('the buttons of the claim page and of a dead link have their label in the middle', async () => {
  const claimed = (await upload(server, { name: 'page.html', bytes: samples.html('Unowned') })).json();
  for (const { name, ...options } of VIEWS) {
    const page = await openPage(await browser.newContext(options));
    for (const [what, address] of [['claim', claimed.claim_url], ['dead-link', `${server.url}/login/link?token=${'A'.repeat(43)}`]]) {
      await page.goto(address);
      const { off, width } = await page.evaluate(measure, '.wide');
      await page.screenshot({ path: pictureFile(`${what}-${name}`) });
      assert.ok(off <= 1, `${what} ${name}: ${off} px off`);
      assert.ok(width <= 400, `${what} ${name}: ${width} px wide`);
    }
    await takeCookie(page, session);
    await page.goto(claimed.claim_url);
    const { off, width } = await page.evaluate(measure, '.wide');
    await page.screenshot({ path: pictureFile(`claim-signed-in-${name}`) });
    assert.ok(off <= 1 && width <= 400, `${name}: ${off} px off, ${width} px wide`);
    await page.context().close();
  }
});

test('a long title breaks between words, and its drawing ends with one', async () => {
  const site = await publish(server, { name: 'page.html', bytes: samples.html(TITLE), key });
  const report = await request(server, { method: 'POST', path: `${site.path}_dropleaf/report`, body: 'reason=phishing', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
  assert.ok(report.status < 400, `${report.status}`);
  for (const { name, ...options } of VIEWS) {
    const page = await openPage(await browser.newContext(options));
    await takeCookie(page, session);
    for (const [what, path, selector] of [
      ['list', '/dashboard', '.about h2'],
      ['page', `/dashboard/pages/${site.id}`, 'h1, .settings summary span'],
      ['reports', '/operator/reports', 'h2'],
      ['case', `/operator/pages/${site.id}`, 'h1'],
    ]) {
      await page.goto(server.url + path);
      assert.ok((await page.textContent('main')).includes(TITLE), `${what} ${name}: the whole title`);
      assert.deepEqual(await page.evaluate(split, selector), [], `${what} ${name}`);
      await page.screenshot({ path: pictureFile(`title-${what}-${name}`) });
    }
    const drawing = await page.evaluate(async (id) => (await fetch(`/dashboard/pages/${id}/preview.svg`)).text(), site.id);
    assert.match(drawing, />Quarterly report of the…</);
    await page.context().close();
  }
});
