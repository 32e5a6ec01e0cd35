// The billing page of the dashboard in a real browser: money is added by card, unlocks are bought by card and from the balance,
// and the dashboard says what became of it. With the keyboard, without script, and with a payment that arrives later.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, OUTPUT, VIEWS } from './browser.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import { command, startServer } from './server.mjs';
import { startProcessor } from './stripe/processor.mjs';

const CARD = { pays: '4242424242424242', declined: '4000000000000002', stalls: '4000000000008880' };
const PAY_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let server, browser;
let people = 0;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A new person with a balance in dollars, at the billing page. */
async function person({ balance = 0, at = server, ...options } = {}) {
  people += 1;
  const email = `person-${people}@example.org`;
  await command(at, 'account', 'create', email, '--plan', 'free');
  if (balance) await command(at, 'account', 'credit', email, '--amount', String(balance), '--reason', 'for a test');
  const cookie = await sessionOf(browser, at, email);
  const page = await openPage(await browser.newContext(options));
  await takeCookie(page, cookie);
  await page.goto(`${at.url}/dashboard/billing`);
  return page;
}

const outcome = (page) => page.locator('#outcome');
const shownBalance = (page) => page.locator('#balance .amount').innerText();
const unlock = (page, sku) => page.locator(`section#${sku}`);

