// The HTML elements and attributes that Markdown may use. The same lists as for Markdown that the server renders
// (crates/content/src/sanitize): none of them runs anything, loads anything but a picture, or takes input.

import { isLinkAddress, isPictureAddress } from './addresses.js';

const words = (text) => new Set(text.split(' '));

const INLINE = words('a abbr b bdi bdo cite code del dfn em i ins kbd mark picture q rp rt ruby s samp small span strong sub sup time tt u var');
const BLOCK = words('blockquote dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 li ol p pre summary table ul');
const VOID = words('br col hr img source wbr');
const TABLE_PART = words('caption col colgroup tbody td tfoot th thead tr');
/** Elements whose content is no text of the page: it goes with them. */
const WITHOUT_CONTENT = words('applet audio canvas datalist frameset head iframe math noembed noframes noscript object option plaintext script select style svg template textarea title video xmp');
const RENAMED = { center: 'div', strike: 's' };

export const ID_PREFIX = 'user-content-';
const LONGEST_ID = 200;

/** The name under which an element is written; undefined if it is not allowed. */
export function allowedName(name) {
  const output = Object.hasOwn(RENAMED, name) ? RENAMED[name] : name;
  return INLINE.has(output) || BLOCK.has(output) || VOID.has(output) || TABLE_PART.has(output) ? output : undefined;
}

export const isVoid = (name) => VOID.has(name);
export const isTablePart = (name) => TABLE_PART.has(name);
/** Whether it ends a paragraph that is open. */
export const isBlock = (name) => BLOCK.has(name) || name === 'center' || name === 'hr';
export const losesContent = (name) => WITHOUT_CONTENT.has(name);

const isOneOf = (text) => {
  const allowed = words(text);
  return (value) => (allowed.has(value.toLowerCase()) ? value : undefined);
};
const isNumber = (most) => (value) => (new RegExp(`^\\d{1,${most}}$`).test(value) ? value : undefined);
const isAddress = (value) => (isLinkAddress(value) ? value : undefined);
const isAny = (value) => value;
const isEmpty = () => '';
const size = (value) => (/^\d{1,4}%?(?:px)?$/.test(value) ? value.replace('px', '') : undefined);

/** Names of the author's have their prefix; footnotes are ours. */
function isName(value) {
  const isAuthors = value.startsWith(ID_PREFIX) && value.length > ID_PREFIX.length && value.length <= LONGEST_ID && !/\s/.test(value);
  return isAuthors || /^fn(?:ref)?:\d{1,7}$/.test(value) ? value : undefined;
}

/** Every candidate has to be a picture elsewhere. Inlined pictures have commas, which separate candidates. */
function srcset(value) {
  const addresses = value.split(',').map((candidate) => candidate.trim().split(/\s/, 1)[0]);
  return addresses.every((address) => isLinkAddress(address) && isPictureAddress(address)) ? value : undefined;
}

/** For each attribute, the elements that may have it (any, without a list) and the value to write. */
const ATTRIBUTES = {
  title: { check: isAny },
  'aria-label': { check: isAny },
  'aria-hidden': { check: (value) => (value === 'true' ? value : undefined) },
  id: { check: isName },
  name: { on: 'a', check: isName },
  dir: { check: isOneOf('ltr rtl auto') },
  lang: { check: (value) => (/^[a-zA-Z0-9-]{0,35}$/.test(value) ? value : undefined) },
  align: { check: isOneOf('left right center justify middle top bottom') },
  valign: { on: 'td th tr thead tbody tfoot', check: isOneOf('top middle bottom baseline') },
  width: { on: 'img source table td th col', check: size },
  height: { on: 'img source table td th col', check: size },
  href: { on: 'a', check: isAddress },
  cite: { on: 'blockquote q del ins', check: isAddress },
  src: { on: 'img', check: (value) => (isPictureAddress(value) ? value : undefined) },
  srcset: { on: 'img source', check: srcset },
  sizes: { on: 'img source', check: isAny },
  media: { on: 'source', check: isAny },
  alt: { on: 'img', check: isAny },
  datetime: { on: 'time del ins', check: isAny },
  type: { on: 'source ol ul li', check: (value, name) => (name === 'source' ? (value.startsWith('image/') ? value : undefined) : isOneOf('1 a i disc circle square')(value)) },
  loading: { on: 'img', check: isOneOf('lazy eager') },
  open: { on: 'details', check: isEmpty },
  reversed: { on: 'ol', check: isEmpty },
  start: { on: 'ol', check: (value) => (/^-?\d{1,9}$/.test(value) ? value : undefined) },
  value: { on: 'li', check: (value) => (/^-?\d{1,6}$/.test(value) ? value : undefined) },
  colspan: { on: 'td th col colgroup', check: isNumber(3) },
  rowspan: { on: 'td th col colgroup', check: isNumber(3) },
  span: { on: 'td th col colgroup', check: isNumber(3) },
  scope: { on: 'th', check: isOneOf('row col rowgroup colgroup') },
};
for (const rule of Object.values(ATTRIBUTES)) rule.elements = rule.on && words(rule.on);

export function mayHave(element, attribute) {
  const rule = Object.hasOwn(ATTRIBUTES, attribute) ? ATTRIBUTES[attribute] : undefined;
  return rule !== undefined && (!rule.elements || rule.elements.has(element));
}

/** The value with which an element may have an attribute; undefined if it may not. */
export function allowedValue(element, attribute, value) {
  if (!mayHave(element, attribute)) return undefined;
  const { check } = ATTRIBUTES[attribute];
  return check === isAny ? value : check(value.replace(/^[\s\x00-\x1f\x7f-\x9f]+/, '').trimEnd(), element);
}
