// The feedback toolbar in real Chromium, against a server that imitates dropleaf's feedback address: every flow by mouse,
// by touch and by keyboard alone, under the strict policy; hostile comments, hostile pages, and a server that misbehaves.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { launch, openPage, pictureFile } from './browser.mjs';
import { COMMENTS, DEMO } from './demo.mjs';
import { SITE, startImitation, strict } from './imitation.mjs';
import { ROOT, until } from './server.mjs';
import { pierce } from './shadow.mjs';

const DESK = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
const LOCKED = { 'content-security-policy': strict() };

let browser, server, context, page, bar;

before(async () => {
  browser = await launch();
});
after(async () => browser?.close());
beforeEach(async () => {
  server = await startImitation({ 'index.html': { html: DEMO, headers: LOCKED } });
});
afterEach(async () => {
  await context?.close();
  context = undefined;
  await server.stop();
});

/** Opens a page with its toolbar. `before` runs in the page ahead of every script. */
async function visit({ at = '', view = DESK, before: early, clock, opens = '.pill' } = {}) {
  context = await browser.newContext(view);
  page = await openPage(context);
  if (clock) await page.clock.install();
  if (early) await page.addInitScript(early);
  await page.goto(server.url + SITE + at);
  bar = await pierce(page);
  await bar.seen(opens);
}

const open = async (options) => {
  await bar.click('.pill', options);
  await bar.seen('.act');
};

/** Writes a comment on the whole page up to the send button. */
async function draft(text) {
  await open();
  await bar.click('.act.quiet');
  await bar.seen('textarea');
  await bar.type(text);
}

const kept = () => bar.run((root) => root.querySelector('textarea').value);
const middle = async (selector) => {
  const { x, y, width, height } = await page.locator(selector).boundingBox();
  return [x + width / 2, y + height / 2];
};

