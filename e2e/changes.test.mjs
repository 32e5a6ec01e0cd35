// What changed between versions, in a real browser: side by side for the owner, as readable text for viewers, behind the gate
// of the page, and from the bar of a live page. Nothing of the page runs in either.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { api, publish, upload } from './http.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import { operatorKey, startServer, until } from './server.mjs';
import { pierce } from './shadow.mjs';
import { zip } from './zip.mjs';

const LONG = 'a-very-long-word-without-a-break-'.repeat(12);
const document = (day, more = '') => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Launch plan</title>
<h1>Launch plan</h1>
<p>We begin on ${day}, at nine in the morning, with everyone who can come.</p>
<ul><li>Write the notes</li><li>Invite the team</li></ul>
<p>${LONG}</p>
${more}<script>document.title = 'The script ran: ${day}';</script>
</html>
`;

let server, browser, key, cookie;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  browser = await launch();
  cookie = await sessionOf(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const make = (bytes, fields, name = 'plan.html') => publish(server, { name, bytes, fields, key });
async function replace(site, bytes, name = 'plan.html') {
  const answer = await upload(server, { name, bytes, key, to: site.id });
  assert.equal(answer.status, 200, answer.text());
}

/** Looks at a page in every view and keeps a picture of each. */
async function look(url, name, { signedIn = false } = {}) {
  for (const { name: view, ...options } of VIEWS) {
    const page = await openPage(await browser.newContext(options));
    if (signedIn) await takeCookie(page, cookie);
    const answer = await page.goto(url);
    assert.equal(answer.status(), 200);
    await page.screenshot({ path: pictureFile(`${name}-${view}`), fullPage: true });
    const wide = await page.evaluate(() => globalThis.document.documentElement.scrollWidth - globalThis.innerWidth);
    assert.ok(wide <= 0, `${name} ${view} is ${wide} pixels too wide`);
    assertReadable(await page.evaluate(examine), `${name} ${view}`);
    await assertAccessible(page, `${name} ${view}`);
    assert.doesNotMatch(await page.title(), /script ran/);
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }
}

test('the owner compares versions side by side', async () => {
  const site = await make(document('Monday'));
  await replace(site, document('Friday', '<p>Bring <b>cake</b>.</p>\n'));
  await replace(site, document('Sunday', '<p>Bring <b>cake</b>.</p>\n'));
  await look(`${server.url}/dashboard/pages/${site.id}/changes`, 'changes-owner', { signedIn: true });
  const page = await openPage(await browser.newContext());
  await takeCookie(page, cookie);
  await page.goto(`${server.url}/dashboard/pages/${site.id}#versions`);
  await page.locator('a[href*="/changes?to=2"]').click();
  await page.getByRole('heading', { level: 1, name: 'Changes from version 1 to 2' }).waitFor();
  assert.deepEqual(await page.locator('.gone b').allTextContents().then((all) => all.filter((word) => /day/.test(word)).slice(0, 1)), ['Monday']);
  await page.getByLabel('To').selectOption('3');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('heading', { level: 1, name: 'Changes from version 1 to 3' }).waitFor();
  assert.ok((await page.locator('.new').allTextContents()).some((line) => line.includes('cake')));
  await page.context().close();
});

test('files of an archive are compared one by one', async () => {
  const files = (color, more) => zip([{ name: 'index.html', bytes: document('Monday') }, { name: 'css/style.css', bytes: `p { color: ${color} }\n` }, { name: more, bytes: `${more}\n` }]);
  const site = await make(files('red', 'old.txt'), {}, 'site.zip');
  await replace(site, files('green', 'new.txt'), 'site.zip');
  await look(`${server.url}/dashboard/pages/${site.id}/changes`, 'changes-archive', { signedIn: true });
});

test('viewers read what changed, and nothing of the page runs', async () => {
  const site = await make(document('Monday'), { show_changes: 'true' });
  await replace(site, document('Friday', '<p>Bring <b>cake</b>.</p>\n'));
  const url = new URL('_dropleaf/changes', site.url).href;
  await look(url, 'changes-viewer');
  const page = await openPage(await browser.newContext());
  await page.goto(url);
  assert.deepEqual(await page.locator('.gone b').allTextContents(), ['Monday']);
  assert.ok((await page.locator('.new').allTextContents()).some((line) => line.includes('Bring cake.')));
  assert.equal(await page.locator('main').getByText('document.title').count(), 0);
  await page.getByRole('link', { name: 'Back to the page' }).click();
  await page.getByRole('heading', { name: 'Launch plan' }).waitFor();
  await page.context().close();
});

test('the password of the page is asked first, and leads back here', async () => {
  const site = await make(document('Monday'), { show_changes: 'true', password: 'correct horse' });
  await replace(site, document('Friday'));
  const page = await openPage(await browser.newContext());
  const answer = await page.goto(new URL('_dropleaf/changes?from=1', site.url).href);
  assert.equal(answer.status(), 401);
  assert.equal(await page.getByText('Monday').count(), 0);
  await page.fill('input[name=password]', 'correct horse');
  await page.click('main button');
  await page.getByRole('heading', { name: 'What changed' }).waitFor();
  assert.deepEqual(await page.locator('.new b').allTextContents(), ['Friday']);
  await page.context().close();
});

test('the bar of a live page leads to what changed since the version that is open', async () => {
  const site = await make(document('Monday', '<input aria-label="Note">'), { show_changes: 'true', live: 'true' });
  const page = await openPage(await browser.newContext());
  const isOpen = page.waitForResponse((response) => response.url().endsWith('_dropleaf/live'));
  await page.goto(site.url);
  await isOpen;
  await page.getByLabel('Note').fill('In the middle of something');
  await replace(site, document('Friday', '<input aria-label="Note">'));
  await replace(site, document('Sunday', '<input aria-label="Note">'));
  const bar = await pierce(page, 'dropleaf-live');
  await until('the bar', async () => (await bar.text('p').catch(() => null)) === 'Version 3 is out');
  const opened = page.context().waitForEvent('page');
  await bar.click('a');
  const changes = await opened;
  await changes.getByText('Version 3, compared with version 1').waitFor();
  assert.deepEqual(await changes.locator('.gone b').allTextContents(), ['Monday']);
  await page.context().close();
});

test('the setting is in the dashboard and turns it off again', async () => {
  const site = await make(document('Monday'));
  const page = await openPage(await browser.newContext());
  await takeCookie(page, cookie);
  const set = async (isOn) => {
    await page.goto(`${server.url}/dashboard/pages/${site.id}`);
    await page.getByText('Comments and security').click();
    await page.getByLabel('Show what changed').setChecked(isOn);
    await page.locator('form[action*="/options"] button').click();
    await page.getByText('Saved.').waitFor();
    return (await api(server, key)('GET', `/sites/${site.id}`)).show_changes;
  };
  assert.equal(await set(true), true);
  assert.equal(await set(false), false);
  await page.context().close();
});
