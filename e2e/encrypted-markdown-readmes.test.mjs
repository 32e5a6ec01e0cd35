// The two renderers of Markdown compared: the server's, for pages that it can read, and the viewer's, for encrypted ones.
// READMEs of well-known packages must come out with the same structure, texts, addresses and ids.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { launch } from './browser.mjs';
import { publish, request, siteHost } from './http.mjs';
import { markdownModules } from './imitation.mjs';
import { operatorKey, startServer } from './server.mjs';

const FOLDER = new URL('../compatibility/readmes/', import.meta.url);
const NAMES = (await readdir(FOLDER)).filter((name) => name.endsWith('.md')).sort();

/*
 * What may differ, because the viewer leaves it out on purpose:
 * - colours of code: the spans inside of `pre` are ignored;
 * - Mermaid diagrams are shown as their source: of the server's `.diagram` only the source below the drawing counts;
 * - formulas are shown as their source: `math`, `.formula` and `code` with dollar signs count as the same;
 * - emoji keep their short names (none of these READMEs has one in a heading, whose id it would change);
 * - the table of contents appears from a length of the page that is counted in another unit: it is ignored;
 * - pictures beside the page are not loaded: they have no `src` and no `srcset`.
 * Written differently with the same meaning: the alignment of cells (`style` or `align`), and how addresses are encoded.
 */

/** A link whose text and address have a dollar sign each, which the server takes for the ends of a formula. Both get it without. */
const WITHOUT = { 'npm-axios.md': '$http service' };

/** Runs in the browser: the element as lines of tags with their attributes, and texts. */
function linesOf(main) {
  const lines = [];
  const absolute = (address) => {
    try {
      return new URL(address, 'https://beside.invalid/').href;
    } catch {
      return address;
    }
  };
  const isBeside = (address) => absolute(address).startsWith('https://beside.invalid/');
  const attribute = (node, { name, value }) => {
    if (name === 'style') return value.replace(/^text-align: (\w+)$/, 'align=$1');
    if (name === 'align') return `align=${value}`;
    if (name === 'href' || name === 'cite') return `${name}=${absolute(value)}`;
    if (name === 'src') return isBeside(value) ? '' : `src=${absolute(value)}`;
    if (name === 'srcset') return value.split(',').some((part) => isBeside(part.trim().split(/\s/)[0])) ? '' : `srcset=${value}`;
    return `${name}=${value}`;
  };
  const walk = (node) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) {
        if (lines.at(-1)?.[0] === 'text') lines.at(-1)[1] += child.data;
        else lines.push(['text', child.data]);
      }
      if (child.nodeType !== Node.ELEMENT_NODE || child.matches('.contents, script')) continue;
      if (child.matches('math, .formula') || (child.localName === 'code' && /^\$[\s\S]*\$$/.test(child.textContent))) {
        lines.push(['formula']);
        continue;
      }
      const element = child.matches('.diagram') ? child.querySelector('details > pre') : child;
      const attributes = [...element.attributes].map((one) => attribute(element, one)).filter(Boolean).sort();
      lines.push(['open', element.localName, ...attributes]);
      if (element.localName === 'pre') lines.push(['code', element.textContent]);
      else walk(element);
      lines.push(['close', element.localName]);
    }
  };
  walk(main);
  return lines.map(([kind, ...rest]) => (kind === 'text' ? `text ${rest[0].replace(/\s+/g, ' ').trim()}` : [kind, ...rest].join(' '))).filter((line) => line !== 'text ');
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** Whether a line of the viewer is that of the server but for the names of emoji. */
function isSame(theirs, ours) {
  if (theirs === ours) return true;
  const withEmoji = escaped(ours).replace(/:[a-z0-9_+-]+:/gi, '(?:$&|\\S{1,16}?)');
  return new RegExp(`^${withEmoji}$`, 'u').test(theirs);
}

let server, browser, page, key;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  browser = await launch();
  page = await (await browser.newContext()).newPage();
  await page.evaluate(`(() => { ${await markdownModules()}; ${linesOf}; Object.assign(window, { markdownPage, isMarkdown, linesOf }); })()`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The document of a published site, as a browser gets it. */
async function rendered(name, bytes) {
  const site = await publish(server, { name, bytes, key });
  const answer = await request(server, { path: site.path, host: siteHost(server), headers: { accept: 'text/html' } });
  return answer.bytes.toString('utf8');
}

describe('both renderers make the same of', () => {
  for (const name of NAMES) {
    test(name, async () => {
      const source = await readFile(new URL(name, FOLDER), 'utf8');
      const text = WITHOUT[name] ? source.replaceAll(WITHOUT[name], WITHOUT[name].replace('$', '')) : source;
      const html = await rendered(name, Buffer.from(text));
      const { server: theirs, viewer: ours } = await page.evaluate(([text, html]) => ({
        server: window.linesOf(new DOMParser().parseFromString(html, 'text/html').querySelector('main')),
        viewer: window.linesOf(window.markdownPage(text).main),
      }), [text, html]);
      const at = theirs.findIndex((line, place) => !isSame(line, ours[place] ?? ''));
      const around = (lines) => lines.slice(Math.max(0, at - 3), at + 4).join('\n');
      assert.ok(at < 0, `line ${at}\n\nserver:\n${around(theirs)}\n\nviewer:\n${around(ours)}`);
      assert.equal(ours.length, theirs.length);
      assert.ok(ours.length > 20, 'there is something to compare');
    });
  }

  test('whether a README is Markdown', async () => {
    for (const name of NAMES) {
      const text = await readFile(new URL(name, FOLDER), 'utf8');
      assert.ok(await page.evaluate((source) => window.isMarkdown(source), text), name);
    }
  });
});