describe('a comment', () => {
  test('on an element picked with the mouse is sent under the strict policy', async () => {
    await visit({ at: '?t=secret-token&from=mail#summary' });
    await open();
    await bar.click('.act');
    await bar.seen('.pickbar');
    const at = await middle('#order');
    await page.mouse.move(...at);
    await bar.says('.tag', /^button#order\.primary "Order juice"$/);
    await page.evaluate(() => document.querySelector('#order').addEventListener('click', () => (document.title = 'clicked')));
    await page.mouse.click(...at);
    assert.equal(await bar.text('.subject'), 'button#order.primary "Order juice"');
    assert.equal(await bar.focused(), 'comment', 'the cursor stands in the comment');
    assert.notEqual(await page.title(), 'clicked', 'picking does not press the page’s own button');
    await bar.type('Say by when.');
    await bar.click('.chip.fix input');
    await bar.click('.chip.blocking input');
    await bar.click('.send');
    await bar.says('.note', /sent/);
    assert.deepEqual(server.posted, [{
      comment: 'Say by when.',
      element: 'button#order.primary "Order juice"',
      element_path: '#order',
      selected_text: null,
      page_url: `${server.url}${SITE}?from=mail`,
      intent: 'fix',
      severity: 'blocking',
    }]);
    assert.equal(await bar.count('.item.current'), 1);
    assert.equal(await bar.count('.dot'), 1);
    assert.equal(await kept(), '', 'the field is empty again');
    assert.deepEqual(page.complaints, []);
  });

  test('on selected text keeps the words and their element', async () => {
    await visit();
    await page.evaluate(() => {
      const node = document.querySelectorAll('main p')[1].firstChild;
      getSelection().setBaseAndExtent(node, 0, node, 'Frost came early'.length);
    });
    await bar.click('.bubble');
    assert.equal(await bar.text('.subject'), '“Frost came early”');
    await bar.type('How early?');
    await bar.click('.chip.question input');
    await bar.click('.send');
    await bar.says('.note', /sent/);
    const [sent] = server.posted;
    assert.equal(sent.selected_text, 'Frost came early');
    assert.equal(sent.element_path, 'body > main > p:nth-of-type(2)');
    assert.equal(sent.intent, 'question');
    assert.equal(await bar.count('.dot'), 1, 'it is anchored at its words at once');
  });

  test('on very long selected text keeps its beginning, and finds it again', async () => {
    server.pages['index.html'] = DEMO.replace('<table>', `<p id="long">${'many 🌿 words '.repeat(400)}</p><table>`);
    await visit({ view: PHONE });
    await page.evaluate(() => {
      document.querySelector('#long').scrollIntoView();
      getSelection().selectAllChildren(document.querySelector('#long'));
    });
    await bar.click('.bubble', { tap: true });
    await bar.seen('textarea');
    await bar.type('Shorter, please.');
    await bar.click('.send', { tap: true });
    await bar.says('.note', /sent/);
    const { selected_text } = server.posted[0];
    assert.ok(selected_text.length > 1990 && selected_text.length <= 2000 && selected_text.isWellFormed(), selected_text.slice(-9));
    assert.equal(await bar.count('.stale'), 0);
    assert.equal(await bar.count('button.where'), 1);
  });

  test('is made with the keyboard alone', async () => {
    await visit();
    await page.locator('#order').focus();
    await page.keyboard.press('Tab');
    assert.equal(await bar.focused(), 'pill');
    await page.keyboard.press('Enter');
    assert.equal(await bar.focused(), 'title');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await bar.focused(), 'cover');
    const walk = [['Tab', /^main /], ['ArrowDown', /^h1 /], ['ArrowDown', /^p\.lead /], ['ArrowUp', /^h1 /], ['ArrowDown', /^p\.lead /], ['ArrowDown', /^div\.figures /], ['ArrowRight', /^div\.figure /], ['ArrowLeft', /^div\.figures /], ['Tab', /^div\.figure /], ['Shift+Tab', /^div\.figures /]];
    for (const [key, name] of walk) {
      await page.keyboard.press(key);
      await bar.says('.tag', name);
    }
    await until('the announcement', () => bar.run((root) => root.querySelector('[role=status]').textContent.startsWith('div.figures')));
    await page.keyboard.press('Enter');
    assert.equal(await bar.focused(), 'comment');
    await page.keyboard.type('Right-align these.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await bar.says('.note', /sent/);
    assert.equal(await bar.focused(), 'title', 'the focus is not lost');
    const { comment, element_path, intent, severity } = server.posted[0];
    assert.deepEqual({ comment, element_path, intent, severity }, { comment: 'Right-align these.', element_path: 'body > main > div', intent: 'fix', severity: 'important' });
    await page.keyboard.press('Escape');
    assert.equal(await bar.focused(), 'pill', 'closing gives the focus back');
  });

  test('can be given up at every step with Escape, and its text survives', async () => {
    await visit();
    await draft('half a thought');
    await page.keyboard.press('Escape');
    await bar.seen('.draft');
    await bar.click('.act');
    await bar.seen('.pickbar');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    await bar.click('.draft');
    assert.equal(await kept(), 'half a thought');
    await page.keyboard.press('Control+Enter');
    await bar.says('.note', /sent/);
    assert.equal(server.posted[0].comment, 'half a thought');
  });

  test('is checked before it is sent: 1 to 4000 characters, counted as a reader counts', async () => {
    await visit();
    await draft('   ');
    await bar.click('.send');
    await bar.says('.problem', /Write a comment first/);
    await bar.run((root) => (root.querySelector('textarea').value = ''));
    await bar.type('🌿'.repeat(4001));
    await bar.says('.left', /4001 \/ 4000/);
    await bar.click('.send');
    await bar.says('.problem', /shorten it by 1 /);
    assert.equal(server.posted.length, 0);
    await page.keyboard.press('Backspace');
    await bar.click('.send');
    await bar.says('.note', /sent/);
    assert.equal([...server.posted[0].comment].length, 4000);
  });

  test('works on a phone as a sheet from below', async () => {
    await visit({ view: PHONE });
    await open({ tap: true });
    const sheet = await bar.box('.panel');
    assert.ok(sheet.x === 0 && sheet.width === 390, JSON.stringify(sheet));
    await bar.click('.act', { tap: true });
    await bar.seen('.pickbar');
    const figure = await page.locator('.figure:nth-child(2)').boundingBox();
    await page.touchscreen.tap(figure.x + 5, figure.y + 5);
    await bar.seen('textarea');
    assert.equal(await bar.text('.subject'), 'div.figure "96 % first quality"');
    const small = await bar.run((root) => [...root.querySelectorAll('button, .chip, textarea')].filter((node) => node.getClientRects().length && node.getBoundingClientRect().height < 38).map((node) => node.className));
    assert.deepEqual(small, [], 'everything is large enough for a finger');
    await bar.type('Of which fruit?');
    await bar.click('.send', { tap: true });
    await bar.says('.note', /sent/);
    assert.equal(server.posted.length, 1);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  });

  test('names elements by ids that last and otherwise by position, and never by what was typed', async () => {
    const cases = `<div id="app"><ul><li>one</li><li><b>two</b></li></ul></div><div id="radix-12"><p>generated</p></div>
      <form id="form"><input id="id" name="id"><input name="mail" placeholder="Your address"></form>
      <section id="twice"><i>a</i></section><section id="twice"><i>b</i></section>
      <p class="a b c d e">${'long '.repeat(100)}</p>`;
    server.pages['index.html'] = DEMO.replace('<main>', `<main>${cases}`);
    await visit();
    const expected = {
      '#app li:nth-child(2) b': ['#app > ul > li:nth-of-type(2) > b', 'b "two"'],
      '#radix-12 p': ['body > main > div:nth-of-type(2) > p', 'p "generated"'],
      'input[name=mail]': ['#form > input:nth-of-type(2)', 'input "Your address"'],
      'section:nth-of-type(2) i': ['body > main > section:nth-of-type(2) > i', 'i "b"'],
      'p.a': ['body > main > p:nth-of-type(1)', /^p\.a\.b\.c "(long )+.*…"$/],
    };
    await page.locator('input[name=mail]').fill('private@example.org');
    for (const [selector, [wanted, element]] of Object.entries(expected)) {
      await open();
      await bar.click('.act');
      await bar.seen('.pickbar');
      await page.locator(selector).scrollIntoViewIfNeeded();
      await page.mouse.click(...(await middle(selector)));
      await bar.seen('textarea');
      await bar.type('x');
      await bar.click('.send');
      await bar.says('.note', /sent/);
      const sent = server.posted.at(-1);
      assert.equal(sent.element_path, wanted, selector);
      if (element instanceof RegExp) assert.match(sent.element, element);
      else assert.equal(sent.element, element);
      const same = await page.evaluate(([path, meant]) => document.querySelector(path) === document.querySelector(meant), [sent.element_path, selector]);
      assert.ok(same, `${sent.element_path} finds ${selector}`);
      await page.keyboard.press('Escape');
    }
    assert.ok(!JSON.stringify(server.posted).includes('private@example.org'));
  });
});

describe('a server that', () => {
  const REFUSALS = [
    [400, 'bad_request', 'intent must be one of fix, change', {}, /intent must be one of fix, change/],
    [403, 'forbidden', '', {}, /rejected the request \(403\)/],
    [404, 'not_found', '', {}, /rejected the request \(404\)/],
    [413, 'too_large', 'A comment has at most 4000 characters.', {}, /at most 4000/],
    [429, 'rate_limited', 'Too many comments from your network.', { 'retry-after': '125' }, /from your network\. Try again in 2 minutes\./],
    [500, 'internal', '<img src=x onerror=alert(1)>', {}, /<img src=x onerror=alert\(1\)>/],
  ];
  for (const [status, error, words, headers, expected] of REFUSALS) {
    test(`refuses with ${status} is quoted, and the text is kept`, async () => {
      await visit();
      server.manner.post = server.refuse(status, error, words, headers);
      await draft('my comment');
      await bar.click('.send');
      await bar.says('.problem', expected);
      assert.match(await bar.text('.problem'), /Your comment is still here\.$/);
      assert.equal(await kept(), 'my comment');
      server.manner.post = undefined;
      await bar.click('.send');
      await bar.says('.note', /sent/);
      assert.equal(server.posted.length, 2);
    });
  }

  test('stalls is given up after a while, and the text is kept', async () => {
    await visit({ clock: true });
    server.manner.post = server.stall;
    await draft('slow');
    await bar.click('.send');
    await bar.says('.send', /Sending…/);
    await until('the request', () => server.stalled.length === 1);
    await page.clock.fastForward(16_000);
    await bar.says('.problem', /did not respond in time/);
    assert.equal(await kept(), 'slow');
    server.manner.post = undefined;
    await bar.click('.send');
    await page.clock.fastForward(1_000);
    await bar.says('.note', /sent/);
  });

  test('lies is not believed', async () => {
    const lies = [
      [200, '<p>Please sign in</p>', 'text/html'],
      [201, 'null', 'application/json'],
      [201, '{"id": 7, "comment": ["x"]}', 'application/json'],
      [302, '', 'text/html'],
    ];
    await visit();
    await draft('truth');
    for (const [status, body, type] of lies) {
      server.manner.post = (_, response) => response.writeHead(status, { 'content-type': type, location: '/elsewhere' }).end(body);
      await bar.click('.send');
      await bar.says('.problem', /invalid response|could not be reached/);
      assert.equal(await kept(), 'truth');
      await bar.type('!');
      await bar.run((root) => (root.querySelector('textarea').value = 'truth'));
    }
  });

  test('cannot be reached is tried again by hand, and the text is kept', async () => {
    await visit();
    await draft('offline words');
    await context.setOffline(true);
    await bar.click('.send');
    await bar.says('.problem', /You are offline\. Your comment is still here/);
    await context.setOffline(false);
    await bar.says('.problem', /back online/);
    assert.equal(await kept(), 'offline words');
    await bar.click('.send');
    await bar.says('.note', /sent/);
    assert.equal(server.posted.length, 1);
  });

  test('gives nonsense for the list leaves the toolbar usable', async () => {
    const nonsense = ['[]', '{"feedback": {}}', '{"feedback": "x"}', 'not json', '{"feedback": [null, 1, {"comment": 5}, {"id": "x", "comment": "whole", "intent": "__proto__", "severity": {}, "created_at": "x", "page_url": "javascript:alert(1)", "element_path": "]["}]}'];
    for (const body of nonsense) {
      server.manner.get = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      await visit();
      await open();
      if (body.includes('whole')) await bar.says('.words', /^whole$/);
      else await bar.says('.note', /could not be loaded/);
      assert.deepEqual(page.complaints, [], body);
      await context.close();
    }
    server.manner.get = undefined;
    await visit();
    await open();
    await bar.says('.empty', /No open comments/);
  });
});

describe('later viewers', () => {
  beforeEach(() => server.feedback.push(...COMMENTS(server.url + SITE)));

  test('see the open comments, those of this page first, each at its place', async () => {
    await visit();
    await bar.says('.pill', /Feedback\s*5/);
    assert.equal(await bar.run((root) => root.querySelector('.pill').getAttribute('aria-label')), 'Feedback, open comments: 5');
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.equal(await bar.count('.dot'), 0, 'nothing covers the page while the toolbar is closed');
    await open();
    await bar.seen('.item');
    await until('markers', async () => (await bar.count('.dot')) === 3);
    const headings = await bar.run((root) => [...root.querySelectorAll('h3')].map((node) => node.textContent));
    assert.deepEqual(headings, ['On this page · 4', 'On other pages · 1']);
    const order = await bar.run((root) => [...root.querySelectorAll('.words')].map((node) => node.textContent.slice(0, 12)));
    assert.deepEqual(order, ['The table ad', 'Is that meas', 'Say by when ', 'The photogra', 'Add the pric']);
    const [figure, dot] = [await page.locator('.figure').first().boundingBox(), await bar.box('.dot')];
    assert.ok(Math.abs(dot.x - (figure.x + figure.width)) < 30 && Math.abs(dot.y - figure.y) < 30, 'the marker stands at its element');
  });

  test('see a stale mark when the place is gone, and not before', async () => {
    await visit();
    await open();
    await bar.seen('.item');
    assert.equal(await bar.count('.stale'), 1);
    assert.match(await bar.text('.stale'), /^Outdated no longer on this page: img\.wall/);
    await page.evaluate(() => document.querySelector('#order').remove());
    await until('the second stale mark', async () => (await bar.count('.stale')) === 2);
    await page.evaluate(() => (document.querySelectorAll('main p')[1].textContent = 'Rewritten.'));
    await until('the third', async () => (await bar.count('.stale')) === 3);
    // What took the place of an element is not what was meant.
    await page.evaluate(() => document.querySelector('.figures').prepend(Object.assign(document.createElement('div'), { className: 'banner', textContent: 'New' })));
    await until('the fourth', async () => (await bar.count('.stale')) === 4);
    assert.equal(await bar.count('.dot'), 0);
    await page.evaluate(() => document.querySelector('.banner').remove());
    await until('it comes back', async () => (await bar.count('.stale')) === 3);
  });

  test('go from a comment to its place, and from a marker to its comment', async () => {
    server.pages['index.html'] = DEMO.replace('<table>', '<div style="height: 2000px"></div><table>');
    await visit();
    await open();
    await bar.seen('.item');
    assert.ok((await page.locator('#order').boundingBox()).y > 800);
    await bar.run((root) => root.querySelectorAll('button.where')[2].focus());
    await page.keyboard.press('Enter');
    await until('the scroll', async () => (await page.locator('#order').boundingBox()).y < 700);
    await bar.seen('.box');
    await page.keyboard.press('Escape');
    await until('no marker over the page', async () => (await bar.count('.dot')) === 0);
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    await open();
    await until('the marker', async () => (await bar.count('.dot')) === 2);
    await bar.click('.dot');
    await bar.says('.item.current .words', /adds up to 1,248/);
  });

  test('keep their place in the list when it changes under them', async () => {
    await visit();
    await open();
    await bar.seen('.item');
    await bar.run((root) => root.querySelectorAll('button.where')[1].focus());
    await page.evaluate(() => document.querySelector('#order').remove());
    await until('the new list', async () => (await bar.count('.stale')) === 2);
    assert.match(await bar.run((root) => root.activeElement.textContent), /^“Losses stayed/);
  });

  test('can hide the markers', async () => {
    await visit();
    await open();
    await bar.click('.foot input');
    await until('no markers', async () => (await bar.count('.dot')) === 0);
  });

  test('open another page only on the same origin', async () => {
    server.feedback.push({ ...server.feedback[4], id: 'fb_f', page_url: 'https://evil.example/p/x/login.html' }, { ...server.feedback[4], id: 'fb_g', page_url: 'javascript:alert(1)//' });
    await visit();
    await open();
    await bar.seen('.item');
    assert.deepEqual(await bar.run((root) => [...root.querySelectorAll('a')].map((node) => node.href)), [`${server.url}${SITE}prices.html`]);
  });

  test('read 100 hostile comments as text', async () => {
    const evil = [
      '<script>window.hacked = 1</script>', '<img src=x onerror="window.hacked=1">', '<svg/onload=window.hacked=1>', '"><iframe srcdoc="<script>parent.hacked=1</script>">',
      '</textarea></style></template><script>window.hacked=1</script>', '{{constructor.constructor("window.hacked=1")()}}', '${window.hacked=1}', 'javascript:window.hacked=1',
      '\u202Etxt.exe\u202C \u2066bidi\u2069', '\u0000\u0001\u001b[31m\u0007\u009b', 'e\u0301'.repeat(20) + '\u0300'.repeat(3000), 'W'.repeat(4000), '\n'.repeat(4000), '<'.repeat(4000), '\u{1F9D1}\u200D'.repeat(1000),
      '\uD800 lonely', 'constructor', '__proto__', '<style>*{display:none!important}</style>', '<link rel=stylesheet href=//evil.example/x.css>',
    ];
    server.feedback.length = 0;
    for (let i = 0; i < 100; i += 1) {
      const text = evil[i % evil.length];
      server.feedback.push({ id: text, comment: text, element: text.slice(0, 500), element_path: i % 3 ? text.slice(0, 2000) : '#order', selected_text: i % 2 ? text.slice(0, 2000) : null, page_url: i % 4 ? `${server.url}${SITE}` : text, intent: i % 5 ? 'fix' : text, severity: i % 7 ? 'blocking' : text, created_at: i % 11 ? 1 : text });
    }
    server.pages['index.html'] = DEMO; // without the strict policy, which would hide a mistake
    const asked = [];
    await visit();
    page.on('request', (request) => asked.push(request.url()));
    await open();
    await until('all of them', async () => (await bar.count('.item')) === 100);
    const made = await bar.run((root) => [...new Set([...root.querySelectorAll('*')].map((node) => node.localName))].sort());
    const ours = ['a', 'b', 'button', 'div', 'fieldset', 'h2', 'h3', 'header', 'input', 'label', 'legend', 'li', 'ol', 'p', 'path', 'section', 'span', 'svg', 'textarea'];
    assert.deepEqual(made.filter((name) => !ours.includes(name)), []);
    assert.equal(await bar.run((root) => [...root.querySelectorAll('*')].filter((node) => [...node.attributes].some(({ name }) => name.startsWith('on') || name === 'src')).length), 0);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    const wide = await bar.run((root) => [...root.querySelectorAll('.item')].filter((node) => node.getBoundingClientRect().right > root.querySelector('.panel').getBoundingClientRect().right).length);
    assert.equal(wide, 0, 'nothing leaves the panel');
    const tall = await bar.run((root) => Math.max(...[...root.querySelectorAll('.item')].map((node) => node.getBoundingClientRect().height)));
    assert.ok(tall < 420, `the tallest has ${tall} px`);
    assert.deepEqual(asked.filter((url) => !/\/_dropleaf\/(feedback|live)$/.test(url)), []);
    assert.deepEqual(page.complaints, []);
    await bar.click('.act');
    await bar.seen('.pickbar');
  });
});

describe('the page', () => {
  test('is not disturbed: no globals, no shift of the layout, nothing in print', async () => {
    server.feedback.push(...COMMENTS(server.url + SITE));
    server.pages['bare.html'] = { html: DEMO, toolbar: false };
    context = await browser.newContext(DESK);
    const bare = await openPage(context);
    await bare.goto(`${server.url}${SITE}bare.html`);
    const look = () => ({ names: Object.getOwnPropertyNames(window).sort(), height: document.documentElement.scrollHeight, width: document.documentElement.scrollWidth, boxes: [...document.querySelectorAll('body *:not(script)')].map((node) => { const { x, y, width, height } = node.getBoundingClientRect(); return `${node.localName} ${x} ${y} ${width} ${height}`; }) });
    const plain = await bare.evaluate(look);
    const printed = await bare.pdf();
    await context.close();
    await visit();
    await bar.says('.pill', /5/);
    assert.deepEqual(await page.evaluate(look), plain);
    await open();
    await page.emulateMedia({ media: 'print' });
    assert.equal(await bar.count('.pill, .panel, .dot, .item'), 0);
    const texts = (pdf) => pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length;
    await page.emulateMedia({ media: null });
    assert.equal(texts(await page.pdf()), texts(printed), 'as many sheets of paper as without it');
  });

  test('cannot restyle it', async () => {
    server.pages['index.html'] = DEMO.replace('</style>', `* { display: none !important } html, body, main, main * { display: block !important }
      dropleaf-feedback, [popover] { display: none !important; opacity: 0 !important; transform: scale(0) !important; visibility: hidden !important; filter: blur(9px) !important; pointer-events: all !important; width: 100vw !important; height: 100vh !important; background: red !important; --leaf: red !important; --ink: red !important; font-size: 90px !important }
      button, p, section { color: red !important; font-size: 90px !important } html { direction: rtl; transform: rotate(1deg); } .cover { position: fixed; inset: 0; z-index: 2147483647; background: #eee8; pointer-events: none }</style>`);
    await visit();
    const look = await bar.run((root) => {
      const style = getComputedStyle(root.querySelector('.pill'));
      const host = getComputedStyle(root.host);
      return { color: style.color, size: style.fontSize, direction: style.direction, host: [host.display, host.opacity, host.visibility, host.transform, host.filter, host.width, host.backgroundColor, host.pointerEvents] };
    });
    assert.deepEqual(look, { color: 'rgb(255, 255, 255)', size: '15px', direction: 'ltr', host: ['block', '1', 'visible', 'none', 'none', '0px', 'rgba(0, 0, 0, 0)', 'none'] });
    const pill = await bar.box('.pill');
    assert.ok(pill.x + pill.width > 1240 && pill.y + pill.height > 760, 'it stands in its corner');
    await open();
  });

  test('keeps its shortcuts to itself while a comment is written', async () => {
    await visit();
    await page.evaluate(() => {
      window.heard = [];
      for (const name of ['keydown', 'keyup', 'keypress', 'input', 'click', 'paste']) document.addEventListener(name, () => window.heard.push(name));
    });
    await draft('');
    await page.keyboard.type('jk?');
    assert.equal(await kept(), 'jk?');
    assert.deepEqual(await page.evaluate(() => window.heard), []);
  });

  test('may replace its body, its root element or its whole document: the toolbar stays', async () => {
    await visit();
    await draft('survivor');
    const stands = () => until('the toolbar', async () => (await page.evaluate(() => document.querySelector('dropleaf-feedback')?.isConnected)) && (await bar.attach()) && (await bar.box('textarea')));
    await page.evaluate(() => (document.body.innerHTML = '<p>other</p>'));
    await stands();
    await page.evaluate(() => document.body.replaceWith(document.createElement('body')));
    await stands();
    await page.evaluate(() => document.querySelector('dropleaf-feedback').remove());
    await stands();
    await page.evaluate(() => document.documentElement.replaceWith(document.createElement('html')));
    await stands();
    await page.evaluate(() => {
      document.open();
      document.write('<p id=written>written');
      document.close();
    });
    await stands();
    assert.equal(await kept(), 'survivor');
    await bar.click('.send');
    await bar.says('.note', /sent/);
  });

  test('that insists on removing it wins, without a hang', async () => {
    server.pages['index.html'] = DEMO.replace('</main>', '</main><script>new MutationObserver(() => document.querySelector("dropleaf-feedback")?.remove()).observe(document, { childList: true, subtree: true })</script>');
    context = await browser.newContext(DESK);
    page = await openPage(context);
    await page.goto(server.url + SITE);
    await until('peace', () => page.evaluate(() => !document.querySelector('dropleaf-feedback')));
    assert.equal(await page.evaluate(() => 1 + 1), 2);
  });

  test('that loads the toolbar twice has one', async () => {
    server.pages['index.html'] = DEMO.replace('</main>', `</main><script src="${SITE}_dropleaf/toolbar.js?v=1" defer></script>`);
    await visit();
    assert.equal(await page.evaluate(() => document.querySelectorAll('dropleaf-feedback, div[popover]').length), 1);
    assert.deepEqual(page.complaints, []);
  });

  test('with old libraries that change what everybody shares does not break it', async () => {
    await visit({
      before: () => {
        Array.prototype.toJSON = function () { return 'broken'; };
        Object.prototype.toJSON = function () { return 'broken'; };
        String.prototype.toJSON = function () { return 'broken'; };
        Object.prototype.extra = 'enumerable';
        Array.prototype.last = function () { return this[this.length - 1]; };
      },
    });
    await draft('still well');
    await bar.click('.send');
    await bar.says('.note', /sent/);
    assert.equal(server.posted[0].comment, 'still well');
    assert.equal(server.posted[0].page_url, server.url + SITE);
  });
});

/** Runs in the page: wraps everything a page can reach and notes whenever a node of the closed root passes by. */
function trap() {
  const rootOf = Node.prototype.getRootNode;
  const { apply } = Reflect;
  const rootOfAny = (value) => { try { return value !== null && typeof value === 'object' ? apply(rootOf, value, []) : null; } catch { return null; } };
  window.caught = [];
  const held = []; // nodes that stood nowhere yet: what if they come to stand inside?
  const note = (name, values) => {
    for (let i = 0; i < values.length; i += 1) {
      const root = rootOfAny(values[i]);
      if (root instanceof ShadowRoot) window.caught[window.caught.length] = name;
      else if (root && root !== document) held[held.length] = { name, node: values[i] };
    }
  };
  window.recheck = () => { for (let i = 0; i < held.length; i += 1) if (rootOfAny(held[i].node) instanceof ShadowRoot) window.caught[window.caught.length] = `${held[i].name} later`; };
  const targetOf = Object.getOwnPropertyDescriptor(Event.prototype, 'target').get;
  const types = [EventTarget, Node, Element, HTMLElement, HTMLButtonElement, HTMLInputElement, HTMLTextAreaElement, HTMLLabelElement, HTMLFieldSetElement, SVGElement, Document, DocumentFragment, ShadowRoot, CharacterData, Text, Range, Event, UIEvent, MouseEvent, PointerEvent, KeyboardEvent, InputEvent, FocusEvent, CSSStyleDeclaration, DOMTokenList, NodeList, HTMLCollection, DOMRectReadOnly, TreeWalker, MutationObserver, Selection, Array, Object, Function, Map, Set, WeakMap, Promise, Response, Headers, String, RegExp, Number];
  for (const type of types) {
    for (const name of Object.getOwnPropertyNames(type.prototype)) {
      if (name === 'constructor' || (type === Object && name.startsWith('__'))) continue;
      const property = Object.getOwnPropertyDescriptor(type.prototype, name);
      if (!property.configurable) continue;
      for (const part of ['value', 'get', 'set']) {
        const native = property[part];
        if (typeof native !== 'function') continue;
        property[part] = function (...values) {
          note(`${type.name}.${name}`, [this]);
          note(`${type.name}.${name}()`, values);
          if (this instanceof Event && name !== 'target') { try { note(`${type.name}.${name} event`, [apply(targetOf, this, [])]); } catch {} }
          return apply(native, this, values);
        };
      }
      try { Object.defineProperty(type.prototype, name, property); } catch {}
    }
  }
  for (const name of ['fetch', 'setTimeout', 'requestAnimationFrame', 'getComputedStyle', 'getSelection', 'matchMedia']) {
    const native = window[name];
    window[name] = function (...values) { note(name, values); window.used = `${window.used ?? ''} ${name}`; return apply(native, window, values); };
  }
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) { const root = apply(attach, this, [{ ...how, mode: 'open' }]); window.stolen = root; return root; };
}

