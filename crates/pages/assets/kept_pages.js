// The pages that were published without an account from this browser, with what is needed to claim them. They are kept in
// localStorage until they expire, and shown on the front page and in the dashboard.
'use strict';

const KEPT = 'dropleaf-pages';
const KEPT_MOST = 20;

/** The kept pages that are still online, newest first. What was stored in another form is left out. */
function keptPages() {
  try {
    const pages = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return (Array.isArray(pages) ? pages : []).filter(isKept).slice(0, KEPT_MOST);
  } catch {
    return [];
  }
}

function isKept(page) {
  const texts = [page?.id, page?.title, page?.url, page?.claim];
  return texts.every((text) => typeof text === 'string') && /^site_[0-9a-z]+$/.test(page.id) && /^https?:\/\//.test(page.url)
    && page.claim.startsWith('clm_') && page.expires > Date.now() / 1000;
}

function storePages(pages) {
  try {
    if (pages.length > 0) localStorage.setItem(KEPT, JSON.stringify(pages.slice(0, KEPT_MOST)));
    else localStorage.removeItem(KEPT);
    return true;
  } catch {
    return false;
  }
}

/** Keeps a published page; says whether it could. */
function keepPage({ id, title, url, claim_token: claim, expires_at: expires }) {
  return storePages([{ id, title, url, claim, expires }, ...keptPages().filter((page) => page.id !== id)]);
}

function forgetPage(id) {
  storePages(keptPages().filter((page) => page.id !== id));
}

/** The link for claiming on this host; the token is behind the #, which browsers do not send. */
function claimLink({ id, claim }) {
  return `/claim/${id}#${claim}`;
}

function whenExpires(seconds) {
  return `Expires ${new Date(1000 * seconds).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}`;
}

/** Fills the list of kept pages; without any it stays hidden. */
function showKeptPages() {
  const section = document.querySelector('[data-kept-pages]');
  if (!section) return;
  const pages = keptPages();
  section.hidden = pages.length === 0;
  section.querySelector('ul').replaceChildren(...pages.map(keptRow));
}

function keptRow(page) {
  const item = make('li');
  const link = make('a', page.title);
  link.href = page.url;
  link.rel = 'noreferrer';
  const about = make('p', '', 'grow');
  about.append(link, make('span', whenExpires(page.expires), 'soft small'));
  const claim = make('a', 'Claim', 'button plain');
  claim.href = claimLink(page);
  claim.setAttribute('aria-label', `Claim ${page.title}`);
  const forget = make('button', 'Forget', 'quiet');
  forget.type = 'button';
  forget.setAttribute('aria-label', `Forget ${page.title}`);
  forget.addEventListener('click', () => {
    if (!confirm('Forget this page? It stays online until it expires, but you can claim it only with a copy of its claim link.')) return;
    forgetPage(page.id);
    showKeptPages();
  });
  item.append(about, claim, forget);
  return item;
}

// The dashboard shows this page, so it belongs to the account.
const ownPage = location.pathname.match(/^\/dashboard\/pages\/(site_[0-9a-z]+)$/)?.[1];
if (ownPage) forgetPage(ownPage);
for (const { id } of keptPages()) {
  if (document.querySelector(`a[href="/dashboard/pages/${id}"]`)) forgetPage(id);
}
showKeptPages();
