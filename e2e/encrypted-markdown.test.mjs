// An encrypted Markdown document in a real browser, on the real server: shown as a page, without a request and without
// anything of the author's that runs, on a desk and on a phone, light and dark.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { publish } from './http.mjs';
import { markdownModules, SITE, startImitation, viewerPage, viewerScript } from './imitation.mjs';
import { FRAGMENT, seal } from './sealed.mjs';
import { operatorKey, startServer, until } from './server.mjs';
import { pierce } from './shadow.mjs';

const [DESK] = VIEWS;
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const WORDS = 'Words about the orchard and its presses. ';

const HARVEST = `---
title: Harvest report
lang: en
---

# Harvest

We picked **1284 crates**, see [the plan](#to-do) and https://orchard.example/crates.
A note[^1], a formula $e^{i\\pi}$ and a <kbd>key</kbd>. ![The press](press.png "Press") ![](https:press.png) ![dot](${PIXEL})

> [!WARNING]
> The prices hold until the end of the season.

## To do

- [x] Wash the crates
- [ ] Sort the **bottles** by \`size\`

## Numbers

| Fruit | Where it grows and who looks after it | Crates picked | Litres |
|---|---|--:|:-:|
| Apples | The long meadow behind the mill | 1284 | 5120 |
| Pears | Along the southern wall | 96 | 310 |

\`\`\`js
const crates = 1284; // picked
\`\`\`

\`\`\`mermaid
graph TD; Apples-->Juice
\`\`\`

<details>
<summary>How it works</summary>

## Inside

1. Wash
2. Press

</details>

> שלום עולם, זה ציטוט.

${['Cellar', 'Market', 'Thanks'].map((name) => `## ${name}\n\n${WORDS.repeat(60)}\n`).join('\n')}

