// Updates an open page of a site with `live` when a new version is published. docs/live-pages.md.
// It holds one event stream while the page is visible. An idle page is reloaded in place; a viewer who is in the middle of
// something gets a bar instead. It never reloads twice for one version.
(() => {
  'use strict';
  // Named elements of the page (<img name="body">) hide the document's own properties, so their getters are called directly.
  const getterOf = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name)?.get.bind(document) ?? (() => null);
  const [currentScript, allScripts, rootElement, activeElement, visibility, fullscreen] = ['currentScript', 'scripts', 'documentElement', 'activeElement', 'visibilityState', 'fullscreenElement'].map(getterOf);
  const [make, findAll] = ['createElement', 'querySelectorAll'].map((name) => Document.prototype[name].bind(document));
  const script = currentScript();
  const VERSION = Number(script?.getAttribute('data-version'));
  const CHANGES = script?.hasAttribute('data-changes') ? new URL(`changes?from=${VERSION}`, script.src).href : null;
  if (!script?.src || !Number.isInteger(VERSION) || !window.EventSource) return;
  // Loaded twice: the first script does the work.
  for (const other of allScripts()) if (other.src === script.src) { if (other !== script) return; break; }
  // In a frame of the page itself, the page around it is reloaded.
  try { if (window !== window.parent && window.parent.location.origin === location.origin) return; } catch { /* another site's frame */ }

  const STREAM = new URL('live', script.src).href;
  const STORED = 'dropleaf:live';
  const HIDDEN_MS = 10_000; // a tab in the background gives up its connection after this time
  const RETRY_MS = 1000;
  const RETRY_MOST_MS = 60_000;
  const FAILURES_MOST = 12;
  const RESTORE_MS = 2000;
  const { EventSource, CustomEvent, setTimeout, clearTimeout, sessionStorage: storage } = (() => {
    try { return { ...pick(window), sessionStorage: window.sessionStorage }; } catch { return { ...pick(window), sessionStorage: null }; }
    function pick(from) { return { EventSource: from.EventSource, CustomEvent: from.CustomEvent, setTimeout: from.setTimeout.bind(from), clearTimeout: from.clearTimeout.bind(from) }; }
  })();

  const place = () => location.pathname + location.search;
  const stored = () => { try { return JSON.parse(storage.getItem(STORED)) ?? {}; } catch { return {}; } };
  const store = (value) => { try { storage.setItem(STORED, JSON.stringify(value)); return true; } catch { return false; } };

  let latest = VERSION;
  let hiddenVersion = 0; // the viewer has closed the bar of this version
  let isHeld = false; // an encrypted page with a passphrase would ask for it again
  let isOver = false;
  let isReloading = false;
  const isVisible = () => visibility() !== 'hidden';

  // Is the viewer in the middle of something?

  const touched = new Set();
  let isPressed = false;
  const isChanged = (field) => {
    if (!field.isConnected) return false;
    if (field.isContentEditable) return true;
    if (field.type === 'checkbox' || field.type === 'radio') return field.checked !== field.defaultChecked;
    if (field.type === 'file') return field.files?.length > 0;
    if (field.options) return Array.from(field.options).some((option) => option.selected !== option.defaultSelected);
    return field.value !== field.defaultValue;
  };
  const isPlaying = (media) => !media.paused && !media.ended && !(media.muted && media.loop); // muted loops are decoration
  function isBusy() {
    if (isHeld || isPressed || fullscreen() || window.onbeforeunload) return true;
    if (activeElement()?.localName === 'iframe') return true;
    if (String(window.getSelection() ?? '').trim() !== '') return true;
    if (Array.from(touched).some(isChanged)) return true;
    if (Array.from(findAll('audio, video')).some(isPlaying)) return true;
    if (findAll('dialog[open]').length > 0) return true;
    // The toolbar, or the page itself, has something open.
    return !window.dispatchEvent(new CustomEvent('dropleaf:beforeupdate', { cancelable: true, detail: { version: latest } }));
  }
  const forget = (event) => { for (const field of touched) if (field.form === event.target) touched.delete(field); };

  // What to do about a new version

  function reload() {
    if (isReloading) return;
    isReloading = true;
    store({ place: place(), version: latest, scroll: [window.scrollX, window.scrollY] });
    close();
    location.reload();
  }

  function update() {
    if (latest <= VERSION || isReloading || !isVisible()) return;
    const last = stored();
    const wasReloaded = last.place === place() && last.version >= latest;
    // Without storage it would not be known after a reload that there was one.
    const canRemember = store(last);
    if (wasReloaded || !canRemember || isBusy()) showBar();
    else reload();
  }

  /** Scrolls back after a reload of ours, until the viewer takes over. Late content may have to grow first. */
  function restoreScroll() {
    const { scroll, ...last } = stored();
    if (!scroll || last.place !== place() || last.version > VERSION) return;
    store(last);
    const until = Date.now() + RESTORE_MS;
    let isTaken = false;
    for (const name of ['wheel', 'touchstart', 'keydown', 'pointerdown']) addEventListener(name, () => { isTaken = true; }, { capture: true, once: true, passive: true });
    const step = () => {
      if (isTaken) return;
      const [left, top] = scroll;
      if (Math.abs(window.scrollX - left) > 1 || Math.abs(window.scrollY - top) > 1) window.scrollTo({ left, top, behavior: 'instant' });
      if (Date.now() < until) setTimeout(step, 100);
    };
    step();
  }

  // The stream

  let source = null;
  let failures = 0;
  let opened = 0;
  let retryTimer = 0;
  let hiddenTimer = 0;
  const numberIn = (event, name) => { try { return Number(JSON.parse(event.data)[name]); } catch { return NaN; } };
  const tellFeedback = (change) => window.dispatchEvent(new CustomEvent('dropleaf:feedback', { detail: { change } }));

  function close() {
    clearTimeout(retryTimer);
    retryTimer = 0;
    source?.close();
    source = null;
  }

  function open() {
    if (source || isOver || isReloading || !isVisible()) return;
    clearTimeout(retryTimer);
    const own = source = new EventSource(STREAM);
    own.addEventListener('version', (event) => {
      if (own !== source) return;
      failures = 0;
      // Comments that came while no stream was open were missed.
      if (opened > 0 && !own.isKnown) tellFeedback(0);
      own.isKnown = true;
      opened += 1;
      const version = numberIn(event, 'version');
      if (version > latest) latest = version;
      update();
    });
    own.addEventListener('feedback', (event) => { if (own === source) tellFeedback(numberIn(event, 'change')); });
    own.addEventListener('gone', () => { if (own === source) { isOver = true; close(); hideBar(); } });
    own.addEventListener('error', () => {
      if (own !== source) return;
      close();
      failures += 1;
      if (failures > FAILURES_MOST) return;
      const wait = Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MOST_MS);
      retryTimer = setTimeout(open, wait * (0.5 + Math.random()));
    });
  }

  const resume = () => { failures = 0; open(); };
  function visibilityChanged() {
    clearTimeout(hiddenTimer);
    if (!isVisible()) { hiddenTimer = setTimeout(close, HIDDEN_MS); return; }
    resume();
    update();
  }

  // The bar: in a closed shadow root and in the top layer, so that the page's styles do not reach it

  let bar = null;
  let isShown = false;
  let mounts = 0;
  const element = (tag, properties, ...children) => {
    const node = Object.assign(make(tag), properties);
    node.append(...children);
    return node;
  };

  function makeBar() {
    const host = make('dropleaf-live');
    const root = host.attachShadow({ mode: 'closed' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    const words = element('p', {});
    words.setAttribute('role', 'status');
    const show = element('button', { type: 'button', className: 'show', textContent: 'Show' });
    const hide = element('button', { type: 'button', className: 'hide', textContent: '\u00d7', title: 'Hide this message' });
    hide.setAttribute('aria-label', 'Hide this message');
    const changes = CHANGES ? [element('a', { href: CHANGES, target: '_blank', rel: 'noopener', textContent: 'What changed' })] : [];
    const box = element('div', { className: 'bar' }, words, ...changes, show, hide);
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', 'New version');
    show.addEventListener('click', reload);
    const dismiss = () => { hiddenVersion = latest; hideBar(); };
    hide.addEventListener('click', dismiss);
    box.addEventListener('keydown', (event) => { if (event.key === 'Escape') dismiss(); });
    root.append(box);
    host.setAttribute('popover', 'manual');
    return { host, words };
  }

  function mount() {
    if (!isShown || bar.host.isConnected || !rootElement() || (mounts += 1) > 20) return; // a page that insists on removing it wins
    rootElement().append(bar.host);
    try { bar.host.showPopover(); } catch { /* an old browser: the z-index has to do */ }
  }

  function showBar() {
    if (hiddenVersion >= latest) return;
    bar ??= makeBar();
    isShown = true;
    mount();
    // Set once it is in the document, so that screen readers announce it.
    setTimeout(() => { bar.words.textContent = `Version ${latest} is out`; });
  }

  function hideBar() {
    isShown = false;
    bar?.host.remove();
  }

  const STYLE = `
:host { all: initial !important; display: block !important; position: fixed !important; inset: 0 0 auto 0 !important; width: auto !important;
  height: auto !important; z-index: 2147483647 !important; pointer-events: none !important; }
.bar { pointer-events: auto; display: flex; align-items: center; gap: 10px; box-sizing: border-box; width: fit-content; max-width: calc(100% - 24px);
  margin: max(12px, env(safe-area-inset-top)) auto 0; padding: 5px 5px 5px 16px; border: 1px solid #c3cfc3; border-radius: 24px; background: #fff;
  color: #13201a; box-shadow: 0 4px 18px rgb(0 0 0 / .16); font: 400 15px/1.4 system-ui, "Liberation Sans", sans-serif; direction: ltr; text-align: left;
  color-scheme: light; }
p { margin: 0; min-height: 1.4em; }
a { color: #17633f; text-underline-offset: .2em; border-radius: 3px; }
button { flex: none; min-width: 38px; height: 38px; border: 0; border-radius: 19px; background: none; color: inherit; font: inherit; cursor: pointer; }
.show { padding: 0 18px; background: #17633f; color: #fff; font-weight: 600; }
.hide { font-size: 20px; line-height: 1; }
.hide:hover { background: rgb(128 128 128 / .16); }
:focus-visible { outline: 3px solid #17633f; outline-offset: 2px; }
@media (prefers-color-scheme: dark) { .bar { background: #141d19; color: #e7eee8; border-color: #35463c; color-scheme: dark; }
  .show { background: #83d3a5; color: #0b1a12; } a { color: #83d3a5; } :focus-visible { outline-color: #83d3a5; } }
@media print { :host { display: none !important; } }`;

  /** document.open() removes every listener; adding one that is still there does nothing. */
  const listeners = [
    [document, 'visibilitychange', visibilityChanged],
    [window, 'online', resume],
    [window, 'pagehide', close],
    [window, 'pageshow', resume],
    [window, 'input', (event) => { if (event.isTrusted) touched.add(event.composedPath()[0]); }],
    [window, 'submit', forget],
    [window, 'reset', forget],
    [window, 'pointerdown', () => { isPressed = true; }],
    [window, 'pointerup', () => { isPressed = false; }],
    [window, 'pointercancel', () => { isPressed = false; }],
    [window, 'dragend', () => { isPressed = false; }],
    [window, 'blur', () => { isPressed = false; }],
    [window, 'dropleaf:hold', () => { isHeld = true; }],
  ];
  const wire = () => { for (const [target, name, act] of listeners) target.addEventListener(name, act, { capture: true, passive: true }); };
  wire();
  new MutationObserver(() => { wire(); mount(); }).observe(document, { childList: true });
  new MutationObserver(mount).observe(rootElement(), { childList: true });
  restoreScroll();
  open();
})();
