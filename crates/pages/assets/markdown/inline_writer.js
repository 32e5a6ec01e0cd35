// Writes the HTML text of a document: elements of Markdown, running text, and the author's HTML between them.

import { isLinkAddress, isPictureAddress, splitAddresses } from './addresses.js';
import { parseInlines } from './inlines.js';
import { opensBlock, opensDropped, RawHtml } from './raw_html.js';
import { escapeHtml } from './text.js';

/** Some sources grow when they are rendered, as a wide table with empty rows does. */
const MOST_GROWTH = 64;
const FREE_CHARACTERS = 256 * 1024;
const MOST_CHARACTERS = 16 * 1024 * 1024;

export class InlineWriter {
  constructor(document, sourceLength) {
    this.document = document;
    this.author = new RawHtml();
    this.parts = [];
    this.length = 0;
    this.most = Math.min(MOST_CHARACTERS, sourceLength * MOST_GROWTH + FREE_CHARACTERS);
    this.pending = '';
    /** For each open link, whether it was kept. */
    this.links = [];
    /** The level of the open paragraph; undefined once the author's HTML has ended it early. */
    this.paragraphLevel = undefined;
    /** An element of the author's that is left out with its text, until its end tag. */
    this.leftOut = undefined;
  }

  html() {
    return this.parts.join('');
  }

  raw(html) {
    if (html === '') return;
    this.length += html.length;
    if (this.length > this.most) throw new RangeError('The document grows too much.');
    this.parts.push(html);
  }

  /** Writes an element of Markdown around what `write` writes. A block ends a paragraph of the author's HTML. */
  element(name, attributes, write, isBlock = true) {
    if (isBlock) this.endAuthorParagraph();
    this.author.enter();
    this.raw(`<${name}${attributes}>`);
    write();
    this.raw(this.author.leave());
    this.raw(`</${name}>`);
  }

  paragraph(text) {
    this.endAuthorParagraph();
    this.paragraphLevel = this.author.level + 1;
    this.author.enter();
    this.raw('<p>');
    this.inline(text);
    this.raw(this.author.leave());
    this.raw(this.paragraphLevel === undefined ? '\n' : '</p>\n');
    this.paragraphLevel = undefined;
  }

  /** The label holds the box and the text, which so becomes the name of the box. */
  task(text, isDone, isLoose) {
    if (isLoose) this.raw('<p>');
    this.element('label', ' class="task"', () => {
      this.raw(`<input type="checkbox" disabled${isDone ? ' checked' : ''}>\n`);
      this.inline(text);
      if (this.plainText(text).trim() === '') this.raw('<span class="unseen">Task</span>');
    }, false);
    this.raw(isLoose ? '</p>\n' : '\n');
  }

  endAuthorParagraph() {
    this.raw(this.author.endParagraph());
  }

  closeAuthorHtml() {
    this.raw(this.author.closeAll());
  }

  authorHtml(html) {
    this.raw(this.author.write(html));
  }

  /** The text of a source without its markup, as in the name of a table. */
  plainText(source) {
    return plainTextOf(parseInlines(source, this.document));
  }

  inline(source) {
    const nodes = parseInlines(source, this.document);
    this.leftOut = undefined;
    for (let at = 0; at < nodes.length; at += 1) {
      if (nodes[at].kind === 'text') {
        this.textNode(nodes[at]);
        continue;
      }
      this.flush();
      if (nodes[at].kind === 'image') at = this.image(nodes, at);
      else this.node(nodes[at]);
    }
    this.flush();
    this.leftOut = undefined;
  }

  /** Text is gathered until something else comes, so that an address in it is seen whole. */
  textNode({ text, opens, closes }) {
    if (closes.length > 0) this.flush();
    for (const name of closes) this.close(name);
    this.pending += text;
    if (opens.length > 0) this.flush();
    // The last pair that was found is the outermost.
    for (const name of [...opens].reverse()) this.open(name);
  }

  flush() {
    const text = this.pending;
    this.pending = '';
    this.text(text);
  }

  open(name) {
    this.author.enter();
    this.raw(`<${name}>`);
  }

  close(name) {
    this.raw(this.author.leave());
    this.raw(`</${name}>`);
  }

  text(text) {
    if (text === '' || this.leftOut) return;
    if (this.links.length > 0 || this.author.hasOpen('a')) return this.raw(escapeHtml(text));
    for (const piece of splitAddresses(text)) {
      const shown = escapeHtml(piece.text);
      const scheme = piece.text.startsWith('www.') ? 'https://' : '';
      this.raw(piece.isAddress ? `<a href="${scheme}${shown}">${shown}</a>` : shown);
    }
  }

  node(node) {
    if (node.kind === 'html') return this.inlineHtml(node.text);
    if (node.kind === 'open') return this.openLink(node);
    if (node.kind === 'close') return this.closeLink();
    if (this.leftOut) return undefined;
    if (node.kind === 'break') return this.raw(node.isHard ? '<br>\n' : '\n');
    if (node.kind === 'footnote') return this.footnoteMark(node.label);
    return this.raw(`<code>${escapeHtml(node.text)}</code>`);
  }

  openLink({ destination, title }) {
    const isKept = isLinkAddress(destination);
    this.links.push(isKept);
    this.author.enter();
    if (isKept) this.raw(`<a href="${hrefOf(destination)}"${titleAttribute(title)}>`);
  }

  closeLink() {
    this.raw(this.author.leave());
    if (this.links.pop()) this.raw('</a>');
  }

  /** A picture, whose text up to its end is its description; gives the place of that end. */
  image(nodes, start) {
    let end = start + 1;
    for (let depth = 1; end < nodes.length; end += 1) {
      if (nodes[end].kind === 'image') depth += 1;
      if (nodes[end].kind === 'image end') depth -= 1;
      if (depth === 0) break;
    }
    const { destination, title } = nodes[start];
    const alt = plainTextOf(nodes.slice(start + 1, end));
    if (this.leftOut) return end;
    if (isPictureAddress(destination)) this.raw(`<img src="${escapeHtml(destination)}" alt="${escapeHtml(alt)}"${titleAttribute(title)}>`);
    else this.raw(escapeHtml(alt));
    return end;
  }

  footnoteMark(label) {
    const numbers = this.document.footnoteNumbers;
    const isFirst = !numbers.has(label);
    if (isFirst) numbers.set(label, numbers.size + 1);
    const number = numbers.get(label);
    this.raw(`<sup class="fn"><a href="#fn:${number}"${isFirst ? ` id="fnref:${number}"` : ''}>${number}</a></sup>`);
  }

  /** One tag, comment or the like in running text. A block in a paragraph ends it, as in HTML. */
  inlineHtml(html) {
    if (this.leftOut) {
      const end = /^<\/([^\s>]+)/.exec(html)?.[1].toLowerCase();
      if (end === this.leftOut) this.leftOut = undefined;
      return;
    }
    this.leftOut = opensDropped(html);
    if (opensBlock(html) && this.paragraphLevel === this.author.level) {
      this.raw(this.author.closeInside());
      this.raw('</p>');
      this.paragraphLevel = undefined;
    }
    this.authorHtml(html);
  }
}

/** Browsers take a backslash for a slash. */
const hrefOf = (destination) => escapeHtml(destination.replace(/[\\[\]]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`));
const titleAttribute = (title) => (title ? ` title="${escapeHtml(title)}"` : '');

function plainTextOf(nodes) {
  return nodes.map(({ kind, text }) => (kind === 'break' ? ' ' : kind === 'html' ? '' : text ?? '')).join('');
}
