// The owner's side in a real browser: publish by dropping a file, set a password, share, read and settle feedback, go
// back, delete and restore, claim, search. With a script and without one; and pages cannot reach any of it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile } from './browser.mjs';
import { DEMO } from './demo.mjs';
import { request, upload } from './http.mjs';
import { signIn } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import * as samples from './samples.mjs';
import { HANGS, startServer } from './server.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true };
const DESK = { viewport: { width: 1280, height: 900 } };

let server, browser, context, owner;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch();
  context = await browser.newContext(DESK);
  owner = await openPage(context);
  await signIn(owner, server, 'owner@example.org');
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const at = (where) => `${server.url}${where}`;
const fresh = async (url, view) => {
  const page = await openPage(await browser.newContext(view));
  await page.goto(url);
  return page;
};

/** Drops files as a person does with the mouse. */
async function drop(page, selector, files) {
  const data = await page.evaluateHandle((files) => {
    const transfer = new DataTransfer();
    for (const { name, text } of files) transfer.items.add(new File([text], name, { type: 'text/html' }));
    return transfer;
  }, files);
  await page.dispatchEvent(selector, 'dragenter', { dataTransfer: data });
  await page.dispatchEvent(selector, 'dragover', { dataTransfer: data });
  await page.dispatchEvent(selector, 'drop', { dataTransfer: data });
}

/** Publishes by dropping and goes to the page's own place in the dashboard; gives its link. */
async function published(page, name, text) {
  await page.goto(at('/dashboard/upload'));
  await drop(page, '.zone', [{ name, text }]);
  await page.click('.sending li.good a:has-text("Settings")');
  await page.waitForSelector('#link');
  return page.textContent('#link');
}

/** Opens a setting and sends its form. */
async function set(page, title, fill) {
  await page.click(`.settings summary:has-text("${title}")`);
  const form = page.locator(`.settings details:has(summary:has-text("${title}")) form`);
  await fill(form);
  await page.waitForSelector('.done');
}

test('files are dropped, travel one after another with progress, and errors are said in the words of the server', async () => {
  await owner.goto(at('/dashboard/upload'));
  // Slow enough that the bar is seen moving.
  const debug = await context.newCDPSession(owner);
  await debug.send('Network.enable');
  await debug.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 600_000 });
  await owner.evaluate(() => {
    window.seen = [];
    new MutationObserver(() => {
      for (const span of document.querySelectorAll('.sending li > span')) window.seen.push(span.textContent);
    }).observe(document.querySelector('.sending'), { subtree: true, childList: true, characterData: true });
  });
  const large = samples.html('Large', `<h1>Large</h1><!--${'x'.repeat(900_000)}-->`);
  await drop(owner, '.zone', [
    { name: 'large.html', text: large },
    { name: 'program.exe', text: '\0\0\0\0' },
    { name: 'small.html', text: samples.html('Small') },
  ]);
  await owner.waitForFunction(() => document.querySelectorAll('.sending li.good, .sending li.bad').length === 3);
  await debug.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  const states = await owner.evaluate(() => [...document.querySelectorAll('.sending li')].map((li) => li.className));
  assert.deepEqual(states, ['good', 'bad', 'good']);
  const seen = await owner.evaluate(() => window.seen);
  assert.ok(seen.some((text) => /^[1-9]\d?%$/.test(text)), `no progress was shown: ${[...new Set(seen)]}`);
  assert.match(await owner.textContent('.sending li.bad > span'), /\.html, \.htm, \.md/);
  const link = await owner.textContent('.sending li.good a.mono');
  const viewer = await fresh(link);
  assert.equal(await viewer.textContent('h1'), 'Large');
  assert.deepEqual(owner.complaints.filter((line) => !/400/.test(line)), []);
});

test('an upload can be cancelled on its way, and nothing is published', async () => {
  await owner.goto(at('/dashboard/upload'));
  const debug = await context.newCDPSession(owner);
  await debug.send('Network.enable');
  await debug.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 });
  await drop(owner, '.zone', [{ name: 'long.html', text: samples.html('Never', `<!--${'x'.repeat(2_000_000)}-->`) }]);
  await owner.waitForSelector('.sending progress');
  await owner.click('.sending button:has-text("Cancel")');
  assert.equal(await owner.textContent('.sending li.bad > span'), 'Canceled');
  await debug.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await owner.goto(at('/dashboard?q=Never'));
  assert.equal(await owner.locator('.pages .card').count(), 0);
});

