// Renders Markdown (CommonMark with GitHub's extensions) as the HTML text of a page. Made for the viewer of encrypted pages:
// the text is not safe to show by itself; page.js copies what is allowed out of it.

import { parseBlocks } from './blocks.js';
import { splitFrontMatter } from './front_matter.js';
import { InlineWriter } from './inline_writer.js';
import { escapeHtml, References } from './text.js';

const ALERTS = { NOTE: 'Note', TIP: 'Tip', IMPORTANT: 'Important', WARNING: 'Warning', CAUTION: 'Caution' };
const ALERT_LINE = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i;
const TASK = /^\[([ xX])\](?=\s)/;
const LONGEST_TABLE_NAME = 100;

/**
 * `{ html, title, language, direction }` of a document. `findNamed(name)` gives the text of the character reference
 * `&name;`. Throws RangeError when the result would be far larger than the source.
 */
export function renderMarkdown(source, findNamed) {
  const { rest, ...frontMatter } = splitFrontMatter(source);
  const references = new References(findNamed);
  const parsed = parseBlocks(rest, references);
  const document = { ...parsed, references, footnoteNumbers: new Map() };
  const renderer = new Renderer(document, source.length);
  renderer.blocks(parsed.root.children, true);
  renderer.footnotes();
  return { html: renderer.out.html(), ...frontMatter };
}

class Renderer {
  constructor(document, sourceLength) {
    this.document = document;
    this.out = new InlineWriter(document, sourceLength);
  }

  blocks(blocks, isLoose) {
    for (const block of blocks) this[block.type](block, isLoose);
  }

  /** A footnote is shown at the end of the page, and definitions nowhere. */
  footnote() {}

  definitions() {}

  paragraph({ text }, isLoose) {
    if (isLoose) {
      this.out.paragraph(text);
      return;
    }
    this.out.inline(text);
    this.out.raw('\n');
  }

  heading({ level, text }) {
    this.out.element(`h${level}`, '', () => this.out.inline(text));
    this.out.raw('\n');
  }

  rule() {
    this.out.endAuthorParagraph();
    this.out.raw('<hr>\n');
  }

  code({ lines, info }) {
    const language = languageOf(info);
    this.out.endAuthorParagraph();
    const label = language ? ` data-lang="${language}"` : '';
    const code = lines.length > 0 ? `${lines.join('\n')}\n` : '';
    this.out.raw(`<pre${label} tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`);
  }

  html({ lines }) {
    this.out.authorHtml(`${lines.join('\n')}\n`);
  }

  quote(block) {
    const first = block.children[0];
    const kind = first?.type === 'paragraph' ? ALERT_LINE.exec(first.text) : null;
    const name = kind?.[1].toUpperCase();
    this.out.element('blockquote', kind ? ` class="markdown-alert-${name.toLowerCase()}"` : '', () => {
      this.out.raw('\n');
      if (!kind) return this.blocks(block.children, true);
      this.out.raw(`<p class="alert">${ALERTS[name]}</p>\n`);
      const rest = first.text.slice(kind[0].length);
      if (rest) this.paragraph({ text: rest }, true);
      this.blocks(block.children.slice(1), true);
    });
    this.out.raw('\n');
  }

  list(block) {
    const name = block.first === undefined ? 'ul' : 'ol';
    const start = block.first === undefined || block.first === 1 ? '' : ` start="${block.first}"`;
    this.out.element(name, start, () => {
      this.out.raw('\n');
      for (const item of block.children) this.item(item, block.isLoose);
    });
    this.out.raw('\n');
  }

  item(item, isLoose) {
    this.out.element('li', '', () => {
      const first = item.children[0];
      const task = first?.type === 'paragraph' ? TASK.exec(first.text) : null;
      if (isLoose) this.out.raw('\n');
      if (!task) return this.blocks(item.children, isLoose);
      const text = first.text.slice(task[0].length).trimStart();
      this.out.task(text, task[1] !== ' ', isLoose);
      this.blocks(item.children.slice(1), isLoose);
    }, false);
    this.out.raw('\n');
  }

  /** A wide table scrolls inside of a box, which the keyboard reaches and which is called what its columns are called. */
  table({ columns, head, rows }) {
    this.out.endAuthorParagraph();
    this.out.raw(`<div class="table" role="group" aria-label="${escapeHtml(this.tableName(head))}" tabindex="0">`);
    this.out.element('table', '', () => {
      this.out.element('thead', '', () => this.row('th', head, columns), false);
      if (rows.length === 0) return;
      this.out.raw('<tbody>\n');
      for (const row of rows) this.row('td', row, columns);
      this.out.raw('</tbody>');
    });
    this.out.raw('</div>\n');
  }

  row(name, cells, columns) {
    this.out.element('tr', '', () => {
      cells.forEach((cell, at) => {
        this.out.element(name, columns[at] ? ` align="${columns[at]}"` : '', () => this.out.inline(cell), false);
      });
    }, false);
    this.out.raw('\n');
  }

  tableName(head) {
    const names = head.map((cell) => this.out.plainText(cell).split(/\s+/).join(' ').trim()).filter(Boolean).join(', ');
    const letters = [...names.slice(0, 4 * LONGEST_TABLE_NAME)];
    if (letters.length === 0) return 'Table';
    if (letters.length <= LONGEST_TABLE_NAME) return names;
    return `${letters.slice(0, LONGEST_TABLE_NAME).join('').replace(/[, ]{1,9}$/, '')}…`;
  }

  /** The notes that are mentioned, in the order of their first mention. A note may mention others. */
  footnotes() {
    this.out.closeAuthorHtml();
    const numbers = this.document.footnoteNumbers;
    if (numbers.size === 0) return;
    this.out.raw('\n<section class="footnotes">\n<ol>\n');
    for (const [label, number] of numbers) {
      this.out.raw(`<li id="fn:${number}" value="${number}">`);
      this.blocks(this.document.footnotes.get(label).children, true);
      this.out.closeAuthorHtml();
      this.out.raw(` <a class="back" href="#fnref:${number}" aria-label="Back to the text">↩</a></li>\n`);
    }
    this.out.raw('</ol>\n</section>\n');
  }
}

/** The first word of a fence, if it looks like the name of a language. */
function languageOf(info) {
  const word = info.split(/[ ,\t{]/, 1)[0];
  return /^[a-zA-Z0-9+#_.-]{1,20}$/.test(word) ? word : '';
}
