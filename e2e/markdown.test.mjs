// A rendered Markdown page in a real browser: text direction, tasks and tables, HTML and formulas, on a desk and on a
// phone, light and dark. Nothing of an author's HTML runs.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile } from './browser.mjs';
import { publish } from './http.mjs';
import { operatorKey, startServer } from './server.mjs';
import { zip } from './zip.mjs';

const DESK = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
const VIEWS = {
  'desktop-light': DESK,
  'desktop-dark': { ...DESK, colorScheme: 'dark' },
  'phone-light': PHONE,
  'phone-dark': { ...PHONE, colorScheme: 'dark' },
};

const ARABIC = `---
lang: ar
---

# تقرير الحصاد

قطفنا هذا العام 1284 صندوقًا من التفاح، أي أكثر من العام الماضي. انظر \`orchard.csv\` للتفاصيل.

The presses run from Thursday to Sunday, eight hours a day.

- تفاح
- Pears are late
- كمثرى
  1. غسل
  2. عصر

> الأسماء على كل زجاجة من فضلكم.

> [!WARNING]
> الأسعار ثابتة حتى نهاية الموسم.

- [x] غسل الصناديق
- [ ] ترتيب الزجاجات

| الفاكهة | Name | السعر |
|---|---|--:|
| تفاح | Apple | 9 |
| كمثرى | Pear | 12 |

\`\`\`js
const crates = 1284; // picked
\`\`\`

حاشية[^1]

[^1]: نص الحاشية هنا.
`;

const ENGLISH = `---
lang: en
---

# Harvest

Words in English, and then a quotation:

> שלום עולם, זה ציטוט.

- One
- שתיים

To do:

- [x] Wash the crates
- [ ] Sort the **bottles** by \`size\`

| Fruit | Where it grows and who looks after it | Crates picked this year | Litres of juice | Remarks of the cellar |
|---|---|---|---|---|
| Apples | The long meadow behind the mill, in the care of the school | 1284 | 5120 | Sweet, little acid, keep cold |
| Pears | Along the southern wall | 96 | 310 | Late |
`;

/** What READMEs have: HTML, formulas, alerts, code, and enough sections for a table of contents. */
const README = `<h1 align="center">
  <img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" width="96" height="96" alt="Orchard"><br>
  Orchard :apple:
</h1>

<p align="center"><b>Presses apples</b> · <a href="#usage">Usage</a> · <kbd>Ctrl</kbd>+<kbd>P</kbd></p>

> [!TIP]
> Wash the crates first.

${['Install', 'Usage', 'Formulas', 'Questions', 'License'].map((name) => `## ${name}\n\n${'Words about the orchard and its presses. '.repeat(40)}\n\n### ${name} in detail\n\nMore.\n`).join('\n')}

<details>
<summary>How it works</summary>

1. Wash
2. Press, see $e^{i\\pi} + 1 = 0$ and

$$\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}$$

\`\`\`js
const crates = 1284; // picked
\`\`\`

</details>

<table><tr><th>Fruit</th><th>Crates</th></tr><tr><td>

**Apple**

</td><td align="right">1284</td></tr></table>
`;

let server, browser;
const made = {};

