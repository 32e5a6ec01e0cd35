// Opens an end-to-end encrypted page: the ciphertext stands in #payload, the key in the fragment, which browsers never
// send. Runs inline in templates/viewer.html under the page's own policy, without a second request and without forms
// (a sandbox may forbid both). docs/encryption.md describes the format. The modules of markdown/ stand before it in the
// same script (pages/viewer_script.rs), and addCopyButtons, which is the script of Markdown pages.
(() => {
  'use strict';
  const ROOT = document.documentElement;
  // Named elements of the decrypted page (<img name="close">) hide the document's own members: these are taken before.
  const native = (name) => Document.prototype[name].bind(document);
  const [createElement, openDocument, writeDocument, closeDocument] = ['createElement', 'open', 'write', 'close'].map(native);
  const { removeAttribute } = Element.prototype;
  const rootElement = Object.getOwnPropertyDescriptor(Document.prototype, 'documentElement').get.bind(document);
  const REPORT = ROOT.dataset.report || '';
  const ANONYMOUS = ROOT.hasAttribute('data-anonymous');
  const ITERATIONS = { least: 600_000, most: 10_000_000 };
  const LARGEST = 256 * 1024 * 1024; // of an unpacked page: a small payload must not fill the memory
  const TAG = 16;

  /** A failure with words for the viewer. `again` names what may succeed: another `passphrase`, another `key`. */
  class Trouble extends Error {
    constructor(heading, message, hint = '', again = '') {
      super(message);
      Object.assign(this, { heading, hint, again });
    }
  }
  const ASK_SENDER = 'Everything after the # sign is part of the link. If it is missing or incomplete, ask the sender for the complete link.';
  const noKey = () => new Trouble('The key is missing', 'This page is encrypted, and the link is missing its last part: the key after the # sign.', ASK_SENDER, 'key');
  const badKey = () => new Trouble('The key is incomplete', 'The part of the link after #k= is too short, too long or contains invalid characters.', ASK_SENDER, 'key');
  const wrongKey = () => new Trouble('This key does not open the page', 'The key belongs to another page or an earlier version of this page, or the content is damaged.', ASK_SENDER, 'key');
  const wrongPassphrase = () => new Trouble('', 'Incorrect passphrase. Check uppercase letters and spaces, then try again.', '', 'passphrase');
  const damaged = (what) => new Trouble('The content is damaged', 'The stored data is not a complete encrypted page, so no key can open it.', `${what} Ask the sender to publish the page again.`);
  const newer = (what) => new Trouble('This page needs a newer viewer', `It was encrypted in a way that this server does not support: ${what}.`, 'Contact the sender or the operator of this server.');
  const noCrypto = () => new Trouble('This browser cannot decrypt the page', location.protocol === 'http:' ? 'Browsers can decrypt only on a secure connection, but this page was opened over plain http.' : 'The Web Crypto API is missing or disabled.', location.protocol === 'http:' ? 'Open the link with https:// instead, or ask the operator of this server to set up HTTPS.' : 'Try a current version of Firefox, Chrome, Edge or Safari.');

  const pause = () => new Promise((resolve) => setTimeout(resolve));

  /** Base64 in steps, so that the page stays alive while many megabytes are read. */
  async function fromBase64(text, progress) {
    const clean = text.replace(/\s+/g, '');
    const padding = clean.endsWith('==') ? 2 : clean.endsWith('=') ? 1 : 0;
    if (clean.length % 4 || clean.length === 0) throw damaged('The data is truncated.');
    const bytes = new Uint8Array((clean.length / 4) * 3 - padding);
    const step = 1 << 20;
    for (let at = 0, out = 0; at < clean.length; at += step) {
      let part;
      try {
        part = atob(clean.slice(at, at + step));
      } catch {
        throw damaged('The data contains invalid characters.');
      }
      for (let i = 0; i < part.length; i += 1) bytes[out + i] = part.charCodeAt(i);
      out += part.length;
      if (clean.length > step) {
        progress(`Loading the page: ${Math.round((100 * Math.min(at + step, clean.length)) / clean.length)}%`);
        await pause();
      }
    }
    return bytes;
  }

  /** The secret of `#k=…`, or the trouble with it. */
  function secretOf(fragment) {
    const part = fragment.replace(/^#/, '').split('&').find((piece) => piece.startsWith('k='));
    if (part === undefined || part === 'k=') throw noKey();
    const text = part.slice(2).replace(/(=|%3D)+$/i, '');
    if (!/^[\w-]+$/.test(text) || (text.length !== 22 && text.length !== 43)) throw badKey();
    const packed = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
    return Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  }

  /** What a payload says about itself. */
  function parse(payload) {
    const framed = [0x45, 0x32, 0x45, 0x31].every((byte, i) => payload[i] === byte);
    if (!framed) {
      if (payload.length < 12 + TAG + 1) throw damaged('The data is too short.');
      return { kdf: 0, gzip: false, keys: [16, 32], iv: payload.subarray(0, 12), sealed: payload.subarray(12) };
    }
    if (payload.length < 40 + TAG) throw damaged('The data is too short.');
    const [kdf, flags] = [payload[4], payload[5]];
    const iterations = new DataView(payload.buffer, payload.byteOffset).getUint32(8);
    if (kdf > 1) throw newer(`key derivation ${kdf}`);
    if (flags > 1 || payload[6] || payload[7]) throw newer('unknown flags');
    const allowed = kdf === 0 ? iterations === 0 : iterations >= ITERATIONS.least && iterations <= ITERATIONS.most;
    if (!allowed) throw damaged('The number of iterations is out of range.');
    return {
      kdf,
      iterations,
      gzip: flags === 1,
      keys: [32],
      salt: payload.subarray(12, 28),
      iv: payload.subarray(28, 40),
      head: payload.subarray(0, 40),
      sealed: payload.subarray(40),
    };
  }

  async function keyOf(frame, secret, passphrase) {
    if (!frame.keys.includes(secret.length)) throw badKey();
    if (frame.kdf === 0) return crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['decrypt']);
    const words = new TextEncoder().encode(passphrase);
    const material = new Uint8Array(words.length + secret.length);
    material.set(words);
    material.set(secret, words.length);
    const base = await crypto.subtle.importKey('raw', material, 'PBKDF2', false, ['deriveKey']);
    const how = { name: 'PBKDF2', hash: 'SHA-256', salt: frame.salt, iterations: frame.iterations };
    return crypto.subtle.deriveKey(how, base, { name: 'AES-GCM', length: 256 }, false, ['decrypt']);
  }

  async function unpack(bytes) {
    if (typeof DecompressionStream === 'undefined') throw new Trouble('This browser cannot decrypt the page', 'It cannot decompress gzip.', 'Try a current version of Firefox, Chrome, Edge or Safari.');
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
    const parts = [];
    let size = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        size += value.length;
        if (size > LARGEST) break;
        parts.push(value);
      }
    } catch {
      throw damaged('It was not compressed correctly before it was encrypted.');
    }
    if (size > LARGEST) {
      reader.cancel().catch(() => {});
      throw new Trouble('The page is too large', 'Decompressed, it would need more than 256 MiB of memory.');
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  async function decrypt(frame, secret, passphrase) {
    const key = await keyOf(frame, secret, passphrase);
    const how = { name: 'AES-GCM', iv: frame.iv, tagLength: TAG * 8, ...(frame.head && { additionalData: frame.head }) };
    let plain;
    try {
      plain = new Uint8Array(await crypto.subtle.decrypt(how, key, frame.sealed));
    } catch {
      throw frame.kdf === 1 ? wrongPassphrase() : wrongKey();
    }
    return frame.gzip ? unpack(plain) : plain;
  }

  /** {kind: html | markdown | text | pdf | file, text?} of the decrypted bytes. */
  function recognise(bytes) {
    const start = String.fromCharCode(...bytes.subarray(0, 1024));
    if (start.startsWith('%PDF-')) return { kind: 'pdf' };
    const mark = start.startsWith('\xff\xfe') ? 'utf-16le' : start.startsWith('\xfe\xff') ? 'utf-16be' : '';
    const html = /^(?:\xef\xbb\xbf)?\s*<[a-z!?/]/i;
    const named = html.test(start) ? start.match(/<meta[^>]+charset\s*=\s*["']?([\w-]+)/i)?.[1] : undefined;
    let text;
    try {
      text = new TextDecoder(mark || named || 'utf-8').decode(bytes);
    } catch {
      text = new TextDecoder().decode(bytes);
    }
    const binary = text.includes('\0') || (text.match(/\ufffd/g)?.length ?? 0) > text.length / 100;
    if (!binary && isMarkdown(text)) return { kind: 'markdown', text };
    if (html.test(text)) return { kind: 'html', text };
    return binary ? { kind: 'file' } : { kind: 'text', text };
  }

  // What follows touches the document.

  const $ = (id) => document.getElementById(id);
  const reveal = (id, on) => ($(id).hidden = !on);
  const doing = (words) => {
    $('doing').textContent = words;
    reveal('progress', words !== '');
  };

  function show(heading, message, hint = '') {
    doing('');
    reveal('ask', false);
    reveal('paste', false);
    $('heading').textContent = heading;
    document.title = `${heading} · dropleaf`;
    $('message').textContent = message;
    $('hint').textContent = hint;
    reveal('hint', hint !== '');
  }

  function element(tag, properties, ...children) {
    const made = Object.assign(createElement(tag), properties);
    made.append(...children);
    return made;
  }

  /** The notice that stays over a page that this server could not check. A page's script could remove it for good; it is put back a few times only. */
  function addNotice(...links) {
    const host = createElement('div');
    const root = host.attachShadow({ mode: 'closed' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(NOTICE_STYLE);
    root.adoptedStyleSheets = [sheet];
    const words = ANONYMOUS ? 'Encrypted page, published without an account. This server has not checked the content. Do not enter passwords or personal details.' : 'Encrypted page. This server has not checked the content.';
    const close = element('button', { type: 'button', textContent: '×', title: 'Hide this notice' });
    close.setAttribute('aria-label', 'Hide this notice');
    const text = element('p', { textContent: `${words} ` });
    if (REPORT) text.append(element('a', { href: REPORT, textContent: 'Report', rel: 'noreferrer' }));
    for (const link of links) text.append(' · ', link);
    const bar = element('div', { className: 'bar' }, text, close);
    bar.setAttribute('role', 'region');
    bar.setAttribute('aria-label', 'About this encrypted page');
    root.append(bar);
    host.setAttribute('popover', 'manual');
    let left = 20;
    const put = () => {
      if (host.isConnected || !rootElement() || left-- <= 0) return;
      rootElement().append(host);
      try {
        host.showPopover(); // above everything, whatever the page's own layers
      } catch {} // an old browser: the z-index has to do
    };
    const watch = new MutationObserver(put);
    const remove = () => {
      watch.disconnect();
      host.remove();
    };
    close.addEventListener('click', remove);
    put();
    watch.observe(document, { childList: true, subtree: true });
    return remove;
  }

  const NOTICE_STYLE = `
:host { all: initial !important; display: block !important; position: fixed !important; inset: auto 0 0 0 !important;
  width: auto !important; height: auto !important; z-index: 2147483647 !important; pointer-events: none !important; }
.bar { pointer-events: auto; display: flex; align-items: center; gap: 6px; box-sizing: border-box; width: fit-content;
  max-width: min(620px, 100% - 24px); margin: 12px; padding: 4px 4px 4px 14px; border: 1px solid #c3cfc3; border-radius: 10px;
  background: #fff; color: #13201a; box-shadow: 0 4px 18px rgb(0 0 0 / .16); font: 400 13.5px/1.45 system-ui, "Liberation Sans", sans-serif;
  direction: ltr; text-align: left; }
.bar::before { content: ""; flex: none; width: 9px; height: 9px; border-radius: 50% 0 50% 50%; background: #17633f; }
p { flex: 1; margin: 0; padding: 6px 0 6px 4px; }
a { color: #17633f; font-weight: 600; text-underline-offset: 2px; }
button { flex: none; width: 36px; height: 36px; border: 0; border-radius: 8px; background: none; color: inherit; font: 400 20px/1 system-ui, sans-serif; cursor: pointer; }
button:hover { background: rgb(128 128 128 / .16); }
button.link { width: auto; height: auto; padding: 0; background: none; color: #17633f; font: inherit; font-weight: 600; text-decoration: underline; text-underline-offset: 2px; }
:focus-visible { outline: 3px solid #17633f; outline-offset: 1px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .bar { background: #141d19; color: #e7eee8; border-color: #35463c; } .bar::before { background: #83d3a5; } a, button.link { color: #83d3a5; } :focus-visible { outline-color: #83d3a5; } }
@media (max-width: 480px) { .bar { width: auto; } }
@media print { :host { display: none !important; } }`;

  /** With `<a ping>` browsers send the whole address in `Ping-From`, the key included: links of an opened page send none. */
  function removePings() {
    const remove = (event) => event.composedPath().forEach((node) => node instanceof Element && removeAttribute.call(node, 'ping'));
    for (const name of ['click', 'auxclick']) addEventListener(name, remove, { capture: true });
  }

  function writeHtml(text) {
    openDocument();
    writeDocument(text);
    closeDocument();
    removePings();
    addNotice();
  }

  const amount = (bytes) => (bytes < 1024 ? `${bytes} bytes` : bytes < 1 << 20 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`);

  function offerFile(bytes, kind) {
    const type = kind === 'pdf' ? 'application/pdf' : 'application/octet-stream';
    const href = URL.createObjectURL(new Blob([bytes], { type }));
    const download = element('a', { className: 'act', href, download: kind === 'pdf' ? 'page.pdf' : 'page.bin', textContent: `Download (${amount(bytes.length)})` });
    if (kind === 'pdf') {
      show('PDF document', 'The document is decrypted. If your browser does not show it, download it.');
      // A sandboxed document may not use the browser's PDF viewer.
      if (navigator.pdfViewerEnabled && self.origin !== 'null') return showWhole(element('object', { className: 'file', type, data: href }, element('p', { className: 'message', textContent: 'Your browser cannot show PDF documents on this page. Download it instead.' })), download);
    } else {
      show('File download', 'The file is decrypted, but browsers cannot show files of this type. Open it only if you trust the sender.');
    }
    $('acts').replaceChildren(download);
    reveal('acts', true);
  }

  function showWhole(content, act) {
    doing('');
    ROOT.classList.add('whole');
    content.setAttribute('aria-label', 'Decrypted content');
    $('main').replaceChildren(content);
    document.querySelector('.top .acts')?.remove();
    if (act) document.querySelector('.top').append(element('div', { className: 'acts' }, act));
  }

  function showText(text, reason = '') {
    document.title = 'Encrypted text · dropleaf';
    const content = element('pre', { className: 'text', textContent: text, tabIndex: 0 });
    const isOffered = !reason && text.length <= LONGEST_MARKDOWN;
    const typeset = element('button', { type: 'button', className: 'act quiet', textContent: 'Show as Markdown' });
    typeset.addEventListener('click', () => showMarkdown(text));
    showWhole(content, isOffered && typeset);
    if (reason) content.before(element('p', { className: 'reason', textContent: reason }));
  }

  const TOO_LARGE = 'This looks like Markdown, but it is too large to render. Here is the source text.';
  // Whatever the sanitiser lets through, nothing in a Markdown page runs, is framed, or is sent anywhere.
  // Only our own script of a live page opens a connection, to the page's own host.
  const MARKDOWN_POLICY = `${ROOT.hasAttribute('data-live') ? "connect-src 'self'; " : ''}default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'`;
  const STYLES = { viewer: $('viewer-style'), markdown: $('markdown-style') };
  const LANGUAGE = ROOT.lang;

  /** Switches between the viewer's own page and that of a document. */
  function useStyle(name) {
    for (const [own, sheet] of Object.entries(STYLES)) sheet.media = own === name ? 'all' : 'not all';
  }

  function showMarkdown(text) {
    if (text.length > LONGEST_MARKDOWN) return showText(text, TOO_LARGE);
    let page;
    try {
      page = markdownPage(text);
    } catch {
      return showText(text, TOO_LARGE);
    }
    if (!document.querySelector('meta[http-equiv]')) document.head.append(element('meta', { httpEquiv: 'Content-Security-Policy', content: MARKDOWN_POLICY }));
    const viewer = [...document.body.childNodes];
    document.body.replaceChildren(page.main);
    addCopyButtons();
    useStyle('markdown');
    document.title = page.title || 'Encrypted page';
    Object.assign(ROOT, { lang: page.language ?? '', dir: page.direction });
    const source = element('button', { type: 'button', className: 'link', textContent: 'Show source' });
    const removeNotice = addNotice(source);
    source.addEventListener('click', () => {
      removeNotice();
      document.body.replaceChildren(...viewer);
      useStyle('viewer');
      Object.assign(ROOT, { lang: LANGUAGE, dir: '' });
      showText(text);
    });
  }

  function present(bytes) {
    const { kind, text } = recognise(bytes);
    if (kind === 'html') return writeHtml(text);
    if (kind === 'markdown') return showMarkdown(text);
    if (kind !== 'text') return offerFile(bytes, kind);
    showText(text);
  }

  /** Waits for a passphrase that opens the page. */
  function ask(frame, secret) {
    show('This page requires a passphrase', 'It is encrypted. The sender should have given you the passphrase separately.');
    reveal('ask', true);
    const [input, open, problem] = [$('passphrase'), $('open'), $('problem')];
    input.focus();
    $('show').addEventListener('change', (event) => (input.type = event.target.checked ? 'text' : 'password'));
    return new Promise((resolve, reject) => {
      let busy = false;
      const attempt = async () => {
        if (busy) return;
        busy = true;
        problem.textContent = '';
        input.removeAttribute('aria-invalid');
        open.setAttribute('aria-disabled', 'true');
        doing('Checking the passphrase…');
        await pause();
        try {
          resolve(await decrypt(frame, secret, input.value));
        } catch (trouble) {
          if (trouble.again !== 'passphrase') return reject(trouble);
          doing('');
          problem.textContent = trouble.message;
          input.setAttribute('aria-invalid', 'true');
          input.focus();
          input.select();
        }
        open.removeAttribute('aria-disabled');
        busy = false;
      };
      open.addEventListener('click', attempt);
      input.addEventListener('keydown', (event) => event.key === 'Enter' && attempt());
    });
  }

  let waiting = false;
  async function run() {
    waiting = false;
    try {
      const secret = secretOf(location.hash);
      if (!globalThis.crypto?.subtle) throw noCrypto();
      show('Opening encrypted page', 'It is decrypted in your browser. The server never sees the key.');
      doing('Loading the page…');
      const payload = await fromBase64($('payload').textContent, doing);
      const frame = parse(payload);
      if (frame.kdf === 1 && secret.length !== 32) throw badKey();
      let plain;
      if (frame.kdf === 1) {
        plain = await ask(frame, secret);
        dispatchEvent(new Event('dropleaf:hold')); // a live page would have to ask again after an update
      } else {
        doing(payload.length > 1 << 20 ? `Decrypting ${amount(payload.length)}…` : 'Decrypting…');
        if (payload.length > 1 << 20) await pause();
        plain = await decrypt(frame, secret);
      }
      doing('Rendering the page…');
      // document.open() does nothing while this page itself is still being read.
      if (document.readyState !== 'complete') await new Promise((resolve) => addEventListener('load', resolve, { once: true }));
      await pause();
      present(plain);
    } catch (trouble) {
      const known = trouble instanceof Trouble ? trouble : damaged('The browser could not process it.');
      show(known.heading, known.message, known.hint);
      reveal('paste', known.again === 'key');
      $('heading').focus();
      waiting = true;
    }
  }

  /** A link that lost its key, in a form on the way here or in a messenger, need not be opened a second time: a page that burns could not be. */
  function useLink() {
    const text = $('link').value.trim();
    if (!text || !waiting) return $('link').focus();
    const key = text.includes('#') ? text.slice(text.indexOf('#')) : text.startsWith('k=') ? `#${text}` : `#k=${text}`;
    $('link').value = '';
    if (location.hash === key) return run();
    location.replace(key);
  }
  $('use').addEventListener('click', useLink);
  $('link').addEventListener('keydown', (event) => event.key === 'Enter' && useLink());
  // Pasting the whole link into the address bar, too, changes only the fragment and loads nothing.
  addEventListener('hashchange', () => waiting && run());
  run();
})();