describe('a hostile page', () => {
  test('finds no way into the closed root, whatever it overrides after the toolbar is there', async () => {
    server.feedback.push(...COMMENTS(server.url + SITE));
    await visit();
    await bar.says('.pill', /5/);
    await page.evaluate(trap);
    await open();
    await bar.seen('.item');
    await page.evaluate(() => window.recheck());
    await bar.click('button.where');
    await bar.click('.act');
    await bar.seen('.pickbar');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.mouse.click(...(await middle('#order')));
    await bar.seen('textarea');
    await page.keyboard.type('secret draft');
    await bar.click('.chip.question input');
    await bar.click('.send');
    await bar.says('.note', /sent/);
    await page.evaluate(() => window.recheck());
    await page.keyboard.press('Escape');
    const seen = await page.evaluate(() => {
      const host = document.querySelector('dropleaf-feedback');
      return { caught: [...new Set(window.caught)], stolen: window.stolen ?? null, used: window.used ?? '', root: host.shadowRoot, inside: host.querySelectorAll('*').length, constructed: (() => { try { return new (customElements.get('dropleaf-feedback'))().shadowRoot; } catch (error) { return String(error); } })() };
    });
    assert.deepEqual(seen, { caught: [], stolen: null, used: '', root: null, inside: 0, constructed: null });
    assert.equal(server.posted[0].comment, 'secret draft');
  });

  test('that was there first can do what any viewer can, and no more', async () => {
    // A page's script that runs before the toolbar can replace what the toolbar is built from: it can open the root, read
    // what is typed, or send in its place. All of this it could do with a toolbar of its own as well: the address is the
    // same for every viewer, and the server takes every comment for a stranger's.
    await visit({
      before: () => {
        const { fetch } = window;
        window.fetch = (...values) => { window.sawFetch = (window.sawFetch ?? 0) + 1; return fetch(...values); };
        const attach = Element.prototype.attachShadow;
        Element.prototype.attachShadow = function (how) { window.stolen = attach.call(this, how); return window.stolen; };
      },
    });
    assert.equal(await page.evaluate(() => window.stolen?.mode), 'closed');
    assert.ok((await page.evaluate(() => window.sawFetch)) >= 1);
    const direct = await page.evaluate(async () => (await fetch('_dropleaf/feedback', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ comment: 'from the page itself' }) })).status);
    assert.equal(direct, 201);
    await draft('works all the same');
    await bar.click('.send');
    await bar.says('.note', /sent/);
  });

  test('that took the name of the element gets the toolbar in a plain one', async () => {
    context = await browser.newContext(DESK);
    page = await openPage(context);
    await page.addInitScript(() => {
      customElements.define('dropleaf-feedback', class extends HTMLElement {});
      customElements.define = () => { throw new Error('no'); };
    });
    await page.goto(server.url + SITE);
    await until('the plain host', () => page.evaluate(() => document.querySelector('html > div[popover]')?.shadowRoot === null));
    assert.deepEqual(page.complaints, []);
  });

  test('of another origin cannot post', async () => {
    await visit();
    const other = await openPage(context);
    await other.goto(`http://127.0.0.1:${server.port}/nothing`).catch(() => other.goto('about:blank'));
    const outcome = await other.evaluate(async (to) => {
      try { await fetch(to, { method: 'POST', mode: 'no-cors', body: '{"comment":"x"}' }); return 'sent'; } catch { return 'refused'; }
    }, `${server.url}${SITE}_dropleaf/feedback`);
    assert.ok(['sent', 'refused'].includes(outcome));
    assert.equal(server.feedback.length, 0);
  });
});

