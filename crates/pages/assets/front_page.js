// What the front page does better with a script: the result of an upload without an account, text instead of a file, and
// buttons that copy the commands.
'use strict';

/** Shows the link of a published page, and keeps what is needed to claim it. */
function showPublished(row, answer) {
  const link = make('a', answer.url, 'mono');
  link.href = answer.url;
  link.rel = 'noreferrer';
  link.id = `sent-${answer.id}`;
  const address = make('p', '', 'address');
  address.append(link);
  const actions = make('p', '', 'ways');
  const open = make('a', 'Open', 'button');
  open.href = answer.url;
  open.target = '_blank';
  open.rel = 'noopener noreferrer';
  open.setAttribute('aria-label', `Open ${answer.title} in a new tab`);
  // The text of a claim link is a secret and is not shown; the button copies it.
  const secret = make('span', answer.claim_url);
  secret.id = `claim-${answer.id}`;
  secret.hidden = true;
  actions.append(copyButton('Copy link', link.id), open, copyButton('Copy claim link', secret.id, 'quiet'), secret);
  row.more.append(address, actions);
  for (const warning of answer.warnings ?? []) row.more.append(make('p', warning, 'soft small'));
  const kept = keepPage(answer);
  row.more.append(claimWords(answer, kept));
  showKeptPages();
}

function claimWords(answer, kept) {
  const words = make('p', `${whenExpires(answer.expires_at)}. `, 'soft small');
  const claim = make('a', 'claim it');
  claim.href = claimLink({ id: answer.id, claim: answer.claim_token });
  const where = kept ? ' This browser keeps the claim link until then.' : ' Save the claim link: this browser cannot keep it.';
  words.append('To keep the page, ', claim, ` with an account.${where}`);
  return words;
}

function copyButton(words, id, classes = 'plain') {
  const button = make('button', words, classes);
  button.type = 'button';
  button.dataset.copy = id;
  return button;
}

// Text instead of a file: it becomes a file of the chosen kind.
for (const box of document.querySelectorAll('[data-text]')) {
  const form = document.querySelector('form[data-upload]');
  const [text, kind, publish] = [box.querySelector('textarea'), box.querySelector('select'), box.querySelector('button')];
  box.hidden = false;
  publish.addEventListener('click', () => {
    text.setCustomValidity(text.value.trim() ? '' : 'Enter or paste some text first.');
    if (!text.reportValidity()) return;
    form.dispatchEvent(new CustomEvent('text', { detail: new File([text.value], `text.${kind.value}`) }));
    text.value = '';
    box.open = false;
  });
  text.addEventListener('input', () => text.setCustomValidity(''));
  text.addEventListener('paste', () => {
    // After the paste: a whole page is recognized by its beginning.
    setTimeout(() => { if (/^\s*<(!doctype html|html)\b/i.test(text.value)) kind.value = 'html'; });
  });
}

// Every command gets a button.
let commands = 0;
for (const command of document.querySelectorAll('code.command')) {
  commands += 1;
  command.id = `command-${commands}`;
  const line = make('span', '', 'line');
  command.replaceWith(line);
  const button = copyButton('Copy', command.id, 'copy');
  button.setAttribute('aria-label', `Copy: ${command.textContent.trim().replace(/\s+/g, ' ').slice(0, 60)}`);
  line.append(command, button);
}

for (const form of document.querySelectorAll('form[data-upload]')) form.classList.add('scripted');
