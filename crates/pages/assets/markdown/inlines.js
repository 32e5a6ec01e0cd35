// Parses the text of a block: a flat list of nodes in which the beginnings and ends of elements stand in their order.
// Kinds of nodes: text (with elements that close before it and open after it), code, math, html, break, open, close,
// footnote. Bounded work: whatever does not close is looked for once.

import { delimiterRun, Delimiters } from './emphasis.js';
import { linkDestination, linkLabel, skipSpace, Titles } from './links.js';
import { CLOSE_TAG, OPEN_TAG } from './starts.js';
import { isEscapable, normalizeLabel, trimEnd } from './text.js';

const LONGEST_REFERENCE = 999;
/** Dollar signs that are tried as the end of a formula. */
const MOST_FORMULA_ENDS = 8;
const PLAIN = /[^\\`*_~[\]!<&$\n]+/y;
const BACKTICKS = /`+/y;
const WEB_ADDRESS = /<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>\x00-\x1f]*)>/y;
const MAIL_ADDRESS = /<([\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?){0,20})>/y;
const TAG = new RegExp(`${OPEN_TAG}|${CLOSE_TAG}|<!-{2}(?=-?>)-?>`, 'y');
const FOOTNOTE_MARK = /\[\^([^\][\s]{1,200})\]/y;
/** Other markup, by how it begins and ends. */
const MARKUP = [['<!-' + '-', '-->'], ['<?', '?>'], ['<![CDATA[', ']]>'], ['<!', '>']];
const WORD = /[\p{L}\p{N}$]/u;

const matchAt = (expression, text, at) => {
  expression.lastIndex = at;
  return expression.exec(text);
};

/** The nodes of a text. `document` has the definitions, the footnotes and the references. */
export function parseInlines(text, document) {
  return new InlineParser(text, document).parse();
}

class InlineParser {
  constructor(text, document) {
    this.text = text;
    this.document = document;
    this.at = 0;
    this.nodes = [];
    this.delimiters = new Delimiters();
    this.titles = new Titles(text);
    this.brackets = [];
    /** Openers of links below this height of the stack are around a link, and links do not nest. */
    this.inactive = 0;
    /** Endings that the rest of the text does not have. */
    this.absent = new Set();
  }

  parse() {
    while (this.at < this.text.length) {
      const plain = matchAt(PLAIN, this.text, this.at);
      if (plain) {
        this.addText(plain[0]);
        this.at += plain[0].length;
      } else {
        this.parseMark(this.text[this.at]);
      }
    }
    this.delimiters.match(null);
    return this.nodes;
  }

  parseMark(mark) {
    switch (mark) {
      case '\n': return this.parseLineEnd();
      case '\\': return this.parseBackslash();
      case '`': return this.parseCode();
      case '$': return this.parseMath() || this.addMark(1);
      case '*': case '_': case '~': return this.parseDelimiters();
      case '&': return this.parseReference();
      case '<': return this.parsePointed() || this.addMark(1);
      case '!': return this.text[this.at + 1] === '[' ? this.openBracket(2) : this.addMark(1);
      case '[': return this.parseFootnote() || this.openBracket(1);
      default: return this.closeBracket();
    }
  }

  addText(text) {
    this.nodes.push({ kind: 'text', text, opens: [], closes: [] });
  }

  /** The next characters as they are. */
  addMark(length) {
    this.addText(this.text.slice(this.at, this.at + length));
    this.at += length;
  }

  add(node, end) {
    this.nodes.push(node);
    this.at = end;
    return true;
  }

  parseLineEnd() {
    const last = this.nodes.at(-1);
    let spaces = 0;
    if (last?.kind === 'text' && !last.isLiteral) {
      const text = trimEnd(last.text, (char) => char === ' ');
      spaces = last.text.length - text.length;
      last.text = text;
    }
    this.at += 1;
    while (this.text[this.at] === ' ' || this.text[this.at] === '\t') this.at += 1;
    this.nodes.push({ kind: 'break', isHard: spaces >= 2 });
  }

  parseBackslash() {
    const next = this.text[this.at + 1];
    if (next === '\n') {
      this.at += 1;
      this.parseLineEnd();
      this.nodes.at(-1).isHard = true;
    } else if (next !== undefined && isEscapable(next)) {
      this.at += 1;
      this.addMark(1);
    } else {
      this.addMark(1);
    }
  }

  parseReference() {
    const found = this.document.references.at(this.text, this.at);
    if (!found) return this.addMark(1);
    this.addText(found.text);
    this.nodes.at(-1).isLiteral = true;
    this.at = found.end;
  }

  parseDelimiters() {
    const run = delimiterRun(this.text, this.at);
    this.addMark(run.length);
    this.delimiters.add(this.nodes.at(-1), run);
  }

  parseCode() {
    const { length } = matchAt(BACKTICKS, this.text, this.at)[0];
    const end = this.nextBackticks(length, this.at + length);
    if (end === undefined) return this.addMark(length);
    const code = this.text.slice(this.at + length, end).replaceAll('\n', ' ');
    const isPadded = code.length > 2 && code[0] === ' ' && code.at(-1) === ' ' && code.trim() !== '';
    this.add({ kind: 'code', text: isPadded ? code.slice(1, -1) : code }, end + length);
  }

