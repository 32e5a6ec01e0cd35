// A rendered Markdown page in a real browser: text direction, tasks and tables, on a desk and on a phone, light and dark.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile } from './browser.mjs';
import { publish } from './http.mjs';
import { operatorKey, startServer } from './server.mjs';

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

let server, browser;
const made = {};

before(async () => {
  server = await startServer();
  browser = await launch();
  const key = await operatorKey(server);
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

test('tasks have the name of their text, and nothing is hard to use', async () => {
  for (const [name, view] of Object.entries(VIEWS)) {
    for (const which of ['arabic', 'english']) {
      const page = await visit(made[which], view);
      await assertAccessible(page, `${which} ${name}`);
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
