// The token of a claim link is behind its #, where no server sees it. This puts it into the form; while the person
// signs in, the tab keeps it, because a # does not survive the way there and back.
'use strict';

const card = document.querySelector('[data-claim]');
const key = `claim:${card.dataset.claim}`;
const store = (() => {
  try { return sessionStorage; } catch { return undefined; }
})();

const behind = decodeURIComponent(location.hash.slice(1));
if (behind.startsWith('clm_')) {
  store?.setItem(key, behind);
  // Not left in the address bar, where a glance or a screenshot takes it away.
  history.replaceState(null, '', location.pathname);
}

const token = store?.getItem(key) ?? (behind.startsWith('clm_') ? behind : '');
const field = document.getElementById('token');
if (token && field) {
  if (!field.value) field.value = token;
  // The form says what is wrong beside the field; only a good start hides it.
  if (!field.hasAttribute('aria-invalid')) card.querySelector('[data-paste]').hidden = true;
  card.querySelector('form').addEventListener('submit', () => store?.removeItem(key));
} else if (token) {
  card.querySelector('[data-kept]').hidden = false;
  card.querySelector('[data-unkept]').hidden = true;
}