/** Where a part of the toolbar is on the screen, in CSS pixels of the screen: {left, top, right, bottom, width, height}. */
const onScreen = async (selector) => {
  const box = await bar.run((root, wanted) => {
    const { x, y, width, height } = root.querySelector(wanted).getBoundingClientRect();
    return { x, y, width, height };
  }, selector);
  const seen = await page.evaluate(() => {
    const { offsetLeft, offsetTop, width, height, scale } = window.visualViewport;
    return { offsetLeft, offsetTop, width, height, scale };
  });
  const [left, top] = [(box.x - seen.offsetLeft) * seen.scale, (box.y - seen.offsetTop) * seen.scale];
  return {
    left, top, right: left + box.width * seen.scale, bottom: top + box.height * seen.scale,
    width: seen.width * seen.scale, height: seen.height * seen.scale, layoutWidth: await page.evaluate(() => window.innerWidth),
  };
};
const assertOnScreen = async (selector, what) => {
  const { left, top, right, bottom, width, height } = await onScreen(selector);
  const inside = left >= -1 && top >= -1 && right <= width + 1 && bottom <= height + 1;
  assert.ok(inside, `${what}: ${selector} at ${[left, top, right, bottom].map(Math.round)} of ${Math.round(width)} x ${Math.round(height)}`);
};