test('a password set in the dashboard is asked for, and a share link opens the page without it', async () => {
  const link = await published(owner, 'secret.html', samples.html('Secret plans'));
  await set(owner, 'Password', async (form) => {
    await form.locator('input[name=password]').fill('correct horse');
    await form.locator('button[value=set]').click();
  });
  const viewer = await fresh(link);
  assert.ok(await viewer.locator('input[type=password]').count(), 'the page asks');
  await viewer.fill('input[type=password]', 'correct horse');
  await viewer.click('button');
  await viewer.waitForFunction(() => document.querySelector('h1')?.textContent === 'Secret plans');

  await owner.click('summary:has-text("New share link")');
  await owner.fill('#share-note', 'For the board');
  await owner.fill('#share-uses', '3');
  await owner.click('button:has-text("Create link")');
  await owner.waitForSelector('.done');
  const shared = await owner.textContent('#share-links .rows .mono');
  const guest = await fresh(shared);
  assert.equal(await guest.textContent('h1'), 'Secret plans');
  owner.once('dialog', (dialog) => dialog.accept());
  await owner.click('#share-links button:has-text("Revoke")');
  await owner.waitForSelector('.done:has-text("Share link revoked")');
  assert.ok(await (await fresh(shared)).locator('input[type=password]').count(), 'the door is shut again');
});

test('feedback of a viewer is read and resolved', async () => {
  const link = await published(owner, 'report.html', DEMO);
  await set(owner, 'Comments and security', async (form) => {
    await form.locator('#agentation').check();
    await form.locator('button').click();
  });
  const viewer = await fresh(link);
  const status = await viewer.evaluate(async () => {
    const said = { comment: 'Say by <b>when</b>.', element: 'button#order', selected_text: 'Order juice', intent: 'change', severity: 'blocking' };
    const answer = await fetch(`${location.pathname}_dropleaf/feedback`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(said) });
    return answer.status;
  });
  assert.equal(status, 201);
  await owner.goto(at('/dashboard'));
  assert.equal(await owner.locator('.card:has-text("Orchard report") .badge:has-text("1 comment")').count(), 1);
  await owner.click('.card h2 a:has-text("Orchard report")');
  assert.equal(await owner.textContent('.comments .words'), 'Say by <b>when</b>.');
  await owner.click('a:has-text("Review feedback")');
  await owner.check('.thread input[name=ids]');
  await owner.fill('#bulk input[name=note]', 'On Friday.');
  await owner.click('#bulk button');
  await owner.waitForSelector('.done:has-text("1 comment resolved")');
  assert.equal(await owner.textContent('#open-count'), '0 open');
  assert.match(await owner.textContent('.thread.resolved'), /On Friday\./);
});

test('a new version keeps the link, and the earlier one comes back', async () => {
  const link = await published(owner, 'page.html', samples.html('First words'));
  await drop(owner, '.drop.slim .zone', [{ name: 'page.html', text: samples.html('Second words') }]);
  await owner.waitForSelector('.done:has-text("Replaced")');
  assert.equal(await (await fresh(link)).textContent('h1'), 'Second words');
  await owner.click('button[aria-label="Restore version 1"]');
  await owner.waitForSelector('.done:has-text("Version restored")');
  assert.equal(await (await fresh(link)).textContent('h1'), 'First words');
  assert.equal(await owner.textContent('#link'), link);
});

test('what changed meanwhile is not overwritten', async () => {
  await published(owner, 'page.html', samples.html('Contested'));
  const second = await context.newPage();
  await second.goto(owner.url());
  await set(owner, 'Title', async (form) => {
    await form.locator('#title').fill('Mine');
    await form.locator('button').click();
  });
  await second.click('.settings summary:has-text("Title")');
  await second.fill('#title', 'Theirs');
  await second.click('.settings details[open] button');
  await second.waitForSelector('.problem:has-text("Your change was not saved")');
  assert.equal(await second.textContent('h1'), 'Mine');
  await second.close();
});

