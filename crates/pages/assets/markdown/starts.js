// Recognises how a block begins: each function looks at the rest of a line and gives what it found, or undefined.

import { trimEnd } from './text.js';

const HTML_BLOCK_NAMES = 'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul';
const ATTRIBUTE = '\\s+[a-zA-Z_:][\\w.:-]*(?:\\s*=\\s*(?:[^\\s"\'=<>`]+|\'[^\']*\'|"[^"]*"))?';
export const OPEN_TAG = `<[a-zA-Z][a-zA-Z0-9-]*(?:${ATTRIBUTE})*\\s*/?>`;
export const CLOSE_TAG = '</[a-zA-Z][a-zA-Z0-9-]*\\s*>';
/** The seven kinds of HTML blocks: how each begins, and what a line has to contain to end it. Without an end, a blank line does. */
const HTML_BLOCKS = [
  { start: /<(?:pre|script|style|textarea)(?:\s|>|$)/iy, end: /<\/(?:pre|script|style|textarea)>/i },
  { start: /<!-{2}/y, end: /-->/ },
  { start: /<\?/y, end: /\?>/ },
  { start: /<![a-zA-Z]/y, end: />/ },
  { start: /<!\[CDATA\[/y, end: /\]\]>/ },
  { start: new RegExp(`</?(?:${HTML_BLOCK_NAMES})(?:\\s|/?>|$)`, 'iy') },
  { start: new RegExp(`(?:${OPEN_TAG}|${CLOSE_TAG})\\s*$`, 'y'), isWeak: true },
];
const BULLET = /[*+-]/y;
const ORDINAL = /(\d{1,9})([.)])/y;
const FENCE = /`{3,}|~{3,}/y;
const FOOTNOTE = /\[\^([^\][\s]{1,200})\]:/y;

/** `{ level, text }` of `## text ##`. */
export function headingStart(line) {
  const level = line.match(/#{1,6}(?=[ \t]|$)/y)?.[0].length;
  if (!level) return undefined;
  const text = trimEnd(line.text.slice(line.next + level));
  const withoutEnd = trimEnd(text, (char) => char === '#');
  const isClosed = withoutEnd === '' || /[ \t]$/.test(withoutEnd);
  return { level, text: (isClosed ? withoutEnd : text).trim() };
}

/** `{ mark, length, indent, info }` of a fence. */
export function fenceStart(line) {
  const fence = line.match(FENCE)?.[0];
  if (!fence) return undefined;
  const info = line.text.slice(line.next + fence.length);
  if (fence[0] === '`' && info.includes('`')) return undefined;
  return { mark: fence[0], length: fence.length, indent: line.indent, info: info.trim() };
}

export function endsFence(line, fence) {
  const end = line.indent <= 3 ? line.match(FENCE)?.[0] : undefined;
  return end?.[0] === fence.mark && end.length >= fence.length && line.text.slice(line.next + end.length).trim() === '';
}

/** The kind of HTML block that begins here. One that is made of any tag does not interrupt a paragraph. */
export function htmlStart(line, isInParagraph) {
  if (line.char !== '<') return undefined;
  return HTML_BLOCKS.find(({ start, isWeak }) => !(isWeak && isInParagraph) && line.match(start));
}

/** The level of a heading whose underline this is. */
export function underlineLevel(line) {
  const mark = line.char;
  if (mark !== '=' && mark !== '-') return undefined;
  const rest = trimEnd(line.content());
  return trimEnd(rest, (char) => char === mark) === '' ? (mark === '=' ? 1 : 2) : undefined;
}

export function isRule(line) {
  const mark = line.char;
  if (mark !== '*' && mark !== '-' && mark !== '_') return false;
  let marks = 0;
  for (let at = line.next; at < line.text.length; at += 1) {
    if (line.text[at] === mark) marks += 1;
    else if (line.text[at] !== ' ' && line.text[at] !== '\t') return false;
  }
  return marks >= 3;
}

/** The label of `[^label]:`, and how long the whole is. */
export function footnoteStart(line) {
  const found = line.match(FOOTNOTE);
  return found ? { label: found[1], length: found[0].length } : undefined;
}

/** Consumes the marker of a list item: `{ kind, start, offset }`, where `offset` is the indent of what belongs to it. */
export function itemStart(line, isInParagraph) {
  const bullet = line.match(BULLET);
  const ordinal = bullet ? null : line.match(ORDINAL);
  const marker = bullet ?? ordinal;
  if (!marker) return undefined;
  const after = line.text.slice(line.next + marker[0].length);
  if (after !== '' && after[0] !== ' ' && after[0] !== '\t') return undefined;
  const isEmpty = after.trim() === '';
  // A number at the beginning of a line of prose is no list.
  if (isInParagraph && (isEmpty || (ordinal && Number(ordinal[1]) !== 1))) return undefined;
  const before = line.indent;
  line.skipText(marker[0].length);
  const isCode = line.indent >= 5;
  const space = isEmpty || isCode ? 1 : line.indent;
  line.skipColumns(space);
  return { kind: ordinal ? ordinal[2] : marker[0], start: ordinal ? Number(ordinal[1]) : undefined, offset: before + marker[0].length + space };
}
