// [data-copy] buttons copy the text of the element they name, and say so.
'use strict';

document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  if (!source) return;
  const text = 'value' in source ? source.value : source.textContent.trim();
  button.dataset.label ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(source);
    button.textContent = 'Press Ctrl+C';
  }
  announce(button.textContent);
  setTimeout(() => { button.textContent = button.dataset.label; }, 1600);
});

/** Says something to people who use a screen reader: a button with a label of its own is not read again when its text changes. */
function announce(words) {
  let status = document.getElementById('announced');
  if (!status) {
    status = document.createElement('p');
    status.id = 'announced';
    status.className = 'hide';
    status.setAttribute('role', 'status');
    document.body.append(status);
  }
  status.textContent = words;
}