describe('on a phone', () => {
  const META = '<meta name="viewport" content="width=device-width, initial-scale=1">';
  const WIDE = `<!doctype html>${META}<title>Wide</title><h1>Wide</h1><div style="width: 1400px; height: 2400px; background: linear-gradient(90deg, #fff, #9ad)">A table that nobody made fit.</div>`;

  test('a page wider than the screen keeps the button and the panel on the screen', async () => {
    server.pages['wide.html'] = WIDE;
    await visit({ at: 'wide.html', view: { ...PHONE, reducedMotion: 'reduce' } });
    const before = await onScreen('.pill');
    assert.ok(before.layoutWidth > 1000, `the layout viewport is wider than the screen: ${before.layoutWidth}`);
    await assertOnScreen('.pill', 'at first');
    await page.screenshot({ path: pictureFile('toolbar-wide-page-phone') });
    // Only input of a person moves the visual viewport within the layout viewport.
    await page.mouse.move(200, 300);
    await page.mouse.wheel(500, 600);
    await until('the pan', () => page.evaluate(() => window.visualViewport.pageLeft > 300 && window.visualViewport.pageTop > 400));
    await until('the button follows', async () => { const { left, right, width } = await onScreen('.pill'); return left >= 0 && right <= width; });
    await assertOnScreen('.pill', 'after scrolling');
    await bar.run((root) => root.querySelector('.pill').click());
    await bar.seen('.act');
    assert.ok(await page.evaluate(() => window.visualViewport.pageLeft > 300), 'opening the panel does not move the page');
    await assertOnScreen('.panel', 'open');
    const panel = await onScreen('.panel');
    assert.ok(panel.right - panel.left > 380, 'the panel is as wide as the screen');
    await page.screenshot({ path: pictureFile('toolbar-wide-page-open-phone') });
    assert.deepEqual(page.complaints, []);
  });

  test('a page without a viewport of its own shows the button at its full size', async () => {
    server.pages['old.html'] = WIDE.replace(META, '');
    await visit({ at: 'old.html', view: PHONE });
    await until('the button has its size', async () => { const { top, bottom } = await onScreen('.pill'); return bottom - top > 40; });
    await assertOnScreen('.pill', 'zoomed out');
  });

  test('zooming in keeps the button on the screen', async () => {
    await visit({ view: PHONE });
    const debug = await context.newCDPSession(page);
    await debug.send('Emulation.setPageScaleFactor', { pageScaleFactor: 3 });
    await until('the zoom', () => page.evaluate(() => window.visualViewport.scale > 2));
    await until('the button follows', async () => { const { left, right, width } = await onScreen('.pill'); return left >= 0 && right <= width; });
    await assertOnScreen('.pill', 'zoomed in');
  });

  test('a browser without the visual viewport still shows the button in its corner', async () => {
    await visit({ before: () => Object.defineProperty(window, 'visualViewport', { value: undefined }) });
    const pill = await bar.box('.pill');
    assert.ok(pill.x + pill.width > 1240 && pill.y + pill.height > 760, 'it stands in its corner');
    await open();
    assert.deepEqual(page.complaints, []);
  });
});

