// The block structure of a Markdown document: reads it line by line and gives a tree of blocks whose text is not parsed
// yet. Every line is compared with the open blocks from the outside in; their number is bounded.

import { CONTINUES, isLoose, skipQuoteMark } from './containers.js';
import { Line } from './line.js';
import { takeDefinitions } from './links.js';
import { endsFence, fenceStart, footnoteStart, headingStart, htmlStart, isRule, itemStart, underlineLevel } from './starts.js';
import { bodyRow, tableStart } from './table.js';
import { normalizeLabel, trimEnd } from './text.js';

/** Blocks open inside of each other; deeper ones are text. */
const DEEPEST_BLOCK = 100;

/** The tree of a document, its link definitions and its footnotes. */
export function parseBlocks(source, references) {
  const parser = new BlockParser(references);
  const lines = source.replaceAll('\0', '\ufffd').split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  for (const text of lines) parser.take(new Line(text));
  parser.closeTo(0);
  return { root: parser.root, definitions: parser.definitions, footnotes: parser.footnotes };
}

class BlockParser {
  constructor(references) {
    this.references = references;
    this.definitions = new Map();
    this.footnotes = new Map();
    this.number = 0;
    this.root = this.made('document', { children: [] });
    /** The open containers, the document first, and the open block of text inside of the last one. */
    this.open = [this.root];
    this.leaf = null;
    /** How many open containers the line goes on with. */
    this.matched = 1;
  }

  made(type, properties) {
    return { type, start: this.number, end: this.number, ...properties };
  }

  take(line) {
    this.number += 1;
    this.matched = 1;
    while (this.matched < this.open.length) {
      const block = this.open[this.matched];
      if (!CONTINUES[block.type](block, line, this.number)) break;
      this.matched += 1;
    }
    if (this.isWhole() && this.leaf?.takesAll && this.takeVerbatim(line)) return;
    while (this.open.length < DEEPEST_BLOCK || !this.isWhole()) {
      const started = this.start(line);
      if (started === 'leaf') return;
      if (started !== 'container') break;
    }
    this.takeText(line);
  }

  /** Whether the line goes on with every open container. */
  isWhole() {
    return this.matched === this.open.length;
  }

  isInParagraph() {
    return this.isWhole() && this.leaf?.type === 'paragraph';
  }

  /** A line inside of code or an HTML block; false if the line ends the block and belongs to what follows. */
  takeVerbatim(line) {
    const { leaf } = this;
    if (leaf.fence) {
      if (endsFence(line, leaf.fence)) {
        leaf.end = this.number;
        this.closeLeaf();
        return true;
      }
      line.skipColumns(Math.min(line.indent, leaf.fence.indent));
    } else if (leaf.type === 'code') {
      if (!line.blank && line.indent < 4) {
        this.closeLeaf();
        return false;
      }
      line.skipColumns(Math.min(line.indent, 4));
    } else if (line.blank && !leaf.ending) {
      this.closeLeaf();
      return true;
    }
    leaf.lines.push(line.rest());
    if (leaf.fence || !line.blank) leaf.end = this.number;
    if (leaf.ending?.test(line.text)) this.closeLeaf();
    return true;
  }

  /** Opens the block that begins here. */
  start(line) {
    if (line.blank) return undefined;
    if (line.indent >= 4) {
      if (this.leaf?.type === 'paragraph') return undefined;
      line.skipColumns(4);
      this.addLeaf('code', { lines: [line.rest()], takesAll: true, info: '' });
      return 'leaf';
    }
    return this.startContainer(line) ?? this.startLeaf(line);
  }

  startContainer(line) {
    if (line.char === '>') {
      skipQuoteMark(line);
      this.addContainer('quote', {});
      return 'container';
    }
    const footnote = footnoteStart(line);
    if (footnote) {
      line.skipText(footnote.length);
      line.skipColumns(line.indent);
      const block = this.addContainer('footnote', { label: normalizeLabel(footnote.label) });
      if (!this.footnotes.has(block.label)) this.footnotes.set(block.label, block);
      return 'container';
    }
    const item = this.isOtherBlock(line) ? undefined : itemStart(line, this.isInParagraph());
    if (!item) return undefined;
    this.closeTo(this.matched);
    const list = this.open.at(-1);
    if (list.type !== 'list' || list.kind !== item.kind) this.addContainer('list', { kind: item.kind, first: item.start });
    this.addContainer('item', { offset: item.offset });
    return 'container';
  }

