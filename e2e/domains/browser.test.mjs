// Chromium on custom domains over HTTPS, with the CA's root in its store and no error ignored: the protections of a page work
// there as on its own host, and cookies of one domain reach no other.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from '../browser.mjs';
import { DEMO } from '../demo.mjs';
import { html } from '../samples.mjs';
import { FRAGMENT, seal } from '../sealed.mjs';
import { pierce } from '../shadow.mjs';
import { makeHome } from './trust.mjs';
import { NAMES, startWorld } from './world.mjs';

const PASSWORD = 'correct horse';

let world, browser, home;

before(async () => {
  world = await startWorld({ hook: true });
  await world.presents(`any.${NAMES.site}`);
  home = await makeHome(world.pebble.rootFile);
  browser = await launch({ port: world.tlsPort, home: home.home });
});
after(async () => {
  await browser?.close();
  await home?.remove();
  await world?.stop();
});

/** A page at a domain of its own; gives the site with `address`. */
async function published(host, bytes, options) {
  const site = await world.publish(bytes, options);
  await world.connect(host, site);
  return { ...site, host, address: `https://${host}/` };
}

const newPage = async (view) => openPage(await browser.newContext(view));

/** The names of the cookies that a request for this address would carry. */
const cookiesFor = async (page, address) => (await page.context().cookies(address)).map(({ name }) => name);

async function unlock(page, password) {
  await page.fill('input[name=password]', password);
  const [response] = await Promise.all([page.waitForNavigation(), page.click('button')]);
  return response.status();
}

test('a page opens, with a secure context and nothing to complain about', async () => {
  const { address } = await published('plain.customer.test', html('In the open'));
  const page = await newPage();
  const response = await page.goto(address);
  assert.equal(response.status(), 200);
  assert.match((await response.securityDetails()).issuer, /^Pebble/);
  assert.equal(page.url(), address, 'it stays at its own address');
  assert.equal(await page.textContent('h1'), 'In the open');
  assert.ok(await page.evaluate(() => isSecureContext && self.origin === location.origin));
  assert.deepEqual(page.complaints, []);
});

test('a password gate opens one domain only: no other domain, and not the page at its own host', async () => {
  const first = await published('gate.customer.test', html('First behind a gate'), { fields: { password: PASSWORD } });
  const second = await published('gate.other-customer.test', html('Second behind a gate'), { fields: { password: PASSWORD } });
  const sibling = await published('sibling.customer.test', html('Third behind a gate'), { fields: { password: PASSWORD } });
  const page = await newPage();
  assert.equal((await page.goto(first.address)).status(), 401);
  assert.equal(await unlock(page, 'battery staple'), 401);
  assert.match(await page.textContent('[role=alert]'), /Wrong password/);
  assert.equal(await unlock(page, PASSWORD), 200);
  assert.equal(await page.textContent('h1'), 'First behind a gate');
  assert.equal(page.url(), first.address);

  const cookies = await page.context().cookies();
  assert.ok(cookies.length > 0);
  for (const { name, domain, secure, httpOnly } of cookies) {
    assert.ok(name.startsWith('__Host-'), name);
    assert.deepEqual({ domain, secure, httpOnly }, { domain: first.host, secure: true, httpOnly: true });
  }
  for (const elsewhere of [second.address, sibling.address, first.url]) {
    assert.equal((await page.goto(elsewhere)).status(), 401, elsewhere);
    assert.deepEqual(await cookiesFor(page, page.url()), [], elsewhere);
  }
  assert.equal((await page.goto(first.address)).status(), 200);
  // And from the page's own host to its domain.
  const other = await newPage();
  await other.goto(first.url);
  assert.equal(new URL(other.url()).host.endsWith(`.${NAMES.site}`), true, other.url());
  assert.equal(await unlock(other, PASSWORD), 200);
  assert.equal((await other.goto(first.address)).status(), 401);
});