test('a deleted page is gone for viewers, and restored it is back', async () => {
  const link = await published(owner, 'page.html', samples.html('Back again'));
  const place = owner.url();
  owner.once('dialog', (dialog) => dialog.accept());
  await owner.click('button:has-text("Delete page")');
  await owner.waitForSelector('h2:has-text("This page was deleted")');
  const gone = await openPage(await browser.newContext());
  assert.equal((await gone.goto(link)).status(), 410);
  await owner.goto(at('/dashboard?show=ended'));
  await owner.click('.card h2 a:has-text("Back again")');
  assert.equal(owner.url().split('?')[0], place.split('?')[0]);
  await owner.click('button:has-text("Restore page")');
  await owner.waitForSelector('.done:has-text("Restored")');
  assert.equal((await gone.goto(link)).status(), 200);
});

test('search and filters work on the server and keep each other', async () => {
  await published(owner, 'a.html', samples.html('Turnips, 100 % organic'));
  await published(owner, 'b.html', samples.html('Beetroot 1000'));
  await owner.goto(at('/dashboard'));
  await owner.fill('#q', '100 %');
  await owner.click('.search button');
  assert.deepEqual(await owner.locator('.pages h2').allTextContents(), ['Turnips, 100 % organic']);
  await owner.click('.chips a:has-text("Unlisted")');
  assert.equal(await owner.inputValue('#q'), '100 %');
  assert.deepEqual(await owner.locator('.pages h2').allTextContents(), ['Turnips, 100 % organic']);
  await owner.click('.chips a:has-text("Public")');
  assert.equal(await owner.locator('.pages .card').count(), 0);
  const drawn = await owner.goto(at('/dashboard')).then(() =>
    owner.evaluate(async () => {
      const pictures = [...document.querySelectorAll('.thumb img')];
      for (const picture of pictures) picture.loading = 'eager';
      await Promise.all(pictures.map((picture) => picture.decode()));
      return pictures.every((picture) => picture.naturalWidth > 0) && pictures.length;
    }));
  assert.ok(drawn > 3, 'every page has its drawing');
});

const anonymous = async (title) =>
  (await upload(server, { name: 'page.html', bytes: samples.html(title) })).json();

test('a claim link leads a signed-in person to their page', async () => {
  const site = await anonymous('Claimed at once');
  await owner.goto(site.claim_url);
  assert.equal(new URL(owner.url()).hash, '', 'the token is not left in the address');
  await owner.click('button:has-text("Claim this page")');
  await owner.waitForSelector('.done:has-text("belongs to your account")');
  assert.equal(await owner.textContent('h1'), 'Claimed at once');
});

test('an anonymous visitor signs in and comes back with the token', async () => {
  const site = await anonymous('Claimed after signing in');
  const page = await fresh(site.claim_url);
  await page.waitForSelector('[data-kept]:not([hidden])');
  const next = new URL(await page.getAttribute('a:has-text("Sign in to keep it")', 'href'), server.url).searchParams.get('next');
  await signIn(page, server, 'newcomer@example.org', next);
  await page.waitForURL(at(`/claim/${site.id}`));
  await page.click('button:has-text("Claim this page")');
  await page.waitForSelector('.done:has-text("belongs to your account")');
  assert.equal(await page.textContent('h1'), 'Claimed after signing in');
  // It belongs to another account now: the message is beside the field.
  await owner.goto(site.claim_url);
  await owner.click('button:has-text("Claim this page")');
  await owner.waitForSelector('.problem:has-text("Another account has already claimed")');
});

test('a claim link is pasted into the dashboard', async () => {
  const site = await anonymous('Claimed by pasting');
  await owner.goto(at('/dashboard'));
  await owner.fill('#claim-link', site.claim_url);
  await owner.click('.claiming button');
  await owner.waitForSelector('.done:has-text("belongs to your account")');
});

