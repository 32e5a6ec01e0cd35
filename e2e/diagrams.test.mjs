// Mermaid diagrams of a Markdown page in a real browser: drawn when the page is made, without a script, under the strict
// policy too, on a desk and on a phone, light and dark.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from './axe.mjs';
import { launch, openPage, pictureFile, VIEWS } from './browser.mjs';
import { publish } from './http.mjs';
import { operatorKey, startServer } from './server.mjs';

const fence = (code) => `\`\`\`mermaid\n${code}\n\`\`\`\n`;

const FLOWCHART = `flowchart TD
    A[Pick the apples] -->|ripe| B(Wash them)
    B --> C{Sweet enough?}
    C -->|yes| D[Press]
    C -->|no| E[Wait a week]
    E --> B
    D --> F[(Cellar)]`;

const SEQUENCE = `---
title: How a page is published
---
sequenceDiagram
    actor U as User
    participant A as Agent
    participant S as Server
    participant D as Database
    U->>A: Publish this report
    A->>+S: POST /sites
    S->>D: Store
    Note right of S: Checks and stores
    S-->>-A: 201 Created
    A-->>U: Link`;

const DOCUMENT = `---
lang: en
---

# Diagrams

${fence(FLOWCHART)}
Words between.

${fence(SEQUENCE)}
`;

const HOSTILE = [
  'flowchart TD\n a["<img src=x onerror=window.hit=1>"] --> b["<script>window.hit=1</script>"]\n click a "javascript:window.hit=1"',
  'flowchart TD\n a["</text></svg><script>window.hit=1</script>"] --> b\n linkStyle 0 stroke:red" onload="window.hit=1',
  'sequenceDiagram\n participant a as <svg onload=window.hit=1>\n a->>b: </svg><img src=x onerror=window.hit=1>',
];

let server, browser;
const made = {};

before(async () => {
  server = await startServer();
  browser = await launch();
  const key = await operatorKey(server);
  const bytes = Buffer.from(DOCUMENT);
  made.open = await publish(server, { name: 'diagrams.md', bytes, key });
  made.strict = await publish(server, { name: 'diagrams.md', bytes, key, fields: { csp_strict: 'true' } });
  made.hostile = await publish(server, { name: 'hostile.md', bytes: Buffer.from(HOSTILE.map(fence).join('\n')), key });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function visit(site, view = VIEWS[0], options = {}) {
  const page = await openPage(await browser.newContext({ viewport: view.viewport, colorScheme: view.colorScheme, ...options }));
  await page.goto(site.url);
  return page;
}

/** The words of a drawing that are seen, without spaces, which lines are broken at: each has a box inside of the drawing. */
const seenWords = (drawing) =>
  drawing.evaluate((svg) => {
    const around = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')]
      .filter((text) => {
        const { left, right, top, bottom, width } = text.getBoundingClientRect();
        return width > 0 && left >= around.left - 1 && right <= around.right + 1 && top >= around.top - 1 && bottom <= around.bottom + 1;
      })
      .map((text) => text.textContent)
      .join('')
      .replace(/\s/g, '');
  });

describe('diagrams are drawn', () => {
  for (const which of ['open', 'strict']) {
    test(`on a page whose policy is ${which}, and nothing is complained about`, async () => {
      const page = await visit(made[which]);
      const flowchart = page.getByRole('img', { name: 'Flowchart' });
      const sequence = page.getByRole('img', { name: 'Sequence diagram: How a page is published' });
      const words = await seenWords(flowchart);
      for (const word of ['Pick the apples', 'ripe', 'Wash them', 'Press', 'Cellar']) assert.ok(words.includes(word.replaceAll(' ', '')), `${word}: ${words}`);
      const said = await seenWords(sequence);
      for (const word of ['User', 'Agent', 'Publish this report', 'POST /sites', '201 Created']) assert.ok(said.includes(word.replaceAll(' ', '')), `${word}: ${said}`);
      const shape = await flowchart.locator('rect').nth(1).evaluate((node) => getComputedStyle(node).fill);
      assert.match(shape, /^rgb/, 'shapes have their colours');
      assert.deepEqual(page.complaints, []);
    });
  }

  test('without any script, and each has its source below it', async () => {
    const page = await visit(made.open, VIEWS[0], { javaScriptEnabled: false });
    assert.equal(await page.getByRole('img').count(), 2);
    const source = page.locator('.diagram').first().locator('pre');
    assert.ok(!(await source.isVisible()));
    await page.locator('.diagram').first().locator('summary').click();
    assert.ok(await source.isVisible());
    assert.equal((await source.textContent()).trim(), FLOWCHART);
  });

  for (const view of VIEWS) {
    test(`so that they can be read: ${view.name}`, async () => {
      const page = await visit(made.open, view);
      await assertAccessible(page, `diagrams ${view.name}`);
      await page.screenshot({ path: pictureFile(`diagrams-${view.name}`), fullPage: true });
      assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)), 'the page itself does not scroll sideways');
      const heights = await page.locator('.drawing text').evaluateAll((texts) => texts.map((text) => text.getBoundingClientRect().height));
      assert.ok(heights.every((height) => height >= 8), `letters are large enough: ${heights}`);
      const panel = await page.locator('.drawing').first().evaluate((node) => getComputedStyle(node).backgroundColor);
      assert.equal(panel, 'rgb(255, 255, 255)', 'a drawing stands on a light panel');
    });
  }
});

test('nothing that an author writes into a diagram runs', async () => {
  const page = await visit(made.hostile);
  const found = await page.evaluate(() => {
    const elements = [...document.querySelectorAll('main *')];
    return {
      hit: window.hit,
      names: elements.map((node) => node.localName).filter((name) => /^(script|style|iframe|img|image|use|foreignobject|a)$/i.test(name)),
      handlers: elements.flatMap((node) => node.getAttributeNames()).filter((name) => name.startsWith('on') || name.includes('href')),
    };
  });
  assert.deepEqual(found, { hit: undefined, names: [], handlers: [] });
  assert.deepEqual(page.complaints, []);
});
