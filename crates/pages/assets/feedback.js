// The comments on one page: forms change the threads in place, and more threads are added below. Without this script the
// same forms and links load the page again.
'use strict';
{
  const MOST_SELECTED = 200; // of one request
  const status = document.getElementById('status');
  const threads = document.getElementById('threads');
  const bulk = document.getElementById('bulk');
  const count = bulk?.querySelector('[data-count]');
  const all = document.getElementById('all');

  const boxes = () => [...document.querySelectorAll('#threads input[name=ids]')];
  const countSelected = () => {
    const selected = boxes().filter((box) => box.checked).length;
    if (count) count.textContent = selected ? ` (${selected})` : '';
    if (all) all.checked = selected > 0 && selected === Math.min(boxes().length, MOST_SELECTED);
  };
  if (all) {
    all.closest('[data-all]').hidden = false;
    all.addEventListener('change', () => {
      boxes().forEach((box, index) => { box.checked = all.checked && index < MOST_SELECTED; });
      countSelected();
    });
    countSelected(); // a browser restores check boxes when the page is loaded again
  }
  threads?.addEventListener('change', (event) => { if (event.target.name === 'ids') countSelected(); });

  /**
   * Sends a request; a page comes as a document that runs no script, and no text is parsed as markup here. A redirect, to the
   * sign-in for example, is no answer.
   */
  const load = (method, address, body) =>
    new Promise((resolve, reject) => {
      const { origin, pathname, search } = new URL(address, location.href);
      const url = origin + pathname + search;
      const request = new XMLHttpRequest();
      request.open(method, url);
      request.setRequestHeader('accept', 'text/html');
      const is = (type) => request.getResponseHeader('content-type')?.startsWith(type);
      request.addEventListener('readystatechange', () => {
        if (request.readyState === XMLHttpRequest.HEADERS_RECEIVED && is('text/html')) request.responseType = 'document';
      });
      request.addEventListener('loadend', () => {
        if (request.status === 0 || request.responseURL !== url) return reject(new Error('no answer'));
        const page = request.responseType === 'document' ? request.response : null;
        resolve({ page: request.status < 300 ? page : null, problem: is('text/plain') ? request.responseText : null });
      });
      request.send(body);
    });

  const complain = (text) => {
    const problem = document.createElement('p');
    problem.className = 'problem in-place';
    problem.setAttribute('role', 'alert');
    problem.textContent = text;
    status.replaceChildren(problem);
  };

  const topOf = (id) => document.getElementById(id)?.getBoundingClientRect().top;

  /** Changes the page so that this thread, or the first one in the window, stays where it is. */
  const keepPlace = (thread, change) => {
    const kept = thread ?? [...(threads?.children ?? [])].find((item) => item.getBoundingClientRect().bottom > 0);
    const before = kept && topOf(kept.id);
    change();
    const now = kept && topOf(kept.id);
    if (now !== undefined) scrollBy({ top: now - before, behavior: 'instant' });
  };

  /** Puts the threads of a response to a form in place of their old versions. A reply that was begun in them stays. */
  const putInPlace = (page, form) => {
    for (const next of page.querySelectorAll('li.thread[id]')) {
      const old = document.getElementById(next.id);
      if (!old) continue;
      const hadFocus = old.contains(document.activeElement);
      const node = document.importNode(next, true);
      if ('deleted' in node.dataset) {
        if (hadFocus) (old.nextElementSibling ?? old.previousElementSibling)?.querySelector('button')?.focus({ preventScroll: true });
        old.remove();
        continue;
      }
      const begun = old.querySelector('.answer textarea');
      if (begun && !form.contains(begun)) {
        node.querySelector('.answer').open = old.querySelector('.answer').open || begun.value !== '';
        node.querySelector('.answer textarea').value = begun.value;
      }
      old.replaceWith(node);
      showLocalTimes(node);
      if (hadFocus) node.querySelector('.thread-actions button')?.focus({ preventScroll: true });
    }
    const said = page.querySelector('#status > *');
    status.replaceChildren(...(said ? [document.importNode(said, true)] : []));
    const open = said?.dataset.open;
    const badge = document.getElementById('open-count');
    if (open && badge) badge.textContent = `${open} open`;
    countSelected();
  };

  document.addEventListener('submit', async (event) => {
    const form = event.target;
    if (event.defaultPrevented || !form.matches('[data-in-place]')) return;
    const button = event.submitter;
    if (form === bulk && !boxes().some((box) => box.checked)) {
      event.preventDefault();
      return complain('Select the comments to resolve first.');
    }
    event.preventDefault();
    if (form.getAttribute('aria-busy') === 'true') return;
    const body = new URLSearchParams(new FormData(form, button));
    body.set('fragment', 'yes');
    form.setAttribute('aria-busy', 'true');
    try {
      const { page, problem } = await load('POST', button?.getAttribute('formaction') ?? form.getAttribute('action'), body);
      if (page) {
        keepPlace(form.closest('.thread'), () => putInPlace(page, form));
        if (form === bulk) form.reset();
        countSelected();
      } else {
        keepPlace(form.closest('.thread'), () => complain(problem ?? 'That did not work. Reload the page and try again.'));
      }
    } catch {
      keepPlace(form.closest('.thread'), () => complain('The server could not be reached. Nothing was changed. Try again.'));
    }
    form.removeAttribute('aria-busy');
  });

  document.addEventListener('click', async (event) => {
    const link = event.target.closest?.('#more a');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.getAttribute('aria-busy') === 'true') return;
    link.setAttribute('aria-busy', 'true');
    try {
      const { page } = await load('GET', link.href);
      if (!page) throw new Error('no page');
      const added = [...page.querySelectorAll('#threads > li')].filter((item) => !document.getElementById(item.id)).map((item) => document.importNode(item, true));
      threads.append(...added);
      added.forEach(showLocalTimes);
      const more = page.getElementById('more');
      const hadFocus = document.activeElement === link;
      if (more) link.closest('#more').replaceWith(document.importNode(more, true));
      else link.closest('#more').remove();
      if (hadFocus) added[0]?.querySelector('input, button')?.focus({ preventScroll: true });
      countSelected();
    } catch {
      location.assign(link.href);
    }
  });
}
