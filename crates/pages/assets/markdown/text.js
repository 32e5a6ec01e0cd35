// Text rules that the whole Markdown renderer shares: escaping, backslash escapes and character references.

const HTML_ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Different names that one document may look up. Every lookup parses a small document. */
const MOST_NAMED_REFERENCES = 4096;
const REFERENCE = '&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-zA-Z][a-zA-Z0-9]{1,31}));';
const REFERENCE_HERE = new RegExp(REFERENCE, 'y');
const ESCAPE_OR_REFERENCE = new RegExp(`\\\\([!-/:-@[-\`{-~])|${REFERENCE}`, 'g');

export const escapeHtml = (text) => text.replace(/[&<>"]/g, (sign) => HTML_ESCAPES[sign]);

export const isEscapable = (char) => /^[!-/:-@[-`{-~]$/.test(char);

/** Without the spaces and tabs at its end. A regular expression would try every run of spaces in the text. */
export function trimEnd(text, isTrimmed = (char) => char === ' ' || char === '\t') {
  let end = text.length;
  while (end > 0 && isTrimmed(text[end - 1])) end -= 1;
  return text.slice(0, end);
}

/** Labels of links and footnotes match without regard to case and white space. */
export const normalizeLabel = (label) => label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase();

/** Decodes character references. `findNamed(name)` gives the text of `&name;`, or undefined if there is no such name. */
export class References {
  constructor(findNamed) {
    this.findNamed = findNamed;
    this.known = new Map();
  }

  /** The reference at this place as `{ text, end }`, or undefined. */
  at(source, at) {
    REFERENCE_HERE.lastIndex = at;
    const found = REFERENCE_HERE.exec(source);
    const text = found && this.decode(found[1], found[2], found[3]);
    return text ? { text, end: at + found[0].length } : undefined;
  }

  /** Resolves backslash escapes and references, as in link destinations and in the info of a fence. */
  unescape(text) {
    return text.replace(ESCAPE_OR_REFERENCE, (whole, sign, hex, decimal, name) => sign ?? this.decode(hex, decimal, name) ?? whole);
  }

  decode(hex, decimal, name) {
    if (name !== undefined) return this.named(name);
    const code = hex === undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : '\ufffd';
  }

  named(name) {
    if (!this.known.has(name)) {
      if (this.known.size >= MOST_NAMED_REFERENCES) return undefined;
      this.known.set(name, this.findNamed(name));
    }
    return this.known.get(name);
  }
}
