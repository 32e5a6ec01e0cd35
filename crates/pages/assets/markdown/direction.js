// Sets the text direction of each block of a page by its first letter, and finds that of the page: the one of most
// letters. Code and addresses have no say, because they are left-to-right in every language.

const BLOCKS = 'p, li, td, th, h1, h2, h3, h4, h5, h6, blockquote, div, summary, dt, dd, caption, figcaption';
const SKIPPED = new Set(['CODE', 'PRE', 'MATH']);
const RIGHT_TO_LEFT = /[\u200f\u061c\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LETTER = /[\p{Alphabetic}\u200e\u200f\u061c]/gu;

/** Writes `dir` where a block differs from the one around it; gives the direction of the page. */
export function setDirections(main, stated) {
  if (stated !== 'rtl' && !RIGHT_TO_LEFT.test(main.textContent)) return 'ltr';
  const blocks = new Map();
  const letters = { ltr: 0, rtl: 0 };
  const read = (node, undecided) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) countLetters(child.data, letters, undecided, blocks);
      if (child.nodeType !== Node.ELEMENT_NODE || SKIPPED.has(child.tagName) || child.className === 'alert') continue;
      if (!child.matches(BLOCKS)) {
        read(child, undecided);
        continue;
      }
      const isStated = child.hasAttribute('dir');
      blocks.set(child, isStated ? child.dir : undefined);
      if (!isStated) undecided.push(child);
      read(child, undecided);
      if (undecided.at(-1) === child) undecided.pop();
    }
  };
  read(main, []);
  const page = stated ?? (letters.rtl > letters.ltr ? 'rtl' : 'ltr');
  const settled = new Map();
  for (const [block, own] of blocks) {
    // Blocks come after those around them.
    const around = settled.get(block.parentElement.closest(BLOCKS)) ?? page;
    const direction = own ?? around;
    settled.set(block, direction === 'auto' ? around : direction);
    if (direction !== around && !block.hasAttribute('dir')) block.dir = direction;
  }
  return page;
}

function countLetters(text, letters, undecided, blocks) {
  const isAddress = /^(?:https?:\/\/|www\.)/.test(text) || (text.includes('@') && !/\s/.test(text));
  if (isAddress) return;
  for (const [letter] of text.matchAll(LETTER)) {
    const direction = RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
    letters[direction] += 1;
    for (const block of undecided.splice(0)) blocks.set(block, direction);
  }
}
