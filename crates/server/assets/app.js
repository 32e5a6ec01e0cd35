// What the dashboard does better with a script. Everything here also works without one.
'use strict';

// [data-copy] buttons copy the text of what they name, and say so.
document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  if (!source) return;
  const text = 'value' in source ? source.value : source.textContent.trim();
  try {
    await navigator.clipboard.writeText(text);
    button.dataset.label ??= button.textContent;
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(source);
    button.textContent = 'Press Ctrl+C';
  }
  setTimeout(() => { button.textContent = button.dataset.label ?? 'Copy'; }, 1600);
});

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
  if (zone) zone.textContent = 'in your time';
  const translate = () => {
    const at = new Date(field.value);
    sent.value = Number.isNaN(at.getTime()) ? '' : minutes(at, 0);
  };
  translate();
  field.addEventListener('input', translate);
}

// <time data-at> shows the viewer's own time; without script it shows UTC.
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  time.title = time.dateTime;
  time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