[^1]: From the book of the cellar.
`;

let server, browser, key, harvest;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  browser = await launch();
  harvest = await sealed(HARVEST);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const sealed = async (text, fields = {}, by = key) => (await publish(server, { name: 'page.e2e', bytes: seal(text), fields: { e2e: 'true', ...fields }, key: by })).url + FRAGMENT;

async function open(link, view = DESK, context) {
  const page = await openPage(context ?? (await browser.newContext(view)));
  page.requested = [];
  page.on('request', (request) => request.isNavigationRequest() || page.requested.push(request.url()));
  page.answer = await page.goto(link);
  return page;
}
const isShown = (page, selector = 'main h1') => page.locator(selector).first().waitFor();
const notice = (page) => pierce(page, 'div');
/** What the page asked for beside itself. */
const others = (page) => page.requested.filter((url) => !url.startsWith('data:') && !url.endsWith('/favicon.ico'));

describe('an encrypted Markdown document', () => {
  test('is a page: heading, table, tasks, code, alert, footnote, title and language', async () => {
    const page = await open(harvest);
    await isShown(page);
    assert.equal(await page.title(), 'Harvest report');
    assert.deepEqual(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]), ['en', 'ltr']);
    assert.equal(await page.locator('h1').evaluate((node) => node.firstChild.data), 'Harvest');
    assert.ok(await page.getByRole('checkbox', { name: 'Wash the crates', checked: true }).count());
    assert.ok(await page.getByRole('checkbox', { name: 'Sort the bottles by size', checked: false }).count());
    assert.equal(await page.getByRole('group', { name: /^Fruit, Where it grows/ }).count(), 1);
    assert.equal(await page.locator('td').nth(2).evaluate((node) => getComputedStyle(node).textAlign), 'end');
    assert.equal(await page.locator('pre[data-lang=js] code').textContent(), 'const crates = 1284; // picked\n');
    assert.equal(await page.locator('pre[data-lang=mermaid]').count(), 1, 'a diagram is its source');
    assert.equal(await page.locator('code', { hasText: '$e^{i' }).textContent(), '$e^{i\\pi}$', 'a formula is its source');
    assert.equal(await page.locator('.markdown-alert-warning .alert').textContent(), 'Warning');
    assert.equal(await page.locator('.footnotes li').count(), 1);
    assert.equal(await page.locator('blockquote[dir=rtl]').count(), 1);
    assert.equal(await page.locator('.contents li').count(), 6);
    assert.ok(!(await page.textContent('main')).includes('title:'), 'front matter is hidden');
    assert.match(await (await notice(page)).text('.bar'), /This server has not checked the content\. Report · Show source/);
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(others(page), [], 'a picture beside the page is not asked for: its name is a part of the text');
    assert.equal(await page.getByRole('img', { name: 'The press' }).count(), 1);
  });

  test('keeps the key in the address when links within it are followed', async () => {
    const page = await open(harvest);
    await page.getByRole('link', { name: 'the plan' }).click();
    await page.waitForFunction(() => Math.abs(document.getElementById('to-do').getBoundingClientRect().top) < 40);
    await page.locator('.contents summary').click();
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Inside' }).click();
    await page.locator('#inside').waitFor();
    assert.ok(await page.locator('details:has(#inside)').evaluate((node) => node.open), 'what is folded is opened');
    assert.ok(page.url().endsWith(FRAGMENT), page.url());
    await page.reload();
    await isShown(page);
  });

  test('shows its source and itself again', async () => {
    const page = await open(harvest);
    await isShown(page);
    await (await notice(page)).click('button.link');
    assert.equal(await page.locator('pre.text').textContent(), HARVEST);
    assert.equal(await page.locator('[popover]').count(), 0);
    await page.getByRole('button', { name: 'Show as Markdown' }).click();
    await isShown(page);
    assert.equal(await page.locator('main h1').count(), 1);
  });

  test('that nobody owns, under the strict policy, and in a sandbox is shown as well', async () => {
    for (const link of [await sealed(HARVEST, {}, null), await sealed(HARVEST, { csp_strict: 'true' })]) {
      const page = await open(link);
      await isShown(page);
      assert.equal(await page.locator('main table').count(), 1);
      assert.deepEqual(page.complaints, []);
    }
    const boxed = await startImitation({});
    try {
      boxed.pages['index.html'] = { html: await viewerPage({ payload: seal(HARVEST) }), headers: { 'content-security-policy': 'sandbox allow-scripts' }, toolbar: false };
      const page = await open(`${boxed.url}${SITE}${FRAGMENT}`);
      await isShown(page);
    } finally {
      await boxed.stop();
    }
  });

  test('copies its code', async () => {
    const page = await open(harvest, { ...DESK, permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('.code').first().hover();
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'const crates = 1284; // picked\n');
  });

  test('is easy to use and photographed', async () => {
    for (const view of VIEWS.filter(({ name }) => name === 'desktop' || name === 'phone-dark')) {
      const page = await open(harvest, view);
      await isShown(page);
      await page.screenshot({ path: pictureFile(`encrypted-markdown-${view.name}`) });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, 'nothing is too wide');
      await (await notice(page)).click('button:not(.link)');
      await assertAccessible(page, view.name);
      await page.screenshot({ path: pictureFile(`encrypted-markdown-whole-${view.name}`), fullPage: true });
      await page.context().close();
    }
  });

  test('that is too large or grows too much is text, and says why', async () => {
    for (const text of [`# Long\n\n${WORDS.repeat(55_000)}`, `# Wide\n\n${'|a'.repeat(500)}|\n${'|-'.repeat(500)}|\n${'|\n'.repeat(400_000)}`]) {
      const page = await open(await sealed(text));
      await page.getByText('too large to render').waitFor();
      assert.equal(await page.locator('pre.text').evaluate((node) => node.textContent.length), text.length);
      await page.context().close();
    }
  });

  test('is looked at by the script that was tested', async () => {
    const page = await open(await sealed('# x'));
    await isShown(page);
    const html = await page.answer.text();
    assert.ok(html.includes(`<script>${await viewerScript()}</script>`));
  });
});

