// Makes a page of a Markdown document in the browser. The HTML text is parsed into an inert document, in which nothing
// runs and nothing is loaded, and only what is allowed is copied out of it.

import { setDirections } from './direction.js';
import { completeHeadings, decodeFragment } from './headings.js';
import { renderMarkdown } from './render.js';
import { copyAllowed } from './sanitize.js';

/** Longer documents are shown as text. */
export const LONGEST_MARKDOWN = 2 * 1024 * 1024;

const parseInert = (html) => new DOMParser().parseFromString(html, 'text/html').body;

/** The text of a character reference; undefined if the browser knows none of this name, or only one that is shorter. */
function findNamed(name) {
  const text = parseInert(`&${name};`).textContent;
  return text.endsWith(';') && name !== 'semi' ? undefined : text;
}

/** `{ main, title, language, direction }`: a `main` element that is not in the document yet. */
export function markdownPage(source) {
  const { html, title, language, direction } = renderMarkdown(source, findNamed);
  const main = document.createElement('main');
  copyAllowed(parseInert(html), main);
  const heading = completeHeadings(main, html.length);
  main.addEventListener('click', followWithin);
  return { main, title: title ?? heading, language, direction: setDirections(main, direction) };
}

/** Links within the page leave the address alone: the key stands in its fragment. */
function followWithin(event) {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const target = document.getElementById(decodeFragment(link.getAttribute('href').slice(1)));
  for (let around = target?.closest('details'); around; around = around.parentElement.closest('details')) around.open = true;
  if (!target) return;
  target.scrollIntoView();
  // The keyboard goes on from there.
  if (!target.matches('a[href]')) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}
