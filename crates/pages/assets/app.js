// What the dashboard does better with a script. Everything here also works without one.
'use strict';

// [data-confirm] forms, buttons and choices ask first.
document.addEventListener('submit', (event) => {
  const chosen = event.target.querySelector('input:checked[data-confirm]');
  const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm ?? chosen?.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// [data-utc] date fields show and take the viewer's own time; what is sent stays UTC.
for (const field of document.querySelectorAll('input[data-utc]')) {
  const minutes = (at, shift) => new Date(at.getTime() - shift * 60_000).toISOString().slice(0, 16);
  const sent = document.createElement('input');
  sent.type = 'hidden';
  sent.name = field.name;
  field.removeAttribute('name');
  field.after(sent);
  const given = new Date(`${field.getAttribute('value')}Z`);
  if (!Number.isNaN(given.getTime())) field.value = minutes(given, given.getTimezoneOffset());
  const zone = field.parentElement.querySelector('[data-zone]');
  if (zone) zone.textContent = 'in your time zone';
  const translate = () => {
    const at = new Date(field.value);
    sent.value = Number.isNaN(at.getTime()) ? '' : minutes(at, 0);
  };
  translate();
  field.addEventListener('input', translate);
  // [data-follow] names the list beside the field: a typed date chooses it, and another choice clears the date.
  const list = document.getElementById(field.dataset.follow);
  let kept = field.value;
  field.addEventListener('input', () => {
    if (!list || !field.value) return;
    kept = field.value;
    list.value = 'date';
  });
  list?.addEventListener('change', () => {
    field.value = list.value === 'date' ? kept : '';
    translate();
  });
}

// What is dropped beside a field that takes it must not replace the page: by itself a browser opens it.
const takesDrop = ({ target, dataTransfer }) => {
  const field = target instanceof Element && target.closest('input, textarea');
  return Boolean(field) && dataTransfer?.types.includes('Files') === (field.type === 'file');
};
for (const name of ['dragover', 'drop']) {
  addEventListener(name, (event) => {
    if (takesDrop(event)) return;
    event.preventDefault();
    if (name === 'dragover' && event.dataTransfer) event.dataTransfer.dropEffect = 'none';
  });
}

// <time> shows the viewer's own time; without script it shows UTC. Done before the page is
// scrolled, because a longer text can wrap.
function showLocalTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = time.dateTime;
    time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  }
}
showLocalTimes(document);

// A form leads back to its page, whose message has the id `outcome`. Without a script the address's fragment scrolls there
// and focuses it; here the section of the form, or else the page, comes back to where it was on the screen.
const PLACE = 'place-of-form';
addEventListener('submit', (event) => {
  if (event.defaultPrevented) return;
  const section = event.target.closest('section[id]');
  const place = section
    ? { section: section.id, top: section.getBoundingClientRect().top }
    : { path: location.pathname, top: -scrollY };
  sessionStorage.setItem(PLACE, JSON.stringify(place));
});
const outcome = document.getElementById('outcome');
const sentFrom = JSON.parse(sessionStorage.getItem(PLACE));
sessionStorage.removeItem(PLACE);
if (outcome && location.hash === '#outcome') {
  // Loading the page again does not say it again, and the browser does not scroll once more.
  const address = new URL(location.href);
  address.hash = '';
  address.searchParams.delete('done');
  history.replaceState(history.state, '', address);
  const anchor = sentFrom?.path === location.pathname ? document.documentElement : document.getElementById(sentFrom?.section);
  if (anchor) outcome.classList.add('stay');
  const putBack = () => {
    if (anchor) scrollBy({ top: anchor.getBoundingClientRect().top - sentFrom.top, behavior: 'instant' });
    const { top, bottom } = outcome.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) outcome.scrollIntoView({ block: 'center', behavior: 'instant' });
  };
  putBack();
  // Pictures and other scripts may still change the height of the page, and it cannot be scrolled beyond its end.
  if (document.readyState !== 'complete') addEventListener('load', putBack, { once: true });
  outcome.focus({ preventScroll: true });
}