  /** Whether what looks like the marker of an item is a rule, an underline or the second line of a table. */
  isOtherBlock(line) {
    if (line.char !== '-' && line.char !== '*') return false;
    return isRule(line) || (this.isInParagraph() && Boolean(underlineLevel(line) ?? tableStart(this.leaf.lines.at(-1), line.content())));
  }

  startLeaf(line) {
    const heading = headingStart(line);
    if (heading) return this.addWhole('heading', heading);
    const fence = fenceStart(line);
    if (fence) {
      this.addLeaf('code', { lines: [], takesAll: true, fence, info: this.references.unescape(fence.info) });
      return 'leaf';
    }
    const html = htmlStart(line, this.leaf?.type === 'paragraph');
    if (html) {
      this.addLeaf('html', { lines: [line.rest()], takesAll: true, ending: html.end });
      if (html.end?.test(line.content())) this.closeLeaf();
      return 'leaf';
    }
    if (this.isInParagraph()) {
      const started = this.endParagraph(line);
      if (started) return started;
    }
    return isRule(line) ? this.addWhole('rule', {}) : undefined;
  }

  /** Makes a paragraph the heading whose underline this is, or its last line the head of a table. */
  endParagraph(line) {
    const level = underlineLevel(line);
    if (level) {
      const text = this.paragraphText();
      if (text === '') return undefined;
      this.leaf.lines = [];
      const { start } = this.leaf;
      this.addWhole('heading', { level, text, start });
      return 'leaf';
    }
    const table = tableStart(this.leaf.lines.at(-1), line.content());
    if (!table) return undefined;
    this.leaf.lines.pop();
    this.leaf.end -= 1;
    this.addLeaf('table', { ...table, rows: [], start: this.number - 1 });
    return 'leaf';
  }

  /** A line that begins no block: it goes on with a paragraph, also lazily, or begins one. */
  takeText(line) {
    if (!line.blank && this.leaf?.type === 'paragraph') {
      this.leaf.lines.push(line.content());
      this.leaf.end = this.number;
      return;
    }
    if (!this.isWhole()) this.closeTo(this.matched);
    if (line.blank) return this.closeLeaf();
    if (this.leaf?.type === 'table') {
      this.leaf.rows.push(bodyRow(line.content(), this.leaf.columns));
      this.leaf.end = this.number;
      return;
    }
    this.addLeaf('paragraph', { lines: [line.content()] });
  }

  addContainer(type, properties) {
    const block = this.made(type, { children: [], ...properties });
    this.add(block);
    this.open.push(block);
    this.matched = this.open.length;
    return block;
  }

  addLeaf(type, properties) {
    const block = this.made(type, properties);
    this.add(block);
    this.leaf = block;
  }

  addWhole(type, properties) {
    this.addLeaf(type, properties);
    this.closeLeaf();
    return 'leaf';
  }

  add(block) {
    this.closeTo(this.matched);
    if (block.type !== 'item' && this.open.at(-1).type === 'list') this.closeTo(this.open.length - 1);
    this.open.at(-1).children.push(block);
  }

  /** Closes containers until this many are open. */
  closeTo(count) {
    this.closeLeaf();
    while (this.open.length > count) {
      const block = this.open.pop();
      if (block.type === 'list') block.isLoose = isLoose(block);
      const around = this.open.at(-1);
      if (around) around.end = Math.max(around.end, block.end);
    }
    this.matched = Math.min(this.matched, this.open.length);
  }

  closeLeaf() {
    const { leaf } = this;
    if (!leaf) return;
    if (leaf.type === 'paragraph') {
      leaf.text = this.paragraphText();
      // Definitions show nothing, but blank lines around them count.
      if (leaf.lines.length === 0) this.open.at(-1).children.pop();
      else if (leaf.text === '') leaf.type = 'definitions';
    }
    if (leaf.type === 'code' && !leaf.fence) while (leaf.lines.at(-1).trim() === '') leaf.lines.pop();
    this.leaf = null;
    const around = this.open.at(-1);
    around.end = Math.max(around.end, leaf.end);
  }

  /** The text of the open paragraph without the definitions at its beginning. */
  paragraphText() {
    const text = trimEnd(this.leaf.lines.join('\n'));
    return text.slice(takeDefinitions(text, this.definitions, this.references));
  }
}