  /** Where the next run of exactly so many backticks begins. All runs are found once. */
  nextBackticks(length, from) {
    if (!this.runs) {
      this.runs = new Map();
      for (const run of this.text.matchAll(/`+/g)) {
        const places = this.runs.get(run[0].length) ?? { list: [], passed: 0 };
        places.list.push(run.index);
        this.runs.set(run[0].length, places);
      }
    }
    const places = this.runs.get(length);
    while (places && places.list[places.passed] < from) places.passed += 1;
    return places?.list[places.passed];
  }

  /** A formula stays its source: no emphasis is looked for in it. */
  parseMath() {
    const { text, at } = this;
    if (text.startsWith('$$', at)) {
      const end = this.find('$$', at + 2);
      return end !== undefined && end > at + 2 && this.add({ kind: 'math', text: text.slice(at, end + 2) }, end + 2);
    }
    if (at + 1 >= text.length || /[\s$]/.test(text[at + 1]) || (at > 0 && WORD.test(text[at - 1]))) return false;
    let end = this.find('$', at + 1);
    for (let tried = 0; end !== undefined && tried < MOST_FORMULA_ENDS; tried += 1) {
      const isEnd = !/\s/.test(text[end - 1]) && text[end - 1] !== '\\';
      if (isEnd) return !WORD.test(text[end + 1] ?? ' ') && this.add({ kind: 'math', text: text.slice(at, end + 1) }, end + 1);
      end = this.find('$', end + 1);
    }
    return false;
  }

  /** Where this ending comes next; what does not come any more is not looked for again. */
  find(ending, from) {
    if (this.absent.has(ending)) return undefined;
    const at = this.text.indexOf(ending, from);
    if (at < 0) this.absent.add(ending);
    return at < 0 ? undefined : at;
  }

  /** `<https://…>`, `<a@b.example>`, and HTML. */
  parsePointed() {
    const { text, at } = this;
    const web = matchAt(WEB_ADDRESS, text, at);
    const address = web ?? matchAt(MAIL_ADDRESS, text, at);
    if (address) {
      const destination = web ? address[1] : `mailto:${address[1]}`;
      this.nodes.push({ kind: 'open', destination, title: '' }, { kind: 'text', text: address[1], opens: [], closes: [] });
      return this.add({ kind: 'close' }, at + address[0].length);
    }
    const tag = matchAt(TAG, text, at)?.[0];
    if (tag) return this.add({ kind: 'html', text: tag }, at + tag.length);
    const [start, ending] = MARKUP.find(([opening]) => text.startsWith(opening, at)) ?? [];
    if (!start || (start === '<!' && !/[a-zA-Z]/.test(text[at + 2] ?? ''))) return false;
    const found = this.find(ending, at + start.length);
    const end = found === undefined ? 0 : found + ending.length;
    return end > 0 && this.add({ kind: 'html', text: text.slice(at, end) }, end);
  }

  parseFootnote() {
    const found = matchAt(FOOTNOTE_MARK, this.text, this.at);
    const label = found && normalizeLabel(found[1]);
    return this.document.footnotes.has(label) && this.add({ kind: 'footnote', label }, this.at + found[0].length);
  }

  openBracket(length) {
    const around = this.brackets.at(-1);
    if (around) around.hasBracket = true;
    this.addMark(length);
    this.brackets.push({ node: this.nodes.at(-1), isImage: length === 2, at: this.at, bottom: this.delimiters.last, hasBracket: false });
  }

  closeBracket() {
    const opener = this.brackets.pop();
    const height = this.brackets.length;
    const isInactive = height < this.inactive;
    this.inactive = Math.min(this.inactive, height);
    const link = opener && (opener.isImage || !isInactive) ? this.linkAfter(opener) : undefined;
    if (!link) return this.addMark(1);
    this.delimiters.match(opener.bottom);
    Object.assign(opener.node, { kind: opener.isImage ? 'image' : 'open', text: '', destination: link.destination, title: link.title });
    if (!opener.isImage) this.inactive = height;
    this.add({ kind: opener.isImage ? 'image end' : 'close' }, link.end);
  }

  /** What follows the closing bracket: `(destination "title")`, `[label]`, or nothing when the text itself is a label. */
  linkAfter(opener) {
    const after = this.at + 1;
    const direct = this.text[after] === '(' ? this.directLink(after + 1) : undefined;
    if (direct) return direct;
    const label = this.text[after] === '[' ? linkLabel(this.text, after) : undefined;
    const hasOwn = label !== undefined && label.label !== '';
    const isLabel = !opener.hasBracket && this.at - opener.at <= LONGEST_REFERENCE;
    const reference = hasOwn ? label.label : isLabel ? this.text.slice(opener.at, this.at) : undefined;
    const found = reference === undefined ? undefined : this.document.definitions.get(normalizeLabel(reference));
    return found && { ...found, end: label?.end ?? after };
  }

  directLink(from) {
    const { text } = this;
    const destination = linkDestination(text, skipSpace(text, from));
    if (!destination) return undefined;
    const titleAt = skipSpace(text, destination.end);
    const title = titleAt > destination.end ? this.titles.at(titleAt) : undefined;
    const end = skipSpace(text, title?.end ?? titleAt);
    if (text[end] !== ')') return undefined;
    const { references } = this.document;
    return { destination: references.unescape(destination.value), title: references.unescape(title?.value ?? ''), end: end + 1 };
  }
}
