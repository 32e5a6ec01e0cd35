// The author's own HTML between Markdown: only allowed elements are written, and every one of them is closed where the
// Markdown around it ends. The browser's parser would open formatting elements again in every paragraph, which makes a
// small text enormous. Values of attributes are passed on: they are checked node by node before anything is shown
// (sanitize.js), when the browser has decoded them.

import { allowedName, ID_PREFIX, isBlock, isTablePart, isVoid, losesContent, mayHave } from './allowed.js';

/** Elements open inside of each other; deeper ones are left out, and their text is kept. */
const DEEPEST_HTML = 100;
const MOST_ATTRIBUTES = 32;
const TOKEN = /<!-{2}|<[!?]|<\/?[a-zA-Z][^\s/>]*|<\//g;
const ATTRIBUTE_PARTS = /[\s/]*([^\s/>=][^\s/>=]*|=[^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)))?/y;
/** Elements whose content the browser does not parse as HTML. */
const RAW_TEXT = new Set(['iframe', 'noembed', 'noframes', 'noscript', 'plaintext', 'script', 'style', 'textarea', 'title', 'xmp']);

/** The open elements that a start tag ends, looking outwards up to a barrier. */
function endedBy(name) {
  const table = ['table', 'td', 'th'];
  if (name === 'li') return [['li'], ['ul', 'ol', ...table]];
  if (name === 'dt' || name === 'dd') return [['dt', 'dd'], ['dl', ...table]];
  if (name === 'rt' || name === 'rp') return [['rt', 'rp'], ['ruby']];
  if (name === 'a') return [['a'], table];
  if (name === 'td' || name === 'th') return [['td', 'th', 'caption'], ['tr', 'table']];
  if (name === 'tr') return [['tr', 'caption', 'colgroup'], ['table', 'thead', 'tbody', 'tfoot']];
  if (['thead', 'tbody', 'tfoot', 'colgroup'].includes(name)) return [['thead', 'tbody', 'tfoot', 'caption', 'colgroup', 'tr'], ['table']];
  if (/^h[1-6]$/.test(name)) return [['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p'], table];
  return isBlock(name) ? [['p'], table] : undefined;
}

/** Writes the pieces of HTML of one document; elements may be open around the Markdown between them. */
export class RawHtml {
  constructor() {
    this.open = [];
    /** How many elements of Markdown are open around the next piece. */
    this.level = 0;
  }

  enter() {
    this.level += 1;
  }

  /** An element of Markdown ends: the end tags that come before its own. */
  leave() {
    const ends = this.closeInside();
    this.level -= 1;
    return ends;
  }

  closeInside() {
    const first = this.open.findIndex((open) => open.level >= this.level);
    return first < 0 ? '' : this.closeFrom(first);
  }

  /** A block of Markdown begins, which ends a paragraph as in HTML. */
  endParagraph() {
    return this.closeFrom(this.find(['p'], ['table', 'td', 'th']));
  }

  closeAll() {
    return this.closeFrom(0);
  }

  hasOpen(name) {
    return this.open.some((open) => open.name === name);
  }

  /** Takes the open elements away for text that is shown elsewhere; `resume` brings them back. */
  setAside() {
    const aside = { open: this.open, level: this.level };
    this.open = [];
    this.level = 0;
    return aside;
  }

  resume(aside) {
    Object.assign(this, aside);
  }

  write(html) {
    let made = '';
    let at = 0;
    /** An element that is left out with its content, and how often it is open. */
    let skipped;
    while (at < html.length) {
      TOKEN.lastIndex = at;
      const token = TOKEN.exec(html);
      const start = token ? token.index : html.length;
      if (!skipped && start > at) made += withoutTags(html.slice(at, start));
      if (!token) break;
      const name = token[0].replace(/^<\/?/, '').toLowerCase();
      if (!/^[a-z]/.test(name)) {
        at = commentEnd(html, start, token[0]);
        continue;
      }
      const tag = readTag(html, start + token[0].length);
      if (!tag) break;
      at = tag.end;
      const isEnd = token[0][1] === '/';
      if (skipped) {
        if (name === skipped.name) skipped.depth += isEnd ? -1 : 1;
        if (skipped.depth === 0) skipped = undefined;
      } else if (isEnd) {
        made += this.endTag(name);
      } else {
        made += this.startTag(name, tag.attributes);
        if (losesContent(name) && !tag.isClosed) skipped = { name, depth: 1 };
      }
      if (!isEnd && RAW_TEXT.has(name)) at = rawTextEnd(html, at, name);
    }
    return made;
  }

