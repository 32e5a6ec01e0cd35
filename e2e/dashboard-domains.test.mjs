// Custom domains in the dashboard, in a real browser and with a real DNS server: a domain is added, its record is shown, DNS
// answers differently, and the page explains it. With the keyboard, without script, and while the page stays open.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, OUTPUT, pictureFile, VIEWS } from './browser.mjs';
import { startDns } from './domains/dns.mjs';
import { api, publish } from './http.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import * as samples from './samples.mjs';
import { command, startServer, until } from './server.mjs';

let server, browser, dns;
let people = 0;

before(async () => {
  dns = await startDns();
  // A name without a record leads nowhere.
  await dns.setDefault('');
  const env = { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128', DROPLEAF_DNS__SERVERS: dns.address, DROPLEAF_LIMITS__DOMAIN_CHECKS_PER_HOUR: '1000' };
  // Names below localhost never reach a DNS server.
  server = await startServer({ env, siteUrl: (port) => `http://pages.dropleaf-pages.test:${port}` });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await dns?.stop();
});

/** A new person with two pages, at the list of domains; `page.name(label)` is a host name that nobody else uses. */
async function person({ plan = 'pro', pages = ['Quarterly report', 'Release notes'], balance = 0, at = server, ...options } = {}) {
  people += 1;
  const [email, zone] = [`person-${people}@example.org`, `customer-${people}.test`];
  await command(at, 'account', 'create', email, '--plan', plan);
  if (balance) await command(at, 'account', 'credit', email, '--amount', String(balance), '--reason', 'for a test');
  const key = await command(at, 'account', 'key', email);
  for (const title of pages) await publish(at, { name: 'page.html', bytes: samples.html(title), key });
  const cookie = await sessionOf(browser, at, email);
  const page = await openPage(await browser.newContext(options));
  await takeCookie(page, cookie);
  await page.goto(`${at.url}/dashboard/domains`);
  return Object.assign(page, { zone, call: api(at, key), name: (label) => (label ? `${label}.${zone}` : zone) });
}

async function add(page, name, title, typed = name) {
  await page.goto(`${server.url}/dashboard/domains`);
  await page.getByLabel('Domain', { exact: true }).fill(typed);
  if (title) await page.getByRole('combobox', { name: 'Page', exact: true }).selectOption({ label: title });
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

const chips = (page) => page.locator('.head .badges').innerText();
const steps = (page) => page.locator('.steps > li').evaluateAll((all) => all.map((step) => step.className.replace('-step', '')));
const outcome = (page) => page.locator('#outcome').innerText();
const value = (page, of = 'record-0') => page.locator(`#${of}-value`).innerText();

async function check(page) {
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.waitForURL(/domains\/[^/]+$/);
  assert.match(await outcome(page), /^Checked/);
}

function assertQuiet(page) {
  assert.deepEqual(page.complaints, []);
}

test('a domain is added, explained while its record is wrong, and verified when it is right', async () => {
  const page = await person({ permissions: ['clipboard-read', 'clipboard-write'] });
  assert.match(await page.innerText('#domains'), /No domains yet/);
  const name = page.name('reports');
  await add(page, name, 'Quarterly report', `${name.toUpperCase()}.`);
  assert.match(await outcome(page), /^Domain added/);
  assert.match(await chips(page), /Pending/);
  assert.deepEqual(await steps(page), ['current', 'later', 'later']);
  // The record is that of the API, and each of its parts can be copied.
  const { domains: [known] } = await page.call('GET', '/custom-domains');
  const [record] = known.records;
  for (const part of ['type', 'name', 'value']) {
    const shown = await page.locator(`#record-0-${part}`).innerText();
    assert.equal(shown, record[part]);
    await page.locator(`[data-copy=record-0-${part}]`).click();
    await page.locator(`[data-copy=record-0-${part}]`, { hasText: 'Copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
  }
  assert.match(await page.innerText('#record'), /the name is reports\./);

  await check(page);
  assert.match(await page.innerText('.found'), /No record yet/);
  assert.match(await chips(page), /Pending/);

  await dns.setServfail(name);
  await check(page);
  assert.match(await page.innerText('.found'), /could not be checked/);
  assert.match(await chips(page), /Pending/, 'a DNS server that is down refutes nothing');
  await dns.clearServfail(name);

  await dns.setCname(name, 'elsewhere.example.com');
  await check(page);
  assert.match(await chips(page), /Needs attention/);
  assert.match(await page.innerText('.steps .problem'), /We found a CNAME to elsewhere\.example\.com/);
  assert.deepEqual(await steps(page), ['current', 'failed', 'later']);

  await dns.setCname(name, await value(page));
  await check(page);
  assert.match(await chips(page), /Verified/);
  assert.deepEqual((await steps(page)).slice(0, 2), ['done', 'done']);
  assert.equal(await page.locator('.steps .problem, .found').count(), 0);
  assert.ok(await page.getByRole('link', { name: 'Open page' }).isVisible());
  await page.getByRole('link', { name: 'Domains' }).first().click();
  assert.match(await page.innerText('#domains li'), new RegExp(`${name}[^]*Verified[^]*Shows Quarterly report`));
  assertQuiet(page);
});

test('a bare domain is proven by TXT, and its page says where to point it', async () => {
  const page = await person();
  const name = page.name();
  await dns.setA(await target(page, name), '192.0.2.7');
  await page.reload();
  const text = await page.innerText('#record');
  assert.match(text, new RegExp(`TXT[^]*_dropleaf\\.${name}[^]*A[^]*192\\.0\\.2\\.7`));
  assert.match(text, /ALIAS, ANAME or CNAME flattening/);
  await dns.setTxt(`_dropleaf.${name}`, await value(page));
  await check(page);
  assert.match(await chips(page), /Verified/);
  assertQuiet(page);
});

/** Adds a domain and gives what its record must lead to. */
async function target(page, name) {
  await add(page, name);
  return value(page);
}

test('an open page shows by itself what happened, and asks no more than it must', async () => {
  const page = await person();
  const name = page.name('live');
  const asked = [];
  await add(page, name);
  await page.clock.install();
  await page.reload();
  page.on('request', (request) => request.resourceType() !== 'other' && asked.push(new URL(request.url()).pathname));
  await page.evaluate(() => { window.sameDocument = true; });
  const first = page.waitForResponse('**?live=1');
  await page.clock.runFor(3100);
  await (await first).finished();
  assert.match(await chips(page), /Pending/);

  await dns.setCname(name, await value(page));
  assert.equal((await page.call('POST', `/custom-domains/${name}/verify`)).status, 'verified');
  await until('the state that changed', async () => {
    await page.clock.runFor(3100);
    return /Verified/.test(await chips(page));
  });
  await page.getByRole('link', { name: 'Open page' }).waitFor();
  assert.deepEqual((await steps(page)).slice(0, 2), ['done', 'done']);
  assert.ok(await page.evaluate(() => window.sameDocument), 'the page was not loaded again');
  // Times are the viewer's own, as on the page itself.
  assert.equal(await page.locator('.steps time').first().evaluate((time) => /UTC/.test(time.textContent)), false);

  assert.ok(asked.length >= 2 && asked.every((path) => path === `/dashboard/domains/${name}`), `${asked}`);
  asked.length = 0;
  await page.clock.runFor(120_000);
  assert.deepEqual(asked, [], 'there is nothing left to wait for');
  assertQuiet(page);
});

test('an open page that is not seen asks nothing until it is seen again', async () => {
  const page = await person();
  const name = page.name('hidden');
  await add(page, name);
  await page.clock.install();
  await page.reload();
  const show = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await show(true);
  let asked = 0;
  page.on('request', (request) => (asked += Number(request.url().includes('live='))));
  await page.clock.runFor(600_000);
  assert.equal(asked, 0);
  await dns.setCname(name, await value(page));
  await page.call('POST', `/custom-domains/${name}/verify`);
  await show(false);
  await page.locator('.head .badges', { hasText: 'Verified' }).waitFor();
  assertQuiet(page);
});

test('an open page stops asking when the session has ended, and survives a server that is gone', async () => {
  const page = await person();
  await add(page, page.name('away'));
  await page.clock.install();
  await page.reload();
  let asked = 0;
  await page.route('**/dashboard/domains/*live=*', (route) => {
    asked += 1;
    return asked === 1 ? route.abort() : route.continue();
  });
  await until('another request after the one that failed', async () => {
    await page.clock.runFor(3100);
    return asked >= 2;
  });
  await page.context().clearCookies();
  const login = page.waitForResponse('**/login?next=*');
  await until('the sign-in page instead of the domain', async () => {
    await page.clock.runFor(3100);
    return Promise.race([login, false]);
  });
  assert.match(await chips(page), /Pending/, 'what was there stays');
});

test('a domain becomes the address of its page, moves to another one and is deleted', async () => {
  const page = await person();
  const name = page.name('main');
  await add(page, name, 'Quarterly report');
  await dns.setCname(name, await value(page));
  await check(page);
  assert.match(await chips(page), /Main address/, 'the form proposes it');
  const url = async (title) => (await page.call('GET', '/sites')).sites.find((site) => site.title === title).url;
  assert.ok((await url('Quarterly report')).includes(`//${name}`));
  await page.getByRole('button', { name: 'Stop using as main address' }).click();
  await page.getByRole('button', { name: 'Use as main address' }).waitFor();
  assert.match(await outcome(page), /its address on this server again/);
  assert.ok(!(await url('Quarterly report')).includes(name));
  await page.getByRole('button', { name: 'Use as main address' }).click();
  await page.getByRole('button', { name: 'Stop using as main address' }).waitFor();
  assert.ok((await url('Quarterly report')).includes(`//${name}`));

  await page.getByText('Show another page').click();
  await page.getByRole('combobox', { name: 'Page', exact: true }).selectOption({ label: 'Release notes' });
  await page.getByRole('button', { name: 'Move domain' }).click();
  await page.locator('#domain-page').getByRole('link', { name: 'Release notes' }).waitFor();
  assert.match(await outcome(page), /now shows this page/);
  await page.locator('#domain-page').getByRole('link', { name: 'Release notes' }).click();
  assert.match(await page.innerText('#page-domains'), new RegExp(`${name}[^]*Verified`));
  await page.getByRole('link', { name: 'Add a domain' }).click();
  assert.equal(await page.getByRole('combobox', { name: 'Page', exact: true }).evaluate((list) => list.selectedOptions[0].text), 'Release notes');

  await page.goto(`${server.url}/dashboard/domains/${name}`);
  page.once('dialog', (dialog) => dialog.dismiss());
  await page.getByRole('button', { name: 'Delete domain' }).click();
  assert.equal((await page.call('GET', '/custom-domains')).domains.length, 1, 'dismissed');
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Delete domain' }).click();
  await page.getByText('No domains yet').waitFor();
  assert.match(await outcome(page), /^Domain deleted/);
  assert.equal((await page.goto(`${server.url}/dashboard/domains/${name}`)).status(), 404);
});

test('names that cannot be used are refused beside the field, which keeps them', async () => {
  const page = await person();
  for (const [typed, why] of [
    ['localhost', /must be a name below a public suffix/],
    ['co.uk', /must be a name below a public suffix/],
    ['*.example.com', /wildcards/],
    ['192.0.2.1', /not an IP address/],
    ['https://reports.example.com/', /without scheme/],
  ]) {
    await page.getByLabel('Domain', { exact: true }).fill(typed);
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByRole('alert').filter({ hasText: why }).waitFor();
    assert.equal(await page.getByLabel('Domain', { exact: true }).inputValue(), typed);
  }
  await add(page, page.name('twice'));
  await page.goto(`${server.url}/dashboard/domains`);
  await page.getByLabel('Domain', { exact: true }).fill(page.name('twice'));
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.getByRole('alert').filter({ hasText: 'You have already added this domain.' }).waitFor();
});

test('everything can be done with the keyboard', async () => {
  const page = await person();
  const name = page.name('keys');
  const reach = async (label) => {
    const focused = () => page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.labels?.[0]?.firstChild.textContent.trim() ?? document.activeElement.textContent.trim());
    for (let left = 60; (await focused()) !== label; left -= 1) {
      assert.ok(left > 0, `${label} is not reached`);
      await page.keyboard.press('Tab');
    }
  };
  await reach('Domain');
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'outcome', 'the message has the focus');
  await dns.setCname(name, await value(page));
  await page.keyboard.press('Shift+Tab');
  await reach('Copy value of the CNAME record');
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  await reach('Check now');
  await page.keyboard.press('Enter');
  await page.locator('.head .badges', { hasText: 'Verified' }).waitFor();
  await reach('Show another page');
  await page.keyboard.press('Enter');
  await reach('Move domain');
  await reach('Stop using as main address');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Use as main address' }).waitFor();
  page.once('dialog', (dialog) => dialog.accept());
  await reach('Delete domain');
  await page.keyboard.press('Enter');
  await page.getByText('No domains yet').waitFor();
});

test('without script everything works', async () => {
  const page = await person({ javaScriptEnabled: false });
  const name = page.name('plain');
  await add(page, name);
  await dns.setCname(name, await value(page));
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.locator('.head .badges', { hasText: 'Verified' }).waitFor();
  await page.getByRole('button', { name: 'Delete domain' }).click();
  await page.getByText('No domains yet').waitFor();
});

test('a plan without domains leads to the unlock, and the unlock to the form', async () => {
  const page = await person({ plan: 'free', balance: 100 });
  assert.match(await page.innerText('#add'), /does not include custom domains/);
  assert.equal(await page.getByRole('button', { name: 'Add domain' }).count(), 0);
  assert.ok(await page.getByRole('button', { name: 'Pay by card' }).isVisible());
  await page.getByRole('link', { name: /^Pay from balance/ }).click();
  await page.getByRole('button', { name: /^Pay \$.* from balance$/ }).click();
  await page.waitForURL('**/dashboard/billing*');
  await add(page, page.name('bought'));
  const off = await startServer({ env: { DROPLEAF_PAYMENTS__MODE: 'off' } });
  try {
    const other = await person({ plan: 'free', at: off, pages: [] });
    assert.match(await other.innerText('#add'), /Ask the operator/);
    assert.equal(await other.locator('main form, main a[href*=billing]').count(), 0);
  } finally {
    await off.stop();
  }
});

test('it looks right and is accessible in light and dark, on a desk and on a phone', async () => {
  for (const { name: view, ...options } of VIEWS) {
    const isPhone = view.startsWith('phone');
    const page = await person({ ...options, hasTouch: isPhone, isMobile: isPhone });
    const capture = async (what, at = page) => {
      const name = `domains-${what}-${view}`;
      const file = view === 'desktop' ? pictureFile(`domains-${what}`) : path.join(OUTPUT, `${name}.png`);
      await at.screenshot({ path: file, fullPage: true });
      await assertAccessible(at, name);
      const isWide = await at.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!isWide, `${name} scrolls sideways`);
    };
    await capture('empty');
    await page.getByLabel('Domain', { exact: true }).fill('co.uk');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByRole('alert').waitFor();
    await capture('refused');
    await add(page, page.name('reports'), 'Quarterly report');
    await capture('new');
    await page.goto(page.url());
    await capture('pending');
    await page.locator('#record summary').click();
    await capture('proxy');
    await dns.setCname(page.name('reports'), 'ghs.googlehosted.com');
    await check(page);
    await capture('failed');
    await dns.setCname(page.name('reports'), await value(page));
    await check(page);
    await page.goto(page.url());
    await capture('verified');
    await dns.setA(await target(page, page.name()), '192.0.2.7', '198.51.100.7');
    await page.goto(`${server.url}/dashboard/domains/${page.name()}`);
    await capture('apex');
    await page.goto(`${server.url}/dashboard/domains`);
    await capture('list');
    await page.getByRole('link', { name: 'Quarterly report' }).first().click();
    await capture('page');
    assertQuiet({ complaints: page.complaints.filter((text) => !/400 \(Bad Request\)/.test(text)) });
    await page.context().close();
    const free = await person({ plan: 'free', balance: 100, ...options, hasTouch: isPhone, isMobile: isPhone });
    await capture('no-plan', free);
    await free.context().close();
  }
});