/** From the pay link to the card form. */
async function openForm(page) {
  await page.waitForURL(/\/pay\/\w+(#.*)?$/);
  await page.getByRole('button', { name: /^Pay \$.* by card$/ }).click();
  await page.waitForURL('**/pay/sandbox/**');
}

async function submitCard(page, number) {
  await page.getByLabel('Card number').fill(number);
  await page.getByLabel('Expiry date').fill('12 / 34');
  await page.getByLabel('Security code', { exact: true }).fill('123');
  await page.getByRole('button', { name: /^Pay \$/ }).click();
}

/** The person is back at the billing page, which says this. */
async function assertBack(page, pattern) {
  await page.waitForURL('**/dashboard/billing*');
  await outcome(page).waitFor();
  assert.match(await outcome(page).innerText(), pattern);
}

/** Refused forms have an error status, which the console repeats; nothing else may be there. */
function assertQuiet(page) {
  assert.deepEqual(page.complaints.filter((text) => !/status of 4(00|02|22)/.test(text)), []);
}

test('money is added with a card, and the dashboard shows the new balance and its history', async () => {
  const page = await person();
  assert.equal(await shownBalance(page), '$0.00');
  await page.getByRole('button', { name: 'Add $10' }).click();
  await openForm(page);
  await submitCard(page, CARD.pays);
  await assertBack(page, /^Your balance is now \$10\.00\.$/);
  assert.equal(await shownBalance(page), '$10.00');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'outcome');
  assert.equal(page.url(), `${server.url}/dashboard/billing`, 'loading it again says nothing again');
  await page.getByRole('link', { name: 'Balance history' }).click();
  await page.waitForURL('**/dashboard/account#transactions');
  assert.match(await page.locator('#transactions').innerText(), /\$10\.00/);
  await page.getByRole('link', { name: 'Add money or buy unlocks' }).click();
  await page.waitForURL('**/dashboard/billing');
  assertQuiet(page);
});

test('a wrong amount is explained and kept, a declined card is explained, and another one pays', async () => {
  const page = await person();
  const amount = page.getByLabel('Other amount');
  for (const typed of ['0.20', 'ten', '5000']) {
    await amount.fill(typed);
    await amount.press('Enter');
    await page.getByRole('alert').waitFor();
    assert.match(await outcome(page).innerText(), /between \$0\.50 and \$1000\.00/);
    assert.equal(await amount.inputValue(), typed);
  }
  await amount.fill('7.25');
  await amount.press('Enter');
  await openForm(page);
  await submitCard(page, CARD.declined);
  await page.getByRole('alert').filter({ hasText: 'declined' }).waitFor();
  await submitCard(page, CARD.pays);
  await assertBack(page, /^Your balance is now \$7\.25\.$/);
  assertQuiet(page);
});

test('leaving without paying leads back, and nothing is added', async () => {
  const page = await person();
  await page.getByRole('button', { name: 'Add $5', exact: true }).click();
  await openForm(page);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.waitForURL(/\/pay\/\w+$/);
  await page.getByRole('link', { name: 'go back to billing' }).click();
  await page.waitForURL('**/dashboard/billing');
  assert.equal(await shownBalance(page), '$0.00');
  assertQuiet(page);
});

test('an unlock is bought by card', async () => {
  const page = await person();
  await unlock(page, 'make_permanent').getByRole('button', { name: /^Pay by card/ }).click();
  await openForm(page);
  await submitCard(page, CARD.pays);
  await assertBack(page, /^Your pages are permanent\./);
  const card = unlock(page, 'make_permanent');
  assert.match(await card.innerText(), /Active, with no expiry/);
  assert.equal(await card.locator('button, a').count(), 0, 'nothing is left to buy');
  assertQuiet(page);
});

test('an unlock is bought from the balance after a question', async () => {
  const page = await person({ balance: 60 });
  await unlock(page, 'higher_limits').getByRole('link', { name: /^Pay from balance/ }).click();
  await page.waitForURL('**/unlocks/higher_limits');
  assert.match(await page.innerText('main'), /\$60\.00[\s\S]*-\$25\.00[\s\S]*\$35\.00/);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.waitForURL('**/dashboard/billing');
  assert.equal(await shownBalance(page), '$60.00');
  await unlock(page, 'higher_limits').getByRole('link', { name: /^Pay from balance/ }).click();
  await page.getByRole('button', { name: 'Pay $25.00 from balance' }).click();
  await assertBack(page, /^Higher limits: active until .* Your balance is now \$35\.00\.$/);
  assert.match(await unlock(page, 'higher_limits').innerText(), /Buying it again adds the time/);
  assertQuiet(page);
});

test('two clicks buy once', async () => {
  const page = await person({ balance: 60 });
  await page.goto(`${server.url}/dashboard/billing/unlocks/higher_limits`);
  // The same form twice at once, and then as a person does it.
  const statuses = await page.evaluate(() => {
    const form = document.querySelector('main form');
    const send = () => fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    return Promise.all([send(), send()].map(async (sent) => (await sent).status));
  });
  assert.deepEqual(statuses, [200, 200]);
  await page.getByRole('button', { name: 'Pay $25.00 from balance' }).dblclick();
  await assertBack(page, /Your balance is now \$35\.00\.$/);
  assert.equal(await shownBalance(page), '$35.00');
  assertQuiet(page);
});

test('a balance that does not suffice offers the card, and a form that is too late says so', async () => {
  const page = await person({ balance: 26 });
  await page.goto(`${server.url}/dashboard/billing/unlocks/higher_limits`);
  const other = await openPage(page.context());
  await other.goto(`${server.url}/dashboard/billing/unlocks/make_permanent`);
  await other.getByRole('button', { name: 'Pay $2.00 from balance' }).click();
  await assertBack(other, /^Your pages are permanent\. Your balance is now \$24\.00\.$/);
  await page.getByRole('button', { name: 'Pay $25.00 from balance' }).click();
  await page.getByRole('alert').waitFor();
  assert.match(await outcome(page).innerText(), /does not cover \$25\.00\. Nothing was charged/);
  const card = unlock(page, 'higher_limits');
  assert.match(await card.innerText(), /Your balance is \$1\.00 short/);
  assert.equal(await card.getByRole('link').count(), 0);
  await card.getByRole('button', { name: /^Pay by card/ }).click();
  await openForm(page);
  await submitCard(page, CARD.pays);
  await assertBack(page, /^Higher limits: active until .* \$24\.00\.$/);
  assertQuiet(page);
});

/** Tab until the focus is on something with this accessible name. */
async function tabTo(page, name) {
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim());
  for (let presses = 0; (await focused()) !== name; presses += 1) {
    assert.ok(presses < 40, `Tab reaches ${name}`);
    await page.keyboard.press('Tab');
  }
}