test('after the first upload nothing says that there is nothing, and the list is one step away', async () => {
  const page = await openPage(await browser.newContext(DESK));
  await signIn(page, server, 'first@example.org');
  await page.getByRole('heading', { name: 'No pages yet' }).waitFor();
  assert.equal(await page.locator('main :is(button, .button):visible:not(.plain, .quiet, .secret *)').count(), 1, 'one primary button');
  await drop(page, '.zone', [{ name: 'first.html', text: samples.html('My very first') }]);
  await page.waitForSelector('.sending li.good');
  assert.equal(await page.getByText('No pages yet').count(), 0);
  await page.click('a:has-text("Show in your list")');
  await page.waitForSelector('.pages .card:has-text("My very first")');
  assert.deepEqual(page.complaints, []);
});

test('grave changes ask first, and the expiry is shown and taken in the time of the viewer', async () => {
  const state = await context.storageState();
  const page = await openPage(await browser.newContext({ ...DESK, storageState: state, timezoneId: 'Asia/Kolkata' }));
  await published(page, 'when.html', samples.html('When'));
  const asked = [];
  page.on('dialog', (dialog) => { asked.push(dialog.message()); return dialog.dismiss(); });
  await page.click('.settings summary:has-text("Visibility")');
  await page.check('#v-burn');
  await page.click('form[action*="/visibility"] button');
  assert.equal(asked.length, 1);
  assert.match(asked[0], /only one view/);
  assert.equal(await page.locator('.done').count(), 0);
  await page.reload();
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  await set(page, 'Expiry', async (form) => {
    assert.match(await form.innerText(), /in your time/);
    await form.locator('#expires').selectOption('date');
    await form.locator('#until').fill(`${day}T12:00`);
    await form.getByRole('button').click();
  });
  await page.click('.settings summary:has-text("Expiry")');
  assert.equal(await page.inputValue('#until'), `${day}T12:00`);
  assert.equal(await page.getAttribute('#until', 'value'), `${day}T06:30`, 'what the server knows is UTC');
  assert.deepEqual(page.complaints, []);
});

test('without a script, files are published and pages get a password all the same', async () => {
  const plain = await browser.newContext({ ...DESK, javaScriptEnabled: false, storageState: await context.storageState() });
  const page = await plain.newPage();
  await page.goto(at('/dashboard/upload'));
  await page.setInputFiles('#file', { name: 'plain.html', mimeType: 'text/html', buffer: Buffer.from(samples.html('No script here')) });
  await page.selectOption('#up-expires', '24');
  await page.click('button:has-text("Publish")');
  await page.waitForSelector('.done:has-text("Published")');
  const link = await page.textContent('#link');
  await page.click('.settings summary:has-text("Password")');
  await page.fill('#password', 'plain words');
  await page.click('button[value=set]');
  await page.waitForSelector('.done:has-text("Saved")');
  assert.ok(await (await fresh(link)).locator('input[type=password]').count());
  await page.goto(at('/dashboard/upload'));
  await page.setInputFiles('#file', { name: 'x.exe', mimeType: 'application/x', buffer: Buffer.from('x') });
  await page.fill('#up-slug', 'kept-when-refused');
  await page.click('button:has-text("Publish")');
  await page.waitForSelector('.problem');
  assert.equal(await page.inputValue('#up-slug'), 'kept-when-refused');
  await plain.close();
});

