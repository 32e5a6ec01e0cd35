// Uploads with progress: files dropped anywhere in the window or chosen in the form are sent one after another. Without
// this script the form sends one file by itself. The form's data-upload says what it does: `one` replaces a page, `anonymous`
// publishes without an account (front_page.js shows the result), otherwise every file becomes a page of the account.
'use strict';

for (const form of document.querySelectorAll('form[data-upload]')) prepare(form);

function prepare(form) {
  const one = form.dataset.upload === 'one';
  const anonymous = form.dataset.upload === 'anonymous';
  const limit = Number(form.dataset.limit ?? Infinity);
  const input = form.querySelector('input[type=file]');
  const list = form.querySelector('[data-list]');
  const words = form.querySelector('[data-drop-words]');
  const waiting = [];
  let busy = false;

  input.multiple = !one;
  words.textContent = form.dataset.words ?? (one ? 'Drop a new version here or choose a file' : 'Drop files here or choose files');

  acceptDrops(one, add);
  form.addEventListener('submit', (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    add([...input.files]);
    input.value = '';
  });
  if (anonymous) {
    // As people know it from other hosts: a chosen file is sent at once.
    input.addEventListener('change', () => { if (input.files.length > 0) form.requestSubmit(); });
    form.addEventListener('text', ({ detail }) => add([detail]));
  }

  function add(files, folders = new Set()) {
    list.hidden = false;
    if (one && files.length > 1) {
      end(row({ name: `${files.length} files` }), 'Choose only one file to replace a page. Nothing was replaced.', false);
    } else {
      for (const file of files) {
        const item = row(file);
        if (folders.has(file.name)) end(item, 'Folders cannot be uploaded. Send the folder as a .zip file.', false);
        else if (file.size > limit) end(item, `This file is ${sizeOf(file.size)}. The limit is ${sizeOf(limit)}.`, false);
        else waiting.push({ file, row: item });
      }
    }
    list.scrollIntoView({ block: 'nearest' });
    next();
  }

  async function next() {
    if (busy || waiting.length === 0) return;
    busy = true;
    const { file, row } = waiting.shift();
    if (!row.cancelled) await send(file, row);
    busy = false;
    next();
  }

  function row(file) {
    const item = make('li');
    const name = make('strong', file.name);
    const state = make('span', 'Waiting', 'soft small');
    const bar = make('progress');
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute('aria-label', `Progress of ${file.name}`);
    const cancel = make('button', 'Cancel', 'quiet');
    cancel.type = 'button';
    const more = make('div', '', 'more');
    item.append(name, state, cancel, bar, more);
    list.append(item);
    // A repeated request with the same key publishes nothing twice.
    const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const row = { item, name, state, bar, cancel, more, key, cancelled: false };
    cancel.addEventListener('click', () => {
      row.cancelled = true;
      row.request?.abort();
      end(row, 'Canceled', false);
    });
    return row;
  }

  function send(file, row) {
    const body = new FormData();
    for (const field of new FormData(form)) {
      if (field[0] !== 'file' && field[0] !== 'form_token') body.append(field[0], field[1]);
    }
    body.append('file', file, file.name);
    const request = new XMLHttpRequest();
    row.request = request;
    request.open('POST', form.action);
    if (anonymous) request.setRequestHeader('idempotency-key', row.key);
    else request.setRequestHeader('x-form-token', form.dataset.token);
    request.setRequestHeader('accept', 'application/json');
    request.responseType = 'json';
    request.upload.addEventListener('progress', (event) => {
      if (!event.lengthComputable) return;
      row.bar.value = event.loaded / event.total;
      const percent = Math.floor((100 * event.loaded) / event.total);
      row.state.textContent = percent < 100 ? `${percent}%` : 'Checking…';
    });
    return new Promise((resolve) => {
      request.addEventListener('load', () => { arrived(request, row); resolve(); });
      request.addEventListener('error', () => {
        if (anonymous) offerAgain(file, row);
        else end(row, 'Connection lost. The file may have arrived: reload this page and check before you try again.', false);
        resolve();
      });
      request.addEventListener('abort', resolve);
      request.send(body);
    });
  }

  function arrived(request, row) {
    if (new URL(request.responseURL).pathname === '/login') {
      end(row, 'You were signed out. Sign in and send the file again.', false);
      return;
    }
    const answer = request.response;
    if (anonymous && request.status < 300 && answer?.claim_url) {
      end(row, 'Published', true);
      row.name.textContent = answer.title;
      showPublished(row, answer);
      return;
    }
    if (request.status >= 300 || !answer?.page) {
      end(row, answer?.error_description ?? `The server returned an error (${request.status}).`, false);
      explain(row, answer);
      return;
    }
    if (one && answer.warnings.length === 0) {
      location.assign(`${answer.page}?done=${answer.done}#outcome`);
      return;
    }
    end(row, one ? 'Replaced' : 'Published', true);
    row.name.textContent = answer.title;
    const address = make('a', answer.url, 'mono');
    address.href = answer.url;
    address.id = `sent-${answer.id}`;
    const copy = make('button', 'Copy link', 'plain');
    copy.type = 'button';
    copy.dataset.copy = address.id;
    const settings = make('a', 'Settings', 'button plain');
    settings.href = answer.page;
    row.more.append(address, copy, settings);
    for (const warning of answer.warnings) row.more.append(make('p', warning, 'soft small'));
    // The list below was made before this page was.
    document.querySelector('[data-before-first]')?.remove();
    form.querySelector('[data-listed]')?.removeAttribute('hidden');
  }

  function offerAgain(file, row) {
    row.state.textContent = 'Connection lost.';
    row.item.classList.add('bad');
    row.bar.hidden = true;
    row.cancel.hidden = true;
    const again = make('button', 'Try again', 'plain');
    again.type = 'button';
    again.addEventListener('click', () => {
      again.remove();
      row.item.classList.remove('bad');
      row.state.textContent = 'Waiting';
      row.bar.hidden = false;
      row.bar.value = 0;
      row.cancel.hidden = false;
      row.cancel.focus();
      waiting.push({ file, row });
      next();
    });
    row.more.append(again);
  }

  // What speaks against the content of a file, where, and what would help.
  function explain(row, answer) {
    if (!answer?.reasons?.length) return;
    const reasons = make('ol', '', 'reasons');
    for (const { why, file, line, fix } of answer.reasons) {
      const reason = make('li');
      const place = make('p', line ? `${file}, line ${line}` : file, 'mono small');
      const what = make('p');
      what.append(make('strong', why));
      reason.append(what, place, make('p', fix));
      reasons.append(reason);
    }
    row.more.append(reasons);
    if (!answer.appeal) return;
    const appeal = make('p', `${answer.appeal} `, 'appeal');
    const way = make('a', 'Request a review');
    way.href = answer.appeal_page;
    appeal.append(way);
    row.more.append(appeal);
  }

  function end(row, said, good) {
    row.state.textContent = said;
    row.item.classList.add(good ? 'good' : 'bad');
    row.bar.remove();
    row.cancel.remove();
  }
}