describe('the looks', () => {
  const VIEWS = { 'desktop-light': DESK, 'desktop-dark': { ...DESK, colorScheme: 'dark' }, 'phone-light': { ...PHONE, colorScheme: 'light' }, 'phone-dark': PHONE };
  for (const [name, view] of Object.entries(VIEWS)) {
    test(`are readable: ${name}`, async () => {
      server.feedback.push(...COMMENTS(server.url + SITE));
      await visit({ view: { ...view, reducedMotion: 'reduce' } });
      await bar.says('.pill', /5/);
      const shoot = async (what) => page.screenshot({ path: pictureFile(`toolbar-${what}-${name}`) });
      await shoot('pill');
      await open();
      await bar.seen('.item');
      await until('markers', async () => (await bar.count('.dot')) >= 1);
      await shoot('list');
      await bar.click('.act');
      const { x, y } = await page.locator('.figure').first().boundingBox();
      await page.mouse.move(x + 5, y + 5);
      await bar.says('.tag', /figure/);
      await shoot('pick');
      await page.mouse.click(x + 5, y + 5);
      await bar.seen('textarea');
      await bar.type('The table below adds up to 1,248. Which of the two numbers is right?');
      await bar.click('.chip.fix input');
      await bar.click('.chip.important input');
      await shoot('form');
      assert.ok((await contrast('.panel')) >= 4.5, `contrast ${await contrast('.panel')}`);
      await page.keyboard.press('Escape');
      assert.ok((await contrast('.panel')) >= 4.5, `contrast ${await contrast('.panel')}`);
    });
  }

  const contrast = (selector) =>
    bar.run((root, wanted) => {
      const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
      const rgb = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
      const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * (c[i] / 255 <= 0.03928 ? c[i] / 255 / 12.92 : ((c[i] / 255 + 0.055) / 1.055) ** 2.4), 0);
      const ground = (node) => { for (let at = node; at; at = at.parentElement) { const colour = rgb(getComputedStyle(at).backgroundColor); if (colour[3] > 250) return colour; } return [255, 255, 255]; };
      const texts = [...root.querySelector(wanted).querySelectorAll('*')].filter((node) => node.getClientRects().length && [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()));
      return Math.min(...texts.map((node) => { const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); }));
    }, selector);

  test('are calm for those who want no motion', async () => {
    await visit({ view: { ...DESK, reducedMotion: 'reduce' } });
    await open();
    assert.equal(await bar.run((root) => getComputedStyle(root.querySelector('.panel')).animationName), 'none');
  });

  test('are known to a screen reader', async () => {
    server.feedback.push(...COMMENTS(server.url + SITE));
    await visit();
    await open();
    await bar.seen('.item');
    const debug = await context.newCDPSession(page);
    const names = async () => (await debug.send('Accessibility.getFullAXTree')).nodes.filter((node) => !node.ignored).map((node) => `${node.role?.value}: ${node.name?.value ?? ''}`);
    const list = await names();
    for (const wanted of ['dialog: Feedback', 'button: Close feedback', 'button: Pick an element', 'heading: On this page · 4', 'button: Show on the page: button#order.primary "Order juice"']) assert.ok(list.includes(wanted), wanted);
    await bar.click('.act.quiet');
    await bar.seen('textarea');
    const form = await names();
    for (const wanted of ['dialog: New comment', 'textbox: Comment', 'group: What kind of comment is it?', 'radio: Question', 'radio: Blocking', 'button: Send comment']) assert.ok(form.includes(wanted), wanted);
  });
});

