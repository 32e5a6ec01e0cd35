// Encrypted pages in a real browser, made by `dropleaf encrypt`: opened by the key behind the #, also when the page
// burns, is strict, or lives in a sandbox. The server's disk never holds the plaintext.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { launch, openPage } from './browser.mjs';
import { publish } from './http.mjs';
import { BINARY, operatorKey, startServer, tempDir } from './server.mjs';

const WORDS = 'words that no disk of the server may hold';
const PAGE = `<!doctype html><title>Opened</title><h1>Opened</h1><p>${WORDS}</p><script>window.ran = true</script>`;

let server, browser, key, dir;

before(async () => {
  server = await startServer();
  key = await operatorKey(server);
  browser = await launch();
  dir = await tempDir('encrypt');
  await writeFile(path.join(dir, 'page.html'), PAGE);
  await writeFile(path.join(dir, 'words'), 'correct horse');
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Encrypts the page and publishes it; its link is whole. */
async function sealed(fields = {}, args = [], at = server, by = key) {
  const { stdout } = await promisify(execFile)(BINARY, ['encrypt', 'page.html', '-o', 'out', ...args], { cwd: dir });
  const bytes = await readFile(path.join(dir, 'out'));
  const site = await publish(at, { name: 'page.html', bytes, key: by, fields: { e2e: 'true', ...fields } });
  return { ...site, link: site.url + stdout.trim() };
}

async function opened(link) {
  const page = await openPage(await browser.newContext());
  await page.goto(link);
  return page;
}

const isOpen = (page) => page.waitForSelector('h1:text("Opened")');

test('the key behind the # opens the page, which runs', async () => {
  for (const args of [[], ['--gzip']]) {
    const page = await opened((await sealed({}, args)).link);
    await isOpen(page);
    assert.equal(await page.evaluate(() => window.ran), true);
  }
});

test('Markdown is typeset before it is encrypted', async () => {
  await writeFile(path.join(dir, 'notes.md'), '# Opened\n\n- [x] **done**\n');
  const { stdout } = await promisify(execFile)(BINARY, ['encrypt', 'notes.md', '-o', 'notes'], { cwd: dir });
  const site = await publish(server, { name: 'notes.e2e', bytes: await readFile(path.join(dir, 'notes')), key, fields: { e2e: 'true' } });
  const page = await opened(site.url + stdout.trim());
  await isOpen(page);
  assert.ok(await page.getByRole('checkbox', { name: 'done', checked: true }).count());
});

test('a page that burns keeps its key through the button', async () => {
  const site = await sealed({ burn_after_read: 'true' });
  const page = await opened(site.link);
  assert.equal(await page.textContent('h1'), 'This page can be viewed only once');
  await page.click('button');
  await isOpen(page);
  assert.ok(page.url().includes('#k='), page.url());
  await page.reload();
  await isOpen(page);
  const stranger = await opened(site.link);
  assert.equal(await stranger.textContent('h1'), 'This page could be viewed only once');
});

test('under a strict policy the page opens and its inline script does not run', async () => {
  const page = await opened((await sealed({ csp_strict: 'true' })).link);
  await isOpen(page);
  assert.equal(await page.evaluate(() => window.ran), undefined);
});

test('in a sandbox it opens too', async () => {
  const other = await startServer({ env: { DROPLEAF_ISOLATION: 'sandbox' } });
  try {
    const page = await opened((await sealed({}, [], other, await operatorKey(other))).link);
    await isOpen(page);
    assert.equal(await page.evaluate(() => origin), 'null');
  } finally {
    await other.stop();
  }
});

test('a wrong key opens nothing', async () => {
  const site = await sealed();
  const page = await opened(`${site.url}#k=${'A'.repeat(43)}`);
  await page.waitForFunction((words) => !document.body.innerText.includes(words), WORDS);
  assert.notEqual(await page.title(), 'Opened');
});

test('the disk of the server never holds the plaintext', async () => {
  const look = async (folder) => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const at = path.join(folder, entry.name);
      if (entry.isDirectory()) await look(at);
      else if (entry.isFile()) assert.ok(!(await readFile(at)).includes(WORDS), at);
    }
  };
  await look(server.dataDir);
});
