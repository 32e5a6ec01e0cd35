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

// [data-confirm] forms ask first.
document.addEventListener('submit', (event) => {
  const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// <time data-at> shows the viewer's own time; without script it shows UTC.
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  time.title = time.dateTime;
  time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