/** What in the page could run or be asked for, and whether anything did run. */
const dangers = () => {
  const elements = [...document.querySelectorAll('main, main *')];
  return {
    hit: window.hit,
    names: elements.map((node) => node.localName).filter((name) => /^(script|style|iframe|object|embed|svg|math|form|input|template|base|meta|link)$/.test(name)),
    handlers: elements.flatMap((node) => node.getAttributeNames()).filter((name) => name.startsWith('on') || name === 'style'),
    schemes: elements.filter((node) => node.href).map((node) => node.protocol).filter((scheme) => !['http:', 'https:', 'mailto:'].includes(scheme)),
    ids: elements.filter((node) => !/^h[1-6]$/.test(node.localName)).flatMap((node) => [node.getAttribute('name'), node.id]).filter((id) => id && !id.startsWith('user-content-')),
  };
};

/** Attacks in one load of the viewer. */
const TOGETHER = 20;
const HARMLESS = { hit: undefined, names: [], handlers: [], schemes: [], ids: [] };

describe('attacks in encrypted Markdown', () => {
  let boxed, vectors;
  const attack = (vector) => `before ${vector.replaceAll('\n', ' ')} after\n\n${vector}\n\n**after**\n`;
  const show = async (text) => {
    boxed.pages['index.html'] = { html: await viewerPage({ payload: seal(`# x\n\n${text}`) }), toolbar: false };
    const page = await open(`${boxed.url}${SITE}${FRAGMENT}`);
    await isShown(page);
    return page;
  };

  before(async () => {
    vectors = (await readFile(new URL('../crates/content/tests/xss/vectors.txt', import.meta.url), 'utf8')).split('\n%%\n');
    assert.ok(vectors.length >= 60);
    boxed = await startImitation({});
  });
  after(() => boxed?.stop());

  test('leave nothing that runs, and nothing is asked for', async () => {
    const texts = [vectors.join('\n\n')];
    for (let from = 0; from < vectors.length; from += TOGETHER) texts.push(vectors.slice(from, from + TOGETHER).map(attack).join('\n'));
    for (const text of texts) {
      const page = await show(text);
      assert.deepEqual(await page.evaluate(dangers), HARMLESS, text);
      assert.deepEqual(others(page), [], text);
      await page.context().close();
    }
  });

  test('do so one by one as well, where none can hide in what another left open', async () => {
    const page = await show('y');
    await page.evaluate(`(() => { ${await markdownModules()}; Object.assign(window, { markdownPage, dangers: ${dangers} }); })()`);
    const asked = page.requested.length;
    for (const vector of vectors) {
      const text = `# x\n\n${attack(vector)}`;
      const found = await page.evaluate(async ([text, pixel]) => {
        // As viewer.js does.
        document.body.replaceChildren(window.markdownPage(text).main);
        const picture = new Image();
        picture.src = pixel;
        // By then the handlers of other pictures would have run.
        await picture.decode();
        return window.dangers();
      }, [text, PIXEL]);
      assert.deepEqual(found, HARMLESS, text);
      assert.deepEqual(others({ requested: page.requested.slice(asked) }), [], text);
    }
  });

  test('would not run even if the sanitiser failed: the page forbids scripts, frames, forms and requests', async () => {
    const page = await open(await sealed('# x'));
    await isShown(page);
    await page.evaluate(async () => {
      window.refused = [];
      addEventListener('securitypolicyviolation', (event) => window.refused.push(event.effectiveDirective));
      const main = document.querySelector('main');
      const script = document.createElement('script');
      script.textContent = 'window.hit = 1';
      const picture = document.createElement('img');
      picture.setAttribute('onerror', 'window.hit = 1');
      picture.src = 'data:image/png,x';
      const frame = document.createElement('iframe');
      frame.srcdoc = '<script>parent.hit = 1<\/script>';
      const loaded = new Promise((done) => frame.addEventListener('load', done));
      main.append(script, picture, frame);
      await Promise.all([loaded, fetch('/elsewhere').catch(() => {})]);
    });
    await until('the refusals', () => page.evaluate(() => ['script-src-elem', 'script-src-attr', 'connect-src'].every((name) => window.refused.includes(name))));
    assert.equal(await page.evaluate(() => window.hit), undefined);
  });
});