/** Takes files that are dropped anywhere. While they are dragged, an overlay covers the window and says what a drop does. */
function acceptDrops(one, add) {
  const overlay = make('div', '', 'drop-overlay');
  overlay.setAttribute('aria-hidden', 'true');
  overlay.hidden = true;
  const words = make('p');
  words.append(
    make('strong', one ? 'Drop a file to replace the content' : 'Drop files to publish them'),
    make('span', one ? 'The link stays the same, and the current version is kept.' : 'Each file becomes a separate page.'));
  overlay.append(words);
  document.body.append(overlay);

  // A picture of this page that is dragged counts as a file too.
  let fromHere = false;
  addEventListener('dragstart', () => { fromHere = true; });
  addEventListener('dragend', () => { fromHere = false; });
  const carriesFiles = (event) => !fromHere && event.dataTransfer?.types.includes('Files');

  for (const name of ['dragenter', 'dragover']) {
    addEventListener(name, (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      overlay.hidden = false;
    });
  }
  // Nothing is entered instead: the drag left the window or was given up.
  addEventListener('dragleave', (event) => { if (event.relatedTarget === null) overlay.hidden = true; });
  addEventListener('drop', (event) => {
    overlay.hidden = true;
    if (!carriesFiles(event)) return;
    event.preventDefault();
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
    const folders = new Set(entries.filter((entry) => entry?.isDirectory).map((entry) => entry.name));
    add([...event.dataTransfer.files], folders);
  });
}

function sizeOf(bytes) {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.round((10 * bytes) / 2 ** 20) / 10} MiB`;
}

function make(tag, text = '', classes = '') {
  const element = document.createElement(tag);
  element.textContent = text;
  if (classes) element.className = classes;
  return element;
}