/** Runs in a published page: everything it could try against the dashboard of its viewer. */
async function attack({ base, place, token, hangs }) {
  const tried = {};
  const loads = (frame) =>
    new Promise((resolve, reject) => {
      frame.onload = frame.onerror = resolve;
      setTimeout(() => reject(Object.assign(new Error('never loaded'), { name: 'Hangs' })), hangs);
    });
  const attempt = async (name, act) => {
    try {
      tried[name] = await act();
    } catch (error) {
      tried[name] = `blocked: ${error.name}`;
    }
  };
  await attempt('read', async () => (await fetch(`${base}/dashboard`, { credentials: 'include' })).text());
  await attempt('opaque', async () => (await fetch(`${base}/dashboard`, { credentials: 'include', mode: 'no-cors' })).text());
  await attempt('drawing', async () => (await fetch(`${place}/preview.svg`, { credentials: 'include' })).text());
  await attempt('post', async () => {
    const body = new URLSearchParams({ title: 'Forged', updated_at: '1', form_token: token });
    await fetch(`${place}/title`, { method: 'POST', mode: 'no-cors', credentials: 'include', body });
    await fetch(`${place}/delete`, { method: 'POST', mode: 'no-cors', credentials: 'include', body });
    return '';
  });
  await attempt('file', async () => {
    const body = new FormData();
    body.append('form_token', token);
    body.append('file', new Blob(['<title>Forged</title>']), 'f.html');
    await fetch(`${base}/dashboard/upload`, { method: 'POST', mode: 'no-cors', credentials: 'include', body });
    return '';
  });
  await attempt('frame', async () => {
    const frame = document.createElement('iframe');
    frame.src = `${base}/dashboard`;
    const loaded = loads(frame);
    document.body.append(frame);
    await loaded;
    return frame.contentDocument?.body?.innerText ?? '';
  });
  await attempt('form', async () => {
    const frame = document.createElement('iframe');
    frame.name = 'sink';
    document.body.append(frame);
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: `${place}/delete`, target: 'sink' });
    const field = document.createElement('input');
    Object.assign(field, { name: 'form_token', value: token });
    form.append(field);
    document.body.append(form);
    const loaded = loads(frame);
    form.submit();
    await loaded;
    return '';
  });
  return tried;
}

for (const kind of ['on its own host', 'at the shared address, in its sandbox']) {
  test(`a page ${kind} reads and changes nothing of its viewer's dashboard`, async () => {
    await published(owner, 'victim.html', samples.html('Untouched'));
    const place = owner.url().split('?')[0];
    const token = await owner.getAttribute('input[name=form_token]', 'value');
    const link = await published(owner, 'evil.html', samples.html('Evil page'));
    const count = async () => {
      await owner.goto(at('/dashboard?q=Forged'));
      return owner.locator('.pages .card').count();
    };
    const page = await context.newPage();
    if (kind.startsWith('at the shared')) {
      const direct = await request(server, { path: new URL(link).pathname });
      assert.match(direct.headers['content-security-policy'], /^sandbox /);
      await page.route(link, (route) => route.fulfill({ status: 200, headers: direct.headers, body: direct.bytes }));
    }
    await page.goto(link);
    const own = await page.evaluate(() => self.origin);
    assert.ok(own === 'null' || /^http:\/\/s-/.test(own), own);
    // Even with the token of its viewer's forms, which no page can know.
    const tried = await page.evaluate(attack, { base: server.url, place, token, hangs: HANGS });
    for (const [name, got] of Object.entries(tried)) {
      assert.notEqual(got, 'blocked: Hangs', name);
      assert.ok(!got.includes('Untouched') && !got.includes('Your pages') && !got.includes('<svg'), `${name}: ${got}`);
    }
    await page.close();
    await owner.goto(place);
    assert.equal(await owner.textContent('h1'), 'Untouched');
    assert.equal(await owner.locator('h2:has-text("deleted")').count(), 0);
    assert.equal(await count(), 0);
  });
}

const PRESSES = samples.html('Juice presses', '<h1>Juice presses</h1><p>The two presses run from Thursday to Sunday, eight hours a day.</p><ul><li>Wash the crates</li><li>Sort by hand</li><li>Press and heat to 78 degrees</li></ul><blockquote>Names on every bottle, please.</blockquote><p>Who helps gets ten bottles.</p>');
const PRICES = samples.html('Prices for members', '<h1>Prices for members</h1><table><tr><th>Fruit</th><th>Crate</th><th>Litre</th></tr><tr><td>Pears</td><td>12</td><td>3</td></tr><tr><td>Apples</td><td>9</td><td>2</td></tr><tr><td>Quinces</td><td>15</td><td>4</td></tr></table><p>Prices hold until the end of the season.</p>');

