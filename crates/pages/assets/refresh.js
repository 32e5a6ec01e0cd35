// Refreshes a page while something is under way: the check of a domain, a certificate, the health checks. The page is loaded
// again in the background, and what is marked with [data-live] is replaced. Without a script, reloading it does the same.
'use strict';

{
  const SOON = 2000;
  const LATER = 15_000;
  // For the first minutes the person probably waits; later the page was left open.
  const IMPATIENT = 5 * 60_000;
  const opened = Date.now();
  let timer = 0;

  const isWaiting = () => document.querySelector('[data-waiting]') !== null;

  // A document that is loaded this way runs no script, and no text is parsed as markup here.
  const load = () =>
    new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open('GET', `${location.pathname}?live=1`);
      request.responseType = 'document';
      request.addEventListener('loadend', () => resolve(request.status === 200 ? request.response : null));
      request.send();
    });

  const refresh = async () => {
    const fresh = await load();
    // A server that is restarted answers again soon; a page without the marks means that the session or what it shows is gone.
    const parts = fresh?.querySelectorAll('[data-live]');
    if (parts?.length === 0) return;
    if (parts) showLocalTimes(fresh);
    for (const part of parts ?? []) {
      const shown = document.querySelector(`[data-live="${part.dataset.live}"]`);
      if (!shown || shown.isEqualNode(part)) continue;
      shown.toggleAttribute('data-waiting', part.hasAttribute('data-waiting'));
      shown.replaceChildren(...part.childNodes);
    }
    plan();
  };

  const plan = () => {
    clearTimeout(timer);
    if (document.hidden || !isWaiting()) return;
    timer = setTimeout(refresh, Date.now() - opened < IMPATIENT ? SOON : LATER);
  };

  // Nothing is loaded for a tab that is not seen; it is brought up to date when it is seen again.
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (!document.hidden && isWaiting()) refresh();
  });
  plan();
}
