// The parts of links: labels, destinations and titles, and the definitions of reference links.

import { normalizeLabel } from './text.js';

const LONGEST_LABEL = 999;
const DEEPEST_PARENTHESES = 32;
const LABEL = /\[([^\\[\]]*(?:\\[\s\S][^\\[\]]*)*)\]/y;
const POINTED = /<([^<>\n\\]*(?:\\.[^<>\n\\]*)*)>/y;
const SPACE = /[ \t]*(?:\n[ \t]*)?/y;
const TITLES = {
  '"': /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"/y,
  "'": /'([^'\\]*(?:\\[\s\S][^'\\]*)*)'/y,
  '(': /\(([^()\\]*(?:\\[\s\S][^()\\]*)*)\)/y,
};

/** Where the white space at this place ends; it holds one line break at the most. */
export function skipSpace(text, at) {
  SPACE.lastIndex = at;
  return at + SPACE.exec(text)[0].length;
}

/** `{ label, end }` of `[label]`. */
export function linkLabel(text, at) {
  LABEL.lastIndex = at;
  const found = LABEL.exec(text);
  return found && found[1].length <= LONGEST_LABEL ? { label: found[1], end: at + found[0].length } : undefined;
}

/** `{ value, end }` of a destination, still with its escapes. */
export function linkDestination(text, at) {
  if (text[at] === '<') {
    POINTED.lastIndex = at;
    const found = POINTED.exec(text);
    return found ? { value: found[1], end: at + found[0].length } : undefined;
  }
  let depth = 0;
  let end = at;
  for (; end < text.length; end += 1) {
    const char = text[end];
    if (char <= ' ' || char === '\x7f') break;
    if (char === '\\' && end + 1 < text.length && text[end + 1] > ' ') end += 1;
    else if (char === '(') {
      depth += 1;
      if (depth > DEEPEST_PARENTHESES) return undefined;
    } else if (char === ')') {
      if (depth === 0) break;
      depth -= 1;
    }
  }
  return depth === 0 ? { value: text.slice(at, end), end } : undefined;
}

/** Reads titles of one text. It remembers which quotes do not close, so that they are looked for once. */
export class Titles {
  constructor(text) {
    this.text = text;
    this.unclosed = new Set();
  }

  /** `{ value, end }` of a title, still with its escapes. */
  at(at) {
    const quote = this.text[at];
    const expression = TITLES[quote];
    if (!expression || this.unclosed.has(quote)) return undefined;
    expression.lastIndex = at;
    const found = expression.exec(this.text);
    if (found) return { value: found[1], end: at + found[0].length };
    // In parentheses a title also ends at the next opening one: there another may close.
    if (quote !== '(') this.unclosed.add(quote);
    return undefined;
  }
}

/** Takes the definitions at the beginning of a paragraph into the map; gives the place where the rest begins. */
export function takeDefinitions(text, definitions, references) {
  const titles = new Titles(text);
  let at = 0;
  for (;;) {
    const found = text[at] === '[' ? definitionAt(text, at, titles) : undefined;
    if (!found) return at;
    const label = normalizeLabel(found.label);
    if (!definitions.has(label)) {
      definitions.set(label, { destination: references.unescape(found.destination), title: references.unescape(found.title) });
    }
    at = found.end;
  }
}

function definitionAt(text, at, titles) {
  const label = linkLabel(text, at);
  if (!label || text[label.end] !== ':' || label.label.trim() === '' || label.label[0] === '^') return undefined;
  const from = skipSpace(text, label.end + 1);
  const destination = linkDestination(text, from);
  if (!destination || destination.end === from) return undefined;
  const parts = { label: label.label, destination: destination.value };
  const titleAt = skipSpace(text, destination.end);
  const title = titleAt > destination.end ? titles.at(titleAt) : undefined;
  const end = title && lineEnd(text, title.end);
  if (end !== undefined) return { ...parts, title: title.value, end };
  const withoutTitle = lineEnd(text, destination.end);
  return withoutTitle === undefined ? undefined : { ...parts, title: '', end: withoutTitle };
}

/** Where the next line begins, if nothing but spaces stands before it. */
function lineEnd(text, from) {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  if (at >= text.length) return at;
  return text[at] === '\n' ? at + 1 : undefined;
}