describe('threads', () => {
  const id = (number) => `fb_${String(number).padStart(20, '0')}`;
  const at = Math.floor(Date.now() / 1000) - 60;
  const base = { element: null, element_path: null, selected_text: null, page_url: null, intent: 'fix', severity: 'blocking', created_at: at, resolved_at: null };
  const reply = (text, more) => ({ id: 'fr_1', author: 'owner', name: null, text, reopens: false, created_at: at, ...more });

  test('show replies as text to those who may see them, and take an answer without a reload', async () => {
    server.feedback.push(
      { ...base, id: id(1), comment: 'Mine.', state: 'open', is_own: true, can_reply: true, reply_count: 2, replies: [reply('<img src=x onerror=alert(1)>'), reply('And me.', { author: 'viewer', name: 'Ada\u202e' })] },
      { ...base, id: id(2), comment: 'Not mine.', state: 'open', is_own: false, can_reply: false, reply_count: 0, replies: [] },
    );
    await visit();
    await open();
    assert.equal(await bar.count('.item .link'), 1, 'only one of them can be answered');
    await bar.says('.last', /Ada \(viewer\)/);
    await bar.click('.item .link');
    await bar.says('.reply.owner', /<img src=x onerror=alert\(1\)>/);
    assert.equal(await bar.focused(), 'title');
    await bar.run((root) => root.querySelector('#answer').focus());
    await bar.type('Thank you.');
    await bar.run((root) => root.querySelector('#name').focus());
    await bar.type('Grace');
    await bar.click('.thread .send');
    await until('the reply', () => bar.run((root) => root.querySelectorAll('.reply').length === 3));
    assert.deepEqual(server.posted, [{ text: 'Thank you.', name: 'Grace', still_a_problem: false }]);
    await until('it is announced', () => bar.run((root) => /Reply sent\./.test(root.querySelector('[role=status]').textContent)));
    await page.keyboard.press('Escape');
    await bar.says('.item .link', /3 replies/);
    assert.equal(await page.evaluate(() => document.querySelectorAll('img[src=x]').length), 0);
    assert.deepEqual(page.complaints, []);
  });

  test('that are resolved are reopened only by choice', async () => {
    server.feedback.push({ ...base, id: id(1), comment: 'Mine.', state: 'resolved', resolved_at: at, is_own: true, can_reply: true, reply_count: 1, replies: [reply('Done.')] });
    await visit();
    assert.equal(await bar.count('.count'), 0, 'a resolved comment is not counted');
    await open();
    await bar.says('h3', /Resolved · 1/);
    assert.equal(await bar.count('.dot'), 0);
    await bar.click('.item .link');
    for (const choice of [false, true]) {
      await bar.run((root) => root.querySelector('#answer').focus());
      await bar.type('Not yet.');
      if (choice) await bar.click('.thread .foot input');
      await bar.click('.thread .send');
      const wanted = choice ? 3 : 2;
      await until('the reply', () => bar.run((root, count) => root.querySelectorAll('.reply').length === count, wanted));
      assert.equal(server.posted.at(-1).still_a_problem, choice);
      assert.equal(server.feedback[0].state, choice ? 'reopened' : 'resolved');
    }
    await bar.says('.state', /Reopened/);
    assert.equal(await bar.count('.thread .foot'), 0, 'nothing is left to reopen');
  });

  test('of this browser are known after a reload, and a refused reply keeps its text', async () => {
    await visit();
    await draft('Remember me.');
    await bar.click('.send');
    await bar.says('.note', /sent/);
    await page.reload();
    bar = await pierce(page);
    await until('the secret', () => server.tokens === `${id(1)}:secret-1`);
    await open();
    await bar.click('.item .link');
    await bar.click('.thread .send');
    await bar.says('#answer-problem', /Write a reply first/);
    server.manner.post = server.refuse(429, 'rate_limited', 'Too many comments.', { 'retry-after': '30' });
    await bar.run((root) => root.querySelector('#answer').focus());
    await bar.type('Again.');
    await bar.click('.thread .send');
    await bar.says('#answer-problem', /Too many comments\. Try again in 30 seconds\. Your reply is still here\./);
    assert.equal(await bar.run((root) => root.querySelector('#answer').value), 'Again.');
  });

  test('are read again when another script of the server says so', async () => {
    await visit();
    await open();
    await bar.says('.empty', /No open comments/);
    server.feedback.push({ ...base, id: id(1), comment: 'New.', state: 'open', is_own: false, can_reply: false, reply_count: 0, replies: [] });
    await page.evaluate(() => dispatchEvent(new Event('dropleaf:feedback')));
    await bar.says('.item', /New\./);
  });

  test('arrive by themselves while the toolbar is open, and a closed one holds no connection', async () => {
    const coming = (number, text) => server.feedback.push({ ...base, id: id(number), comment: text, state: 'open', is_own: false, can_reply: false, reply_count: 0, replies: [] });
    await visit();
    assert.equal(server.streams.size, 0);
    await open();
    await until('the stream', () => server.streams.size === 1);
    coming(1, 'First.');
    server.tell();
    await bar.says('.lists', /First\./);
    // A connection that broke is opened again, and what was missed is read.
    coming(2, 'Second.');
    for (const response of server.streams) response.destroy();
    await bar.says('.lists', /Second\./);
    await page.keyboard.press('Escape');
    await until('no stream', () => server.streams.size === 0);
    assert.deepEqual(page.complaints.filter((text) => !text.includes('ERR_INCOMPLETE_CHUNKED_ENCODING')), []);
  });

  test('of a live page need no second connection', async () => {
    server.pages['index.html'] = { html: DEMO.replace('</main>', `</main><script src="${SITE}_dropleaf/live.js?v=1"></script>`), headers: LOCKED };
    server.pages['_dropleaf/live.js'] = { html: '', type: 'text/javascript' };
    await visit();
    await open();
    server.feedback.push({ ...base, id: id(1), comment: 'New.', state: 'open', is_own: false, can_reply: false, reply_count: 0, replies: [] });
    await page.evaluate(() => dispatchEvent(new Event('dropleaf:feedback')));
    await bar.says('.item', /New\./);
    assert.equal(server.streams.size, 0);
  });

  test('named in the address are shown at their place', async () => {
    server.feedback.push({ ...base, id: id(7), comment: 'Here.', element: 'button#order.primary "Order juice"', element_path: '#order', state: 'open', is_own: false, can_reply: false, reply_count: 0, replies: [] });
    await visit({ at: `?a=1#dropleaf-feedback=${id(7)}`, opens: '.panel' });
    await bar.seen('.item.current');
    await bar.seen('.box');
    const box = await page.locator('#order').boundingBox();
    assert.ok(box.y >= 0 && box.y < 800, 'it is scrolled to');
    assert.match(page.url(), /\?a=1$/, 'the address is the page’s own again');
    await page.goto('about:blank');
    await page.goto(`${server.url}${SITE}#dropleaf-feedback=${id(9)}`);
    bar = await pierce(page);
    await bar.says('.note', /resolved or deleted/);
  });
});

