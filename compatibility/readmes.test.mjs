// READMEs of well-known packages, published as they are: no tag is shown as text, nothing runs, pictures and links are judged.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch } from '../e2e/browser.mjs';
import { publish } from '../e2e/http.mjs';
import { operatorKey, startServer } from '../e2e/server.mjs';

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), 'readmes');
const NAMES = (await readdir(FOLDER)).filter((name) => name.endsWith('.md')).sort();
/** Tabs that show one README after the other. */
const TABS = 3;
/** Raw HTML that people write in Markdown, or what is left of it when it was not understood. */
const TAG = /<\/?(?:p|div|img|a|details|summary|picture|source|table|tr|td|th|h[1-6]|br|sub|sup|kbd|b|strong|em|i|ul|ol|li|center|span|blockquote)(?:\s[^<>]*)?\/?>|<!--/i;
const RELATIVE_PICTURE = /!\[[^\]]*\]\((?!https?:|\/\/|#|data:)[^)\s]+\)|<img[^>]+src="(?!https?:|\/\/|data:)[^"]+"/i;

let server, browser, key;
const tabs = [];

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  browser = await launch({ isOffline: true });
  const context = await browser.newContext();
  for (let left = TABS; left > 0; left -= 1) tabs.push(await context.newPage());
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** What a reader sees apart from code, and what a script or a handler could use. */
const inspect = () => {
  const words = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest('pre, code, kbd, samp, script, style, math, svg')) words.push(node.data);
  }
  const article = document.querySelector('main, article') ?? document.body;
  const elements = [...article.querySelectorAll('*')];
  return {
    text: words.join(' '),
    handlers: elements.flatMap((element) => [...element.attributes].filter(({ name }) => /^on/i.test(name)).map(({ name }) => name)),
    scripts: [...article.querySelectorAll('iframe, object, embed, form, meta, base, script:not([src*="_dropleaf/"])')].map((element) => element.localName),
    links: [...article.querySelectorAll('a[href]')].map((link) => link.protocol),
  };
};

/** Shows a page in a tab that is free. */
async function view(url) {
  const page = tabs.pop();
  const errors = [];
  const note = (error) => errors.push(String(error));
  page.on('pageerror', note);
  try {
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    return { seen: await page.evaluate(inspect), errors };
  } finally {
    page.off('pageerror', note);
    tabs.push(page);
  }
}

describe('a README is shown as on the page of its package', { concurrency: TABS }, () => {
  for (const name of NAMES) {
    test(name, async () => {
      const bytes = await readFile(path.join(FOLDER, name));
      const site = await publish(server, { name, bytes, key });
      const { seen, errors } = await view(site.url);

      assert.deepEqual(errors, []);
      assert.equal(seen.text.match(TAG)?.[0], undefined, 'a tag is shown as text');
      assert.deepEqual(seen.handlers, []);
      assert.deepEqual(seen.scripts, []);
      assert.deepEqual(seen.links.filter((protocol) => !/^(https?|mailto):$/.test(protocol)), []);
      const hasMissingPicture = RELATIVE_PICTURE.test(bytes.toString('utf8').replace(/```[\s\S]*?```|`[^`\n]*`/g, ''));
      if (hasMissingPicture) assert.match((site.warnings ?? []).join('\n'), /^Missing from the upload: /m, 'a picture that is not there has a warning');
    });
  }
});

test('there are 48 READMEs, and SOURCES names each with its licence', async () => {
  const sources = await readFile(path.join(FOLDER, 'SOURCES'), 'utf8');
  assert.ok(NAMES.length >= 48, String(NAMES.length));
  for (const name of NAMES) assert.ok(sources.includes(`| ${name} | `), name);
});