before(async () => {
  server = await startServer();
  browser = await launch();
  const key = await operatorKey(server);
  made.readme = await publish(server, { name: 'README.md', bytes: Buffer.from(README), key });
  made.strict = await publish(server, { name: 'README.md', bytes: Buffer.from(README), key, fields: { csp_strict: 'true' } });
  made.key = key;
  made.arabic = await publish(server, { name: 'report.md', bytes: Buffer.from(ARABIC), key });
  made.english = await publish(server, { name: 'harvest.md', bytes: Buffer.from(ENGLISH), key });
  made.plain = await publish(server, { name: 'long.md', bytes: Buffer.from(`שלום לכולם\n\nAn English line.\n\n${'Many words. '.repeat(90_000)}`), key });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function visit(site, view = DESK) {
  const page = await openPage(await browser.newContext(view));
  await page.goto(site.url);
  return page;
}

/** On which side the first line of what is found begins, and how its box lies. */
const layout = (page, selector) =>
  page.locator(selector).first().evaluate((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const line = [...range.getClientRects()].find((rect) => rect.width > 0);
    const box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    return {
      direction: style.direction,
      gapLeft: line.left - box.left,
      gapRight: box.right - line.right,
      borderLeft: parseFloat(style.borderLeftWidth),
      borderRight: parseFloat(style.borderRightWidth),
      marginLeft: parseFloat(style.marginLeft),
      marginRight: parseFloat(style.marginRight),
    };
  });

describe('text direction', () => {
  test('of an Arabic page is right-to-left, and English in it is left-to-right', async () => {
    const page = await visit(made.arabic);
    assert.deepEqual(await page.evaluate(() => [document.documentElement.dir, document.documentElement.lang]), ['rtl', 'ar']);
    const [heading, english, quote, item, other, cell, code] = await Promise.all(
      ['h1', 'p:text("The presses")', 'blockquote', 'li:text-is("تفاح")', 'li:text("Pears are")', 'td:text-is("تفاح")', 'pre'].map((selector) => layout(page, selector)));
    assert.ok(heading.gapRight < 5 && heading.gapLeft > 100, `a heading begins at the right: ${JSON.stringify(heading)}`);
    assert.ok(english.direction === 'ltr' && english.gapLeft < 5 && english.gapRight > 20, `English begins at the left: ${JSON.stringify(english)}`);
    assert.ok(quote.borderRight > 0 && quote.borderLeft === 0, 'the bar of a quotation is at its right');
    assert.ok(item.marginRight > 10 && item.marginLeft === 0, 'a list is indented at the right');
    assert.ok(other.marginLeft > 10 && other.marginRight === 0, 'an English item has its marker at the left');
    assert.ok(cell.gapRight < 20, `cells begin at the right: ${JSON.stringify(cell)}`);
    assert.equal(code.direction, 'ltr', 'code stays left-to-right');
    const columns = await page.locator('thead th').evaluateAll((cells) => cells.map((node) => Math.round(node.getBoundingClientRect().left)));
    assert.ok(columns[0] > columns[1] && columns[1] > columns[2], `columns run from right to left: ${columns}`);
    const box = await page.locator('.task input').first().boundingBox();
    const words = await page.locator('.task').first().boundingBox();
    assert.ok(box.x + box.width > words.x + words.width - 30, 'the box of a task is at its right');
  });

  test('of quotations in an English page is their own', async () => {
    const page = await visit(made.english);
    assert.deepEqual(await page.evaluate(() => [document.documentElement.dir, document.documentElement.lang]), ['ltr', 'en']);
    const quote = await layout(page, 'blockquote');
    assert.ok(quote.direction === 'rtl' && quote.borderRight > 0 && quote.borderLeft === 0, JSON.stringify(quote));
    const item = await layout(page, 'li:text-is("שתיים")');
    assert.ok(item.direction === 'rtl' && item.marginRight > 10 && item.marginLeft === 0, JSON.stringify(item));
    const first = await layout(page, 'li:text-is("One")');
    assert.ok(first.direction === 'ltr' && first.marginLeft > 10 && first.marginRight === 0, JSON.stringify(first));
  });

  test('of a document that is shown as plain text is that of each paragraph', async () => {
    const page = await visit(made.plain);
    const { left, right } = await page.evaluate(() => {
      const text = document.querySelector('pre.plain').firstChild;
      const range = document.createRange();
      range.setStart(text, 0);
      range.setEnd(text, 5);
      const box = document.querySelector('pre.plain').getBoundingClientRect();
      const line = range.getBoundingClientRect();
      return { left: line.left - box.left, right: box.right - line.right };
    });
    assert.ok(right < 5 && left > 100, `${left} ${right}`);
  });
});

/** Nobody can know the language of a text whose author does not state it, and a wrong one is worse than none. */
const NO_LANGUAGE = ['html-has-lang'];

test('tasks have the name of their text, and nothing is hard to use', async () => {
  for (const [name, view] of Object.entries(VIEWS)) {
    for (const which of ['arabic', 'english', 'readme']) {
      const page = await visit(made[which], view);
      await assertAccessible(page, `${which} ${name}`, which === 'readme' ? NO_LANGUAGE : []);
      await page.screenshot({ path: pictureFile(`markdown-${which}-${name}`), fullPage: true });
      await page.context().close();
    }
  }
  const page = await visit(made.english);
  assert.ok(await page.getByRole('checkbox', { name: 'Wash the crates', checked: true }).count());
  assert.ok(await page.getByRole('checkbox', { name: 'Sort the bottles by size', checked: false }).count());
  assert.ok(await (await visit(made.arabic)).getByRole('checkbox', { name: 'غسل الصناديق' }).count());
});

describe('a wide table on a phone', () => {
  test('scrolls inside of a named box that the keyboard reaches, and the next column shows', async () => {
    const page = await visit(made.english, PHONE);
    const box = page.getByRole('group', { name: /^Fruit, Where it grows/ });
    assert.equal(await box.count(), 1);
    const { scrolls, overflows } = await box.evaluate((node) => ({ scrolls: node.scrollWidth - node.clientWidth, overflows: document.documentElement.scrollWidth > innerWidth }));
    assert.ok(scrolls > 100, `it scrolls by ${scrolls}`);
    assert.ok(!overflows, 'the page itself does not');
    const columns = await page.locator('thead th').evaluateAll((cells) => cells.map((node) => { const { left, width } = node.getBoundingClientRect(); return { left, width }; }));
    const seen = columns.filter(({ left }) => left < 390 - 18 - 20);
    assert.ok(seen.length >= 2, `at least a part of the second column: ${JSON.stringify(columns)}`);
    assert.ok(columns.every(({ width }) => width >= 80 && width <= 240), `columns of a sensible width: ${JSON.stringify(columns)}`);
    await box.focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.querySelector('.table').scrollLeft > 0);
  });

  for (const colorScheme of ['light', 'dark']) {
    test(`is shaded at the edge where it goes on, and only there: ${colorScheme}`, async () => {
      const page = await visit(made.english, { ...PHONE, colorScheme });
      const box = page.locator('.table');
      await box.scrollIntoViewIfNeeded();
      /** How far the colour at both edges is from that of the page, in a strip without text or lines. */
      const shades = async () => {
        await page.evaluate(() => { for (const node of document.querySelectorAll('.table :is(th, td)')) node.style.cssText = 'color: transparent; border-color: transparent'; });
        const picture = (await box.screenshot()).toString('base64');
        return page.evaluate(async (data) => {
          const image = new Image();
          image.src = `data:image/png;base64,${data}`;
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
          canvas.drawImage(image, 0, 0);
          const at = (x) => [...canvas.getImageData(x, Math.floor(image.height / 2), 1, 1).data];
          const [left, middle, right] = [at(2), at(Math.floor(image.width / 2)), at(image.width - 3)];
          const far = (a) => Math.max(...a.map((part, i) => Math.abs(part - middle[i])));
          return { left: far(left), right: far(right) };
        }, picture);
      };
      const start = await shades();
      assert.ok(start.right > 25 && start.left < 6, `at its beginning: ${JSON.stringify(start)}`);
      await box.evaluate((node) => node.scrollTo({ left: 100, behavior: 'instant' }));
      const inside = await shades();
      assert.ok(inside.right > 25 && inside.left > 25, `inside: ${JSON.stringify(inside)}`);
      await box.evaluate((node) => node.scrollTo({ left: 10_000, behavior: 'instant' }));
      const end = await shades();
      assert.ok(end.right < 6 && end.left > 25, `at its end: ${JSON.stringify(end)}`);
    });
  }
});

describe('a README', () => {
  test('shows its HTML, its formulas and its contents', async () => {
    const page = await visit(made.readme);
    assert.equal(await page.title(), 'Orchard 🍎');
    assert.equal(await page.locator('h1').evaluate((node) => getComputedStyle(node).textAlign), 'center');
    assert.equal(await page.locator('img').evaluate((node) => node.getBoundingClientRect().width), 96);
    assert.ok(!(await page.textContent('main')).includes('<'), 'no tag shows as text');
    await page.getByText('How it works').click();
    const fraction = await page.locator('math[display=block] mfrac').boundingBox();
    assert.ok(fraction.height > 20, `a formula is drawn: ${JSON.stringify(fraction)}`);
    await page.locator('.contents summary').click();
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Usage', exact: true }).click();
    assert.equal(new URL(page.url()).hash, '#usage');
    await page.waitForFunction(() => Math.abs(document.getElementById('usage').getBoundingClientRect().top) < 40);
  });

  for (const which of ['readme', 'strict']) {
    test(`copies its code: ${which}`, async () => {
      const context = await browser.newContext({ ...DESK, permissions: ['clipboard-read', 'clipboard-write'] });
      const page = await openPage(context);
      await page.goto(made[which].url);
      await page.getByText('How it works').click();
      await page.locator('.code').hover();
      await page.getByRole('button', { name: 'Copy' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
    });
  }
});

test('attacks in the HTML of Markdown leave nothing that runs', async () => {
  const vectors = (await readFile(new URL('../crates/content/tests/xss/vectors.txt', import.meta.url), 'utf8')).split('\n%%\n');
  assert.ok(vectors.length >= 60);
  const documents = [...vectors.map((vector) => `before ${vector.replaceAll('\n', ' ')} after\n\n${vector}\n\n*after*\n`), vectors.join('\n\n')];
  const page = await openPage(await browser.newContext(DESK));
  for (const document of documents) {
    const site = await publish(server, { name: 'attack.md', bytes: Buffer.from(document), key: made.key });
    await page.goto(site.url);
    const found = await page.evaluate(() => {
      const elements = [...document.querySelectorAll('main, main *')];
      return {
        hit: window.hit,
        names: elements.map((node) => node.localName).filter((name) => /^(script|style|iframe|object|embed|svg|form|input|template|base|meta|link)$/.test(name)),
        handlers: elements.flatMap((node) => node.getAttributeNames()).filter((name) => name.startsWith('on')),
        schemes: elements.filter((node) => node.href).map((node) => node.protocol).filter((scheme) => !['http:', 'https:', 'mailto:'].includes(scheme)),
      };
    });
    assert.deepEqual(found, { hit: undefined, names: [], handlers: [], schemes: [] }, document);
  }
});

test('documents of an archive are pages that link to each other', async () => {
  const bytes = zip([{ name: 'README.md', bytes: '# Start\n\n[guide](docs/guide.md)\n' }, { name: 'docs/guide.md', bytes: '# Guide\n\n[back](../README.md)\n' }]);
  const page = await visit(await publish(server, { name: 'docs.zip', bytes, key: made.key }));
  await page.getByRole('link', { name: 'guide' }).click();
  await page.waitForSelector('h1:text("Guide")');
  await page.getByRole('link', { name: 'back' }).click();
  await page.waitForSelector('h1:text("Start")');
});

test('data is shown as a readable page', async () => {
  const notebook = { cells: [{ cell_type: 'markdown', source: '# Harvest' }, { cell_type: 'code', execution_count: 1, source: 'print(1)', outputs: [{ text: ['1\n'] }, { data: { 'text/html': '<table onclick="x"><tr><td>2</td></tr></table><script>window.hit = 1</script>' } }] }] };
  for (const [name, text, shown] of [
    ['harvest.csv', 'Fruit,Crates\nApple,1284\nPear,96\n', 'td:text("Apple")'],
    ['harvest.json', '{"fruit": "Apple", "crates": [1284, 96]}', '.json summary'],
    ['harvest.ipynb', JSON.stringify(notebook), 'td:text("2")'],
  ]) {
    const site = await publish(server, { name, bytes: Buffer.from(text), key: made.key });
    for (const [which, view] of Object.entries(VIEWS)) {
      const page = await visit(site, view);
      await page.waitForSelector(shown);
      assert.equal(await page.evaluate(() => window.hit), undefined);
      await assertAccessible(page, `${name} ${which}`, NO_LANGUAGE);
      await page.screenshot({ path: pictureFile(`data-${name.split('.')[1]}-${which}`), fullPage: true });
      await page.context().close();
    }
  }
});