test('everything can be done with the keyboard', async () => {
  const page = await person();
  await tabTo(page, 'Add $5');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/pay\/\w+(#.*)?$/);
  await tabTo(page, 'Pay $5.00 by card');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/pay/sandbox/**');
  await page.waitForFunction(() => document.activeElement.id === 'number');
  for (const typed of [CARD.pays, '1234', '123']) {
    await page.keyboard.type(typed);
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await assertBack(page, /\$5\.00/);
  await tabTo(page, 'Pay from balance: Permanent pages');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/unlocks/make_permanent');
  await tabTo(page, 'Pay $2.00 from balance');
  await page.keyboard.press('Enter');
  await assertBack(page, /^Your pages are permanent\. Your balance is now \$3\.00\.$/);
  assertQuiet(page);
});

test('without script everything works', async () => {
  const page = await person({ javaScriptEnabled: false });
  await page.getByLabel('Other amount').fill('30');
  await page.getByRole('button', { name: 'Continue' }).click();
  await openForm(page);
  await submitCard(page, CARD.pays);
  await assertBack(page, /^Your balance is now \$30\.00\.$/);
  await unlock(page, 'higher_limits').getByRole('link', { name: /^Pay from balance/ }).click();
  await page.getByRole('button', { name: 'Pay $25.00 from balance' }).click();
  await assertBack(page, /\$5\.00\.$/);
});

test('a payment that stalls is awaited, and completes when the money arrives', async () => {
  const processor = await startProcessor(null, { data: path.join(server.dataDir, 'dropleaf.db') });
  try {
    const page = await person();
    await page.getByRole('button', { name: 'Add $25' }).click();
    await openForm(page);
    const checkout = page.url().split('/').at(-1);
    await submitCard(page, CARD.stalls);
    await page.getByRole('heading', { level: 1, name: 'Your payment is being processed' }).waitFor();
    const other = await openPage(page.context());
    await other.goto(`${server.url}/dashboard/billing`);
    assert.equal(await shownBalance(other), '$0.00', 'the money is not there yet');
    assert.equal((await processor.post(`/sandbox/${checkout}/receive_funds`)).status, 200);
    // The page asks again by itself.
    await assertBack(page, /^Your balance is now \$25\.00\.$/);
    assertQuiet(page);
  } finally {
    await processor.stop();
  }
});

test('without a card processor there is no card to press, and without payments no billing', async () => {
  const live = { DROPLEAF_PAYMENTS__MODE: 'live', DROPLEAF_PAYMENTS__FACILITATOR_URL: 'http://127.0.0.1:9', DROPLEAF_PAYMENTS__EVM_PAY_TO: PAY_TO };
  const at = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128', ...live } });
  try {
    const page = await person({ at, balance: 5 });
    const text = await page.innerText('main');
    assert.match(text, /Card payments are not set up on this server/);
    assert.doesNotMatch(text, /by card|Test mode|Sandbox/);
    assert.equal(await page.locator('main button').count(), 0);
    await page.screenshot({ path: path.join(OUTPUT, 'billing-no-cards-desktop.png'), fullPage: true });
    await assertAccessible(page, 'without cards');
    assertQuiet(page);
  } finally {
    await at.stop();
  }
  const off = await startServer({ env: { DROPLEAF_PAYMENTS__MODE: 'off' } });
  try {
    const page = await openPage(await browser.newContext());
    await takeCookie(page, await sessionOf(browser, off));
    await page.goto(`${off.url}/dashboard/account`);
    assert.equal(await page.locator('a[href*=billing]').count(), 0);
    assert.equal((await page.goto(`${off.url}/dashboard/billing`)).status(), 404);
  } finally {
    await off.stop();
  }
});

test('it looks right and is accessible in light and dark, on a desk and on a phone', async () => {
  for (const { name, ...view } of VIEWS) {
    const isPhone = name.startsWith('phone');
    const page = await person({ ...view, hasTouch: isPhone, isMobile: isPhone });
    const look = async (what) => {
      await page.screenshot({ path: path.join(OUTPUT, `billing-${what}-${name}.png`), fullPage: true });
      await assertAccessible(page, `${what} ${name}`);
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!isWide, `${what} ${name} scrolls sideways`);
    };
    await look('empty');
    await page.getByLabel('Other amount').fill('5000');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
    await look('wrong-amount');
    await page.getByRole('button', { name: 'Add $50' }).click();
    await page.waitForURL(/\/pay\/\w+(#.*)?$/);
    await look('pay');
    const link = page.url();
    await openForm(page);
    await submitCard(page, CARD.pays);
    await assertBack(page, /\$50\.00/);
    await look('paid');
    await page.goto(link);
    await look('receipt');
    await page.goto(`${server.url}/dashboard/billing/unlocks/higher_limits`);
    await look('question');
    await page.getByRole('button', { name: 'Pay $25.00 from balance' }).click();
    await assertBack(page, /active until/);
    await look('unlocked');
    await page.goto(`${server.url}/dashboard/account`);
    await look('account');
    assertQuiet(page);
    await page.context().close();
  }
});