/** An orchard's account with a little of everything. */
async function furnished() {
  const there = await browser.newContext(DESK);
  const page = await openPage(there);
  await signIn(page, server, 'orchard@example.org');
  const file = (name, text) => ({ name, mimeType: 'text/html', buffer: Buffer.from(text) });
  const send = async (files, choose) => {
    await page.goto(at('/dashboard/upload'));
    await choose?.();
    await page.setInputFiles('#file', files);
    await page.click('button:has-text("Publish")');
    await page.waitForFunction((n) => document.querySelectorAll('.sending li.good, .sending li.bad').length === n, files.length);
  };
  await send([file('presses.html', PRESSES), file('harvest.pdf', samples.pdf()), file('notes.md', samples.markdown)], () => page.selectOption('#up-expires', '720'));
  await send([file('prices.html', PRICES)], () => page.fill('#up-password', 'correct horse'));
  await send([file('letter.html', samples.html('Letter to the mill', '<h1>Letter to the mill</h1><p>For your eyes only, and only once.</p>'))], () => page.selectOption('#up-visibility', 'burn'));
  await send([file('report.html', DEMO.replace('1,284', '1,248'))]);
  await page.click('.sending a:has-text("Settings")');
  await page.waitForSelector('#link');
  const place = page.url();
  await set(page, 'Visibility', async (form) => {
    await form.locator('#v-public').check();
    await form.locator('#slug').fill('orchard-report');
    await form.locator('button').click();
  });
  await set(page, 'Comments and security', async (form) => {
    await form.locator('#agentation').check();
    await form.locator('button').click();
  });
  await page.setInputFiles('#file', [file('report.html', DEMO)]);
  await page.click('button:has-text("Replace")');
  await page.waitForSelector('.done:has-text("Replaced")');
  await page.click('summary:has-text("New share link")');
  await page.fill('#share-note', 'For the board');
  await page.fill('#share-uses', '20');
  await page.click('button:has-text("Create link")');
  await page.waitForSelector('.done');
  const viewer = await fresh(await page.textContent('#link'));
  await viewer.evaluate(async (said) => {
    for (const one of said) {
      await fetch('_dropleaf/feedback', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(one) });
    }
  }, [
    { comment: 'Say by when the juice can be fetched.', element: 'button#order.primary "Order juice"', intent: 'change', severity: 'suggestion' },
    { comment: 'The table adds up to 1,248 crates. One of the two numbers is wrong.', element: 'div.figure "1,284 crates picked"', selected_text: '1,284 crates picked', intent: 'fix', severity: 'blocking' },
  ]);
  return { state: await there.storageState(), place };
}

test('every page can be read, on a desk by day and on a phone at night', async () => {
  const { state, place } = await furnished();
  for (const [view, options] of [['desktop', DESK], ['desktop-dark', { ...DESK, colorScheme: 'dark' }], ['phone-dark', PHONE]]) {
    const there = await browser.newContext({ ...options, storageState: state });
    const page = await there.newPage();
    const look = async (name) => {
      await page.evaluate(() => Promise.all([...document.images].map((picture) => { picture.loading = 'eager'; return picture.decode().catch(() => {}); })));
      const seen = await page.evaluate(examine);
      assertReadable(seen, `${name} ${view}`);
      // A phone lays out more than it shows when something is too wide.
      assert.ok(await page.evaluate((width) => document.documentElement.scrollWidth <= width, options.viewport.width), `${name} ${view} is too wide`);
      await page.screenshot({ path: pictureFile(view === 'desktop' ? name : `${name}-${view}`), fullPage: true });
    };
    for (const [name, where] of [['dashboard', '/dashboard'], ['page', new URL(place).pathname], ['claim', '/claim/site_aaaaaaaaaaaaaaaaaaaa'], ['upload-empty', '/dashboard/upload']]) {
      await page.goto(at(where));
      await look(name);
    }
    await drop(page, '.zone', [{ name: 'cellar.html', text: samples.html('Cellar book') }, { name: 'cellar.exe', text: '\0\0' }]);
    await page.waitForFunction(() => document.querySelectorAll('.sending li.good, .sending li.bad').length === 2);
    await look('upload');
    await page.goto(at(new URL(place).pathname));
    await page.evaluate(() => { for (const details of document.querySelectorAll('details')) details.open = true; });
    await look('page-open');
    await there.close();
  }
});
