// Files dropped on the dashboard, as the browser itself delivers them: the whole window takes them, an overlay says so,
// and no drop ever leads away from the page.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile } from './browser.mjs';
import { publish } from './http.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer, tempDir } from './server.mjs';

let server, browser, cookie, folder;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch();
  folder = await tempDir('drops');
  cookie = await sessionOf(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function visit(where, options = {}) {
  const page = await openPage(await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options }));
  await takeCookie(page, cookie);
  await page.goto(`${server.url}${where}`);
  const debug = await page.context().newCDPSession(page);
  const send = (type, x, y, files, items = []) =>
    debug.send('Input.dispatchDragEvent', { type, x, y, data: { items, files, dragOperationsMask: 19 } });
  page.drag = async (x, y, files, items) => {
    await send('dragEnter', x, y, files, items);
    await send('dragOver', x, y, files, items);
  };
  page.dropAt = async (x, y, files, items) => {
    await page.drag(x, y, files, items);
    await send('drop', x, y, files, items);
  };
  // The debugger's own dragCancel tells the page nothing; a person who leaves the window or presses Escape does this.
  page.leave = () => page.evaluate(() => document.body.dispatchEvent(new DragEvent('dragleave', { bubbles: true, relatedTarget: null })));
  return page;
}

async function file(name, title) {
  const at = path.join(folder, name);
  await writeFile(at, samples.html(title));
  return at;
}

const overlay = (page) => page.locator('.drop-overlay');
const still = (page, where) => assert.equal(new URL(page.url()).pathname, where, 'the page is still there');

for (const [name, options] of [['light', {}], ['dark', { colorScheme: 'dark' }]]) {
  test(`a file dropped far from the box is published, and an overlay says so before: ${name}`, async () => {
    const page = await visit('/dashboard/upload', options);
    const dropped = await file('anywhere.html', `Anywhere ${name}`);
    assert.equal(await overlay(page).isVisible(), false);
    await page.drag(1200, 30, [dropped]);
    await overlay(page).waitFor({ state: 'visible' });
    assert.match(await overlay(page).innerText(), /Drop files to publish them/);
    const { x, y, width, height } = await overlay(page).boundingBox();
    assert.deepEqual([x, y, width, height], [0, 0, 1280, 900], 'it covers the window');
    await page.screenshot({ path: pictureFile(`drop-overlay-${name}`) });
    await page.leave();
    await overlay(page).waitFor({ state: 'hidden' });
    await page.dropAt(20, 880, [dropped]);
    await page.waitForSelector('.sending li.good');
    assert.equal(await page.textContent('.sending li.good strong'), `Anywhere ${name}`);
    assert.equal(await overlay(page).isVisible(), false);
    still(page, '/dashboard/upload');
    assert.deepEqual(page.complaints, []);
  });
}

test('the list of pages takes files anywhere as well', async () => {
  const page = await visit('/dashboard');
  await page.dropAt(640, 850, [await file('one.html', 'One'), await file('two.html', 'Two')]);
  await page.waitForFunction(() => document.querySelectorAll('.sending li.good').length === 2);
  still(page, '/dashboard');
});

test('a page is replaced by one file dropped anywhere, not by several and not by a folder', async () => {
  const site = await publish(server, { name: 'page.html', bytes: samples.html('Before'), key: await operatorKey(server) });
  const where = `/dashboard/pages/${site.id}`;
  const page = await visit(where);
  const [first, second] = [await file('first.html', 'First'), await file('second.html', 'Second')];
  await page.dropAt(30, 500, [first, second]);
  await page.waitForSelector('.sending li.bad:has-text("one file")');
  const inside = path.join(folder, 'folder');
  await mkdir(inside);
  await page.dropAt(30, 500, [inside]);
  await page.waitForSelector('.sending li.bad:has-text("folder")');
  assert.equal(await page.textContent('h1'), 'Before');
  await page.drag(30, 500, [first]);
  await overlay(page).waitFor({ state: 'visible' });
  assert.match(await overlay(page).innerText(), /replace the content/);
  await page.dropAt(30, 500, [first]);
  await page.waitForSelector('#outcome:has-text("Replaced")');
  assert.equal(await page.textContent('h1'), 'First');
  // Once more from the same address: the page is loaded again, not only scrolled.
  await page.dropAt(30, 500, [second]);
  await page.waitForFunction(() => document.querySelector('h1').textContent === 'Second');
});

test('a drop on a page that takes no files, and a dropped link, lead nowhere', async () => {
  const dropped = await file('stray.html', 'Stray');
  for (const where of ['/dashboard/keys', '/dashboard/account', '/dashboard/apps', '/operator']) {
    const page = await visit(where);
    // Heard after the page's own listeners: a browser opens what is dropped unless they say that nothing is taken.
    await page.evaluate(() => {
      window.heard = [];
      addEventListener('dragover', (event) => window.heard.push(`${event.defaultPrevented} ${event.dataTransfer.dropEffect}`));
    });
    await page.dropAt(10, 450, [dropped]);
    await page.dropAt(10, 450, [], [{ mimeType: 'text/uri-list', data: 'https://elsewhere.invalid/' }]);
    assert.deepEqual([...new Set(await page.evaluate(() => window.heard))], ['true none'], where);
    still(page, where);
    assert.equal(page.context().pages().length, 1, 'no other page was opened');
    await page.context().close();
  }
});
