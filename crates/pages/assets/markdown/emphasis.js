// Runs of `*`, `_` and `~`: which of them can open or close emphasis, and which belong together. Follows the rules of
// CommonMark for delimiter runs. Every search remembers how far it went in vain, so that the work stays linear.

const WHITE_SPACE = /\s/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const ELEMENTS = { '*': ['em', 'strong'], _: ['em', 'strong'], '~': ['del', 'del'] };

/** The character that ends before this place; a line break where there is none. */
function charBefore(text, at) {
  const last = text.charCodeAt(at - 1);
  const isPair = last >= 0xdc00 && last <= 0xdfff;
  return at === 0 ? '\n' : text.slice(isPair ? Math.max(0, at - 2) : at - 1, at);
}

function charAfter(text, at) {
  return at >= text.length ? '\n' : String.fromCodePoint(text.codePointAt(at));
}

/** A run of delimiters that begins here: its text, and what it can do. */
export function delimiterRun(text, at) {
  const mark = text[at];
  let end = at;
  while (text[end] === mark) end += 1;
  const [before, after] = [charBefore(text, at), charAfter(text, end)];
  const isBeforeSpace = WHITE_SPACE.test(before);
  const isAfterSpace = WHITE_SPACE.test(after);
  const isBeforePunctuation = PUNCTUATION.test(before);
  const isAfterPunctuation = PUNCTUATION.test(after);
  const isLeft = !isAfterSpace && (!isAfterPunctuation || isBeforeSpace || isBeforePunctuation);
  const isRight = !isBeforeSpace && (!isBeforePunctuation || isAfterSpace || isAfterPunctuation);
  const isWordMark = mark === '_';
  return {
    mark,
    length: end - at,
    end,
    canOpen: isLeft && (!isWordMark || !isRight || isBeforePunctuation),
    canClose: isRight && (!isWordMark || !isLeft || isAfterPunctuation),
  };
}

/** The delimiters of one text that are not matched yet, as a list that can be cut anywhere. */
export class Delimiters {
  constructor() {
    this.last = null;
    this.count = 0;
  }

  /** Adds a run whose text is the given node. */
  add(node, run) {
    // Strikethrough has one or two marks.
    if (run.mark === '~' && run.length > 2) return;
    this.count += 1;
    const delimiter = { node, ...run, left: run.length, order: this.count, previous: this.last, next: null };
    if (this.last) this.last.next = delimiter;
    this.last = delimiter;
  }

  remove(delimiter) {
    if (delimiter.previous) delimiter.previous.next = delimiter.next;
    if (delimiter.next) delimiter.next.previous = delimiter.previous;
    else this.last = delimiter.previous;
  }

  /** Matches the delimiters after this one (all for null), and forgets them. */
  match(bottom) {
    /** For each kind of closer, the place up to which no opener for it was found. */
    const floors = new Map();
    let closer = this.first(bottom);
    while (closer) {
      const kind = `${closer.mark}${closer.canOpen}${closer.mark === '~' ? closer.length : closer.length % 3}`;
      const floor = Math.max(bottom?.order ?? 0, floors.get(kind) ?? 0);
      const opener = closer.canClose ? findOpener(closer, floor) : undefined;
      if (opener) {
        closer = this.pair(opener, closer);
        continue;
      }
      const next = closer.next;
      if (closer.canClose) floors.set(kind, closer.previous?.order ?? 0);
      if (!closer.canOpen) this.remove(closer);
      closer = next;
    }
    if (bottom) bottom.next = null;
    this.last = bottom;
  }

  first(bottom) {
    if (bottom) return bottom.next;
    let first = this.last;
    while (first?.previous) first = first.previous;
    return first;
  }

  /** Makes an element of both; gives the delimiter to go on with. */
  pair(opener, closer) {
    const isDouble = opener.left >= 2 && closer.left >= 2;
    const used = closer.mark === '~' ? closer.left : isDouble ? 2 : 1;
    const name = ELEMENTS[closer.mark][isDouble ? 1 : 0];
    opener.node.opens.push(name);
    closer.node.closes.push(name);
    for (const side of [opener, closer]) {
      side.left -= used;
      side.node.text = side.mark.repeat(side.left);
    }
    // What stands between them can no longer be matched.
    opener.next = closer;
    closer.previous = opener;
    if (opener.left === 0) this.remove(opener);
    if (closer.left > 0) return closer;
    this.remove(closer);
    return closer.next;
  }
}

function findOpener(closer, floor) {
  for (let opener = closer.previous; opener && opener.order > floor; opener = opener.previous) {
    if (opener.mark === closer.mark && opener.canOpen && fits(opener, closer)) return opener;
  }
  return undefined;
}

/** A run that can both open and close takes part only where the sum of both lengths is no multiple of three. */
function fits(opener, closer) {
  if (closer.mark === '~') return opener.length === closer.length;
  const isAmbiguous = closer.canOpen || opener.canClose;
  return !isAmbiguous || closer.length % 3 === 0 || (opener.length + closer.length) % 3 !== 0;
}