describe('markers', () => {
  const many = (number) => Array.from({ length: number }, (_, index) => ({
    id: `fb_${String(index + 1).padStart(20, '0')}`, comment: `Comment ${index + 1}`, element: 'button#order.primary "Order juice"', element_path: '#order', selected_text: null, page_url: null,
    intent: 'fix', severity: index === 3 ? 'blocking' : 'suggestion', created_at: 1_700_000_000 + index, state: 'open', resolved_at: null, is_own: false, can_reply: false, reply_count: 0, replies: [],
  }));

  test('that lie close together are one, which leads to each comment in turn', async () => {
    server.feedback.push(...many(12));
    await visit();
    assert.equal(await bar.count('.dot'), 0, 'none while the toolbar is closed');
    await open();
    await until('one marker', async () => (await bar.count('.dot')) === 1);
    assert.equal(await bar.text('.dot'), '12');
    assert.ok(await bar.run((root) => root.querySelector('.dot:not([hidden])').classList.contains('blocking')), 'it has the colour of the most severe');
    await bar.click('.dot.many');
    await bar.says('.item.current', /Comment 1$|Comment 1\n/);
    await bar.click('.dot.many');
    await bar.says('.item.current', /Comment 2/);
    await page.screenshot({ path: pictureFile('toolbar-cluster-desktop-light') });
    await bar.click('[aria-label="Close feedback"]');
    await until('no marker', async () => (await bar.count('.dot')) === 0);
  });
});

test('it weighs under 17 KB compressed and needs no evaluation of text as code', async () => {
  const source = (await readFile(path.join(ROOT, 'crates/server/assets/toolbar.js'), 'utf8'));
  // The server sends it without comments and indentation, see crates/server/src/http/view/toolbar.rs.
  const sent = source.split('\n').map((line) => line.trimStart()).filter((line) => !/^(\/\/|\/\*\*.*\*\/$)/.test(line)).join('\n');
  const packed = gzipSync(sent, { level: 9 }).length;
  assert.ok(packed < 17_000, `${packed} bytes with gzip, ${brotliCompressSync(sent).length} with brotli`);
  assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|sessionStorage/);
});
