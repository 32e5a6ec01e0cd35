// Headings of a rendered page: each gets an id and a link to itself, links within the page are made to find them, and a
// long page gets a table of contents. The same ids as on pages that the server renders.

import { ID_PREFIX } from './allowed.js';

const LONGEST_SLUG = 100;
const FEWEST_IN_CONTENTS = 4;
const MOST_IN_CONTENTS = 300;
const SHORTEST_PAGE = 6 * 1024;
/** Sections that are a table of contents already. */
const CONTENTS_IDS = new Set(['contents', 'table-of-contents', 'toc', 'content']);

/** Gives each heading an id that is used once. */
class Slugs {
  constructor() {
    this.used = new Set();
    this.next = new Map();
  }

  of(text) {
    const base = slugOf(text);
    let slug = base;
    let number = this.next.get(base) ?? 1;
    for (; this.used.has(slug); number += 1) slug = `${base}-${number}`;
    this.next.set(base, number);
    this.used.add(slug);
    return slug;
  }
}

function slugOf(text) {
  let slug = '';
  for (const char of [...text.trim().toLowerCase()].slice(0, LONGEST_SLUG)) {
    if (/[\p{Alphabetic}\p{N}_-]/u.test(char)) slug += char;
    else if (/\s/.test(char)) slug += '-';
  }
  return slug || 'section';
}

/** Completes the headings inside of an element, and gives the text of the first as a title. */
export function completeHeadings(main, pageLength) {
  const slugs = new Slugs();
  const ownIds = new Set([...main.querySelectorAll('[id], a[name]')].flatMap((node) => [node.id, node.getAttribute('name')]));
  const headings = [...main.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((node) => ({ node, text: node.textContent, id: slugs.of(node.textContent) }));
  for (const { node, id } of headings) {
    const anchor = Object.assign(document.createElement('a'), { className: 'anchor', href: `#${id}`, textContent: '#', tabIndex: -1 });
    anchor.setAttribute('aria-hidden', 'true');
    if (node.id) anchor.id = node.id;
    node.id = id;
    node.append(anchor);
  }
  for (const link of main.querySelectorAll('a[href^="#"]')) {
    const target = targetOf(link.getAttribute('href').slice(1), slugs.used, ownIds);
    if (target) link.setAttribute('href', `#${target}`);
  }
  addContents(main, headings, pageLength);
  return headings.map(({ text }) => text.trim().replace(/\s+/g, ' ')).find(Boolean);
}

/** Where a link within the page leads, if that has to be written differently. */
function targetOf(fragment, slugs, ownIds) {
  const name = decodeFragment(fragment);
  if (slugs.has(name)) return undefined;
  if (ownIds.has(ID_PREFIX + name)) return ID_PREFIX + fragment;
  return slugs.has(name.toLowerCase()) ? name.toLowerCase() : undefined;
}

export function decodeFragment(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Stands before the first section, so that a page begins with its title and its introduction. */
function addContents(main, headings, pageLength) {
  const listed = headings.filter(({ node, text }) => /^h[23]$/.test(node.localName) && text.trim() !== '');
  const hasOne = headings.some(({ id }) => CONTENTS_IDS.has(id.replace(/^-+/, '').replace(/-{1,100}$/, '')));
  const place = listed.find(({ node }) => node.parentNode === main);
  if (pageLength < SHORTEST_PAGE || hasOne || listed.length < FEWEST_IN_CONTENTS || !place) return;
  const list = document.createElement('ul');
  for (const { node, text, id } of listed.slice(0, MOST_IN_CONTENTS)) {
    const item = document.createElement('li');
    if (node.localName === 'h3') item.className = 'part';
    item.append(Object.assign(document.createElement('a'), { href: `#${id}`, textContent: text.trim().replace(/\s+/g, ' ') }));
    list.append(item);
  }
  const summary = Object.assign(document.createElement('summary'), { textContent: 'Contents' });
  const navigation = document.createElement('nav');
  navigation.setAttribute('aria-label', 'Contents');
  navigation.append(list);
  const box = Object.assign(document.createElement('details'), { className: 'contents' });
  box.append(summary, navigation);
  place.node.before(box);
}