test('a page cannot set cookies for another domain or for the service', async () => {
  const script = (domains) =>
    `<h1>Cookies</h1><script>for (const domain of ${JSON.stringify(domains)}) document.cookie = 'stray=1; path=/; secure; domain=' + domain;
     document.cookie = 'own=1; path=/; secure';</script>`;
  const wanted = ['gate.other-customer.test', 'other-customer.test', NAMES.base, NAMES.site, 'dropleaf.test', 'test'];
  const { address } = await published('cookies.customer.test', html('Cookies', script(wanted)));
  const page = await newPage();
  await page.goto(address);
  const cookies = await page.context().cookies();
  assert.deepEqual(cookies.map(({ name, domain }) => [name, domain]), [['own', 'cookies.customer.test']]);
});

test("cookies of the customer's own domain are neither shown nor logged", async () => {
  const { address } = await published('parent.customer.test', html('Report', '<h1>Report</h1>'), { fields: { password: PASSWORD } });
  const page = await newPage();
  const value = 'session-of-the-customer-7f3a';
  await page.context().addCookies([{ name: 'session', value, domain: '.customer.test', path: '/', secure: true }]);
  for (const path of ['', 'missing', '_dropleaf/report']) {
    const response = await page.goto(address + path);
    assert.ok(!(await response.text()).includes(value), path);
    assert.ok(!JSON.stringify(await response.allHeaders()).includes(value), path);
  }
  assert.ok(!world.server.log.includes(value));
});

test('a page that can be viewed once is viewed once', async () => {
  const { address } = await published('burn.customer.test', html('Only once'), { fields: { burn_after_read: 'true' } });
  const page = await newPage();
  assert.equal((await page.goto(address)).status(), 200);
  assert.equal(await page.textContent('h1'), 'This page can be viewed only once');
  await page.click('button');
  await page.getByRole('heading', { name: 'Only once', exact: true }).waitFor();
  assert.equal(new URL(page.url()).host, 'burn.customer.test');
  const stranger = await newPage();
  assert.equal((await stranger.goto(address)).status(), 410);
});

test('a comment of the feedback toolbar reaches the owner, with the address of the domain', async () => {
  const site = await published('feedback.customer.test', DEMO, { fields: { agentation: 'true', csp_strict: 'true' } });
  const page = await newPage();
  await page.goto(site.address);
  const bar = await pierce(page);
  await bar.seen('.pill');
  await bar.click('.pill');
  await bar.seen('.act');
  await bar.click('.act');
  await bar.seen('.pickbar');
  const { x, y, width, height } = await page.locator('#order').boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
  await bar.seen('textarea');
  await bar.type('Seen at our own address.');
  await bar.click('.send');
  await bar.says('.note', /sent/);
  const { feedback } = await world.api('GET', `/sites/${site.id}/feedback`);
  assert.deepEqual(feedback.map(({ comment, page_url }) => [comment, page_url]), [['Seen at our own address.', site.address]]);
  assert.deepEqual(page.complaints, []);
});

test('an end-to-end encrypted page opens with its key', async () => {
  const words = 'Readable with the key only';
  const payload = seal(html('Sealed', `<p>${words}</p>`));
  const { address } = await published('sealed.customer.test', payload, { name: 'page.e2e', fields: { e2e: 'true' } });
  const page = await newPage();
  await page.goto(address + FRAGMENT);
  await page.getByText(words).first().waitFor();
  assert.equal(new URL(page.url()).host, 'sealed.customer.test');
  const keyless = await newPage();
  await keyless.goto(address);
  await keyless.getByText('The key is missing').first().waitFor();
});

test('a page can be reported where it is seen', async () => {
  const { address } = await published('report.customer.test', html('Reported'));
  const page = await newPage();
  assert.equal((await page.goto(`${address}_dropleaf/report`)).status(), 200);
  assert.equal(new URL(page.url()).host, 'report.customer.test');
});