  startTag(name, attributes) {
    const output = allowedName(name);
    const isLost = (isTablePart(name) && !this.hasOpen('table')) || (name === 'source' && !this.hasOpen('picture'));
    if (!output || isLost) return '';
    const ended = endedBy(name);
    let made = ended ? this.closeFrom(this.find(...ended)) : '';
    if (!isVoid(name) && this.open.length >= DEEPEST_HTML) return made;
    made += `<${output}${name === 'center' ? ' align="center"' : ''}`;
    for (const [attribute, value] of attributes) {
      if (!mayHave(output, attribute) || (name === 'center' && attribute === 'align')) continue;
      // With a prefix, so that none of the author's names is one of ours.
      const isName = (attribute === 'id' || attribute === 'name') && !value.startsWith(ID_PREFIX);
      made += ` ${attribute}="${isName ? ID_PREFIX : ''}${withoutTags(value.trim()).replaceAll('"', '&quot;')}"`;
    }
    if (!isVoid(name)) this.open.push({ name, output, level: this.level });
    return `${made}>`;
  }

  endTag(name) {
    const barriers = name === 'table' ? [] : isTablePart(name) ? ['table'] : ['table', 'td', 'th', 'caption'];
    return this.closeFrom(this.find([name], barriers));
  }

  /** The innermost open element of these names inside of the Markdown around it, up to a barrier; -1 if there is none. */
  find(names, barriers) {
    for (let at = this.open.length - 1; at >= 0 && this.open[at].level === this.level; at -= 1) {
      if (names.includes(this.open[at].name)) return at;
      if (barriers.includes(this.open[at].name)) return -1;
    }
    return -1;
  }

  closeFrom(first) {
    if (first < 0) return '';
    return this.open.splice(first).reverse().map(({ output }) => `</${output}>`).join('');
  }
}

/** Text that has no tags any more; its character references stay. */
const withoutTags = (text) => text.replace(/[<>]/g, (sign) => (sign === '<' ? '&lt;' : '&gt;'));

/** Where a comment, or what is read as one, ends. */
function commentEnd(html, start, token) {
  if (token.length < 4) {
    const end = html.indexOf('>', start + token.length);
    return end < 0 ? html.length : end + 1;
  }
  const short = /-?>/y;
  short.lastIndex = start + 4;
  if (short.test(html)) return short.lastIndex;
  const end = /--!?>/g;
  end.lastIndex = start + 4;
  return end.test(html) ? end.lastIndex : html.length;
}

/** The attributes of a tag by their names, the first of each, and where it ends; undefined if it does not. */
function readTag(html, from) {
  const attributes = new Map();
  let at = from;
  for (;;) {
    ATTRIBUTE_PARTS.lastIndex = at;
    const found = ATTRIBUTE_PARTS.exec(html);
    if (!found) break;
    const name = found[1].toLowerCase();
    if (attributes.size < MOST_ATTRIBUTES && !attributes.has(name)) attributes.set(name, found[2] ?? found[3] ?? found[4] ?? '');
    at += found[0].length;
  }
  while (at < html.length && /[\s/]/.test(html[at])) at += 1;
  return html[at] === '>' ? { attributes, end: at + 1, isClosed: html[at - 1] === '/' } : undefined;
}

/** Where the text ends that is not parsed as HTML: at its end tag. */
function rawTextEnd(html, from, name) {
  const end = new RegExp(`</${name}[\\s/>]`, 'gi');
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

/** The name of an element that begins here and is left out with its content. */
export function opensDropped(html) {
  const name = nameOf(html);
  return name && losesContent(name) && !html.endsWith('/>') ? name : undefined;
}

export const opensBlock = (html) => isBlock(nameOf(html) ?? '');

const nameOf = (html) => /^<([a-zA-Z][^\s/>]*)/.exec(html)?.[1].toLowerCase();
