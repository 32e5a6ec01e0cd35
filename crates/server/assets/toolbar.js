// The feedback toolbar of a page with `agentation`: one custom element in a closed shadow root. docs/feedback.md.
// A page's scripts are strangers: every native that touches a node of ours is taken at load, since a node gives away the
// closed root (getRootNode), and arrays of nodes are walked by index. What others wrote is only ever text. There is no
// form to submit: a sandbox without allow-forms swallows it.
(() => {
  'use strict';
  // Named elements of the page (<img name="body">) hide the document's own properties, so their getters are called directly.
  const getterOf = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.bind(document);
  const [currentScript, allScripts, bodyElement, rootElement, activeElement, visibility] = ['currentScript', 'scripts', 'body', 'documentElement', 'activeElement', 'visibilityState'].map(getterOf);
  const script = currentScript();
  // In a frame of the page the page's own toolbar is enough.
  if (!script || !script.src || window !== window.top) return;
  // Loaded twice: the first script does the work.
  for (const other of allScripts()) if (other.src === script.src) { if (other !== script) return; break; }

  const LIMITS = { comment: 4000, element: 500, element_path: 2000, selected_text: 2000, page_url: 2000, name: 60 };
  const INTENTS = { fix: 'Fix', change: 'Change', question: 'Question', approve: 'Approve' };
  const AUTHORS = { viewer: 'Viewer', owner: 'Owner', agent: 'Agent' };
  const STATES = ['open', 'reopened', 'resolved'];
  const SEVERITIES = { blocking: 'Blocking', important: 'Important', suggestion: 'Suggestion' };

  // Natives, as they were at load
  const un = Function.prototype.bind.bind(Function.prototype.call);
  const { getOwnPropertyDescriptor, keys, create } = Object;
  const { parse, stringify } = JSON;
  const { min, max, round, abs } = Math;
  const { AbortController, MutationObserver, URL, Range, NodeFilter, EventSource } = window;
  const now = Date.now;
  const escape = CSS.escape;
  const own = (name) => window[name].bind(window);
  const [fetch, later, forget, frame, media, selection, styleOf] = ['fetch', 'setTimeout', 'clearTimeout', 'requestAnimationFrame', 'matchMedia', 'getSelection', 'getComputedStyle'].map(own);
  /** Methods that take `this` as first argument; `name=` is a setter, `.name` a getter. */
  const take = (type, names) => names.split(' ').map((name) => un(
    name[0] === '.' ? getOwnPropertyDescriptor(type.prototype, name.slice(1)).get
      : name.endsWith('=') ? getOwnPropertyDescriptor(type.prototype, name.slice(0, -1)).set
        : type.prototype[name]));
  const [sort, join, includes, slice] = take(Array, 'sort join includes slice');
  const [listen] = take(EventTarget, 'addEventListener');
  const [make, makeNS, find, findAll, atPoint, walker] = take(Document, 'createElement createElementNS querySelector querySelectorAll elementsFromPoint createTreeWalker').map((act) => act.bind(null, document));
  const [nextNode, previousNode, upperNode, lowerNode, setCurrent] = take(TreeWalker, 'nextNode previousNode parentNode firstChild currentNode=');
  const WAYS = { ArrowDown: nextNode, ArrowUp: previousNode, ArrowLeft: upperNode, ArrowRight: lowerNode };
  const [append, setText, textOf, parentOf, connected] = take(Node, 'appendChild textContent= .textContent .parentElement .isConnected');
  const [replace, attach, setAttribute, removeAttribute, getAttribute, matches, boxOf, scrollTo] = take(Element, 'replaceChildren attachShadow setAttribute removeAttribute getAttribute matches getBoundingClientRect scrollIntoView');
  const [idOf, nameOf, classOf, nextOf, previousOf] = take(Element, '.id .localName .classList .nextElementSibling .previousElementSibling');
  const [focus, declared, widthOf] = take(HTMLElement, 'focus .style .offsetWidth');
  const [setProperty] = take(CSSStyleDeclaration, 'setProperty');
  const [valueOf, setValue] = take(HTMLTextAreaElement, '.value value=');
  const [isChecked, setChecked, lineOf, setLine] = take(HTMLInputElement, '.checked checked= .value value=');
  const setAddress = history.replaceState.bind(history);
  // A page without an origin of its own has no storage.
  const storage = (() => { try { return window.localStorage; } catch { return null; } })();
  const [getItem, setItem] = take(Storage, 'getItem setItem');
  const [activeOf] = take(ShadowRoot, '.activeElement');
  const [prevent, stop] = take(Event, 'preventDefault stopPropagation');
  const [keyOf, shiftOf, ctrlOf, metaOf] = take(KeyboardEvent, '.key .shiftKey .ctrlKey .metaKey');
  const [xOf, yOf] = take(MouseEvent, '.clientX .clientY');
  const [rectsOf] = take(Range, 'getClientRects');
  const visual = window.visualViewport;
  const [leftOf, topOf, wideOf, highOf, scaleOf] = visual ? take(VisualViewport, '.offsetLeft .offsetTop .width .height .scale') : [];
  const popover = HTMLElement.prototype.showPopover && take(HTMLElement, 'showPopover')[0];
  const [endStream] = EventSource ? take(EventSource, 'close') : [];
  const [ENDPOINT, STREAM, LIVE] = ['feedback', 'live', 'live.js'].map((name) => new URL(name, script.src).href);

  // Small tools over them
  const wires = [];
  let wiring = true;
  /** document.open() removes every listener: those of lasting parts are put back. */
  const on = (node, name, act, options) => {
    listen(node, name, act, options);
    if (wiring) wires[wires.length] = () => listen(node, name, act, options);
  };
  /** An element: `text`, `@event` and attributes; null and false are left out. */
  const h = (tag, attributes, ...children) => {
    const node = make(tag);
    if (tag === 'button') setAttribute(node, 'type', tag);
    each(keys(attributes), (name) => {
      const value = attributes[name];
      if (name === 'text') setText(node, value);
      else if (name[0] === '@') on(node, name.slice(1), value);
      else if (value !== null && value !== false) setAttribute(node, name, value === true ? '' : value);
    });
    each(children, (child) => child && append(node, child));
    return node;
  };
  /** Not the array's own methods: those of the page would see nodes. */
  const first = (list, test) => { for (let i = 0; i < list.length; i += 1) if (test(list[i])) return list[i]; };
  const each = (list, act) => { for (let i = 0; i < list.length; i += 1) act(list[i], i); };
  const toggle = (node, name, on) => (on ? setAttribute(node, name, '') : removeAttribute(node, name));
  const hide = (node, on) => toggle(node, 'hidden', on);
  const place = (node, left, top) => { const style = declared(node); setProperty(style, 'left', `${round(left)}px`); setProperty(style, 'top', `${round(top)}px`); return style; };
  const resize = (style, width, height) => { setProperty(style, 'width', `${width}px`); setProperty(style, 'height', `${height}px`); return style; };
  const icon = (path) => {
    const svg = makeNS('http://www.w3.org/2000/svg', 'svg');
    setAttribute(svg, 'viewBox', '0 0 24 24');
    setAttribute(svg, 'aria-hidden', 'true');
    const line = makeNS('http://www.w3.org/2000/svg', 'path');
    setAttribute(line, 'd', path);
    append(svg, line);
    return svg;
  };
  const squeeze = (text) => text.replace(/\s+/g, ' ').trim();
  const cut = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`);
  const size = (text) => [...text].length;
  const calm = () => media('(prefers-reduced-motion: reduce)').matches;

  // Naming an element
  const FIELDS = 'input, select, textarea';
  const SKIPPED = 'script, style, template, noscript, br, option';

  /** `button.primary "Save"`; never what somebody typed into a field. */
  const describeElement = (node) => {
    let name = nameOf(node);
    if (idOf(node)) name += `#${idOf(node)}`;
    const classes = classOf(node);
    for (let i = 0; i < classes.length && i < 3; i += 1) name += `.${classes[i]}`;
    const words = getAttribute(node, 'aria-label') || getAttribute(node, 'alt') || getAttribute(node, 'placeholder')
      || (matches(node, FIELDS) ? getAttribute(node, 'name') : textOf(node).slice(0, 2000)) || '';
    const text = cut(squeeze(words), 60);
    return cut(text ? `${cut(name, 400)} "${text}"` : name, LIMITS.element);
  };

  /** An id that a person chose, not a counter or a hash. */
  const stable = (id) => /^[A-Za-z][\w-]{0,63}$/.test(id) && !/\d{4}|[0-9a-f]{8}|[-_]r?\d+$/i.test(id);
  const unique = (selector) => { try { return findAll(selector).length === 1; } catch { return false; } };

  /** A selector for this element alone: by position below the nearest lasting id. */
  const pathOf = (node) => {
    let path = '';
    for (let at = node; at; at = parentOf(at)) {
      const id = idOf(at);
      const own = stable(id) && unique(`#${escape(id)}`);
      let step = own ? `#${escape(id)}` : escape(nameOf(at));
      if (!own && parentOf(at) && at !== bodyElement()) {
        let before = 0, after = 0;
        for (let other = previousOf(at); other; other = previousOf(other)) if (nameOf(other) === nameOf(at)) before += 1;
        for (let other = nextOf(at); other && !after; other = nextOf(other)) if (nameOf(other) === nameOf(at)) after += 1;
        if (before || after) step += `:nth-of-type(${before + 1})`;
      }
      const longer = path ? `${step} > ${path}` : step;
      if (longer.length > LIMITS.element_path) break;
      path = longer;
      if (own || at === bodyElement()) break;
    }
    return unique(path) ? path : null;
  };

  // Finding it again
  /** The text below an element without white space, and where each node begins in it. */
  const readText = (top) => {
    const nodes = [], starts = [];
    let text = '';
    const walk = walker(top, NodeFilter.SHOW_TEXT);
    for (let node = nextNode(walk); node && text.length < 2e6; node = nextNode(walk)) {
      const parent = parentOf(node);
      if (parent && matches(parent, SKIPPED)) continue;
      nodes[nodes.length] = node;
      starts[starts.length] = text.length;
      text += fold(textOf(node));
    }
    return { text, nodes, starts };
  };
  const fold = (text) => text.replace(/\s+/g, '').toLowerCase();

  const pointIn = (read, at) => {
    let low = read.starts.length - 1;
    while (read.starts[low] > at) low -= 1;
    const node = read.nodes[low];
    const raw = textOf(node);
    let left = at - read.starts[low], offset = 0;
    while (offset < raw.length && (/\s/.test(raw[offset]) || left > 0)) { if (!/\s/.test(raw[offset])) left -= 1; offset += 1; }
    return { node, offset };
  };

  const rangeOf = (top, wanted) => {
    const needle = fold(wanted);
    if (!needle) return null;
    const read = readText(top);
    const at = read.text.indexOf(needle);
    if (at < 0) return null;
    const from = pointIn(read, at), to = pointIn(read, at + needle.length - 1);
    const range = new Range();
    range.setStart(from.node, from.offset);
    range.setEnd(to.node, min(to.offset + 1, textOf(to.node).length));
    return range;
  };

  /** The place of a comment on this page: {node, range}, or null when it is gone. */
  const locate = (item) => {
    let node = null;
    try { node = item.element_path && find(item.element_path); } catch { /* not a selector */ }
    if (node === host) node = null;
    if (item.selected_text) {
      const range = (node && rangeOf(node, item.selected_text)) || (bodyElement() && rangeOf(bodyElement(), item.selected_text));
      return range && { node, range };
    }
    if (!node) return null;
    // Positions shift: another kind of element with other words is not what was meant.
    const [then, today] = [item.element || '', describeElement(node)];
    const head = (text) => text.split(' "')[0];
    const words = (text) => text.slice(head(text).length);
    return then && head(then) !== head(today) && (!words(then) || words(then) !== words(today)) ? null : { node };
  };

  // The server
  const pageUrl = () => {
    const url = new URL(location.href);
    url.hash = '';
    if (url.searchParams.has('t')) url.searchParams.delete('t');
    if (url.href.length > LIMITS.page_url) url.search = '';
    return url.href.slice(0, LIMITS.page_url);
  };
  /** A page has several addresses; the path below the root is the same. */
  const pagePath = (address) => {
    try {
      return decodeURI(new URL(address).pathname).replace(/^\/(p|s)\/[^/]+\//, '/').replace(/\/index\.html?$/, '/');
    } catch { return null; }
  };

  // What this browser wrote: the secrets that prove it, and the name last used. Kept in the page's own storage.
  const KEY = `dropleaf-feedback ${new URL(ENDPOINT).pathname}`;
  const MOST_TOKENS = 50;
  const mine = { name: '', tokens: [] }; // tokens: newest first, each `ID:SECRET`
  const recall = () => {
    let kept = null;
    try { kept = parse(getItem(storage, KEY)); } catch { /* no storage, or not ours */ }
    if (!kept || typeof kept !== 'object') return;
    if (typeof kept.name === 'string') mine.name = cut(kept.name, LIMITS.name);
    each(`${kept.tokens}`.split(' '), (pair) => { if (/^fb_[a-z0-9]{20}:[\w-]{1,64}$/.test(pair) && !includes(mine.tokens, pair)) mine.tokens[mine.tokens.length] = pair; });
    mine.tokens.length = min(mine.tokens.length, MOST_TOKENS);
  };
  const remember = (id, token) => {
    const name = mine.name;
    recall(); // another tab may have added some
    mine.name = name;
    if (token) mine.tokens = slice([`${id}:${token}`, ...mine.tokens], 0, MOST_TOKENS);
    try { setItem(storage, KEY, stringify({ name: mine.name, tokens: join(mine.tokens, ' ') })); } catch { /* kept for this page only */ }
  };

  const ask = async (init, path = '') => {
    const control = new AbortController();
    const timer = later(() => control.abort(), 15000);
    const answer = { status: 0, body: null, wait: 0 };
    try {
      if (mine.tokens.length) init.headers['feedback-tokens'] = join(mine.tokens, ' ');
      const response = await fetch(ENDPOINT + path, { mode: 'same-origin', credentials: 'same-origin', referrerPolicy: 'same-origin', cache: 'no-store', redirect: 'error', signal: control.signal, ...init });
      answer.status = response.status;
      const wait = response.headers.get('retry-after');
      if (wait) answer.wait = max(0, /^\d+$/.test(wait) ? +wait : round((Date.parse(wait) - now()) / 1000)) || 0;
      const text = await response.text();
      try { answer.body = parse(text); } catch { /* not JSON */ }
    } catch {
      answer.status = 0;
      answer.late = control.signal.aborted;
    }
    forget(timer);
    return answer;
  };

  const explain = (answer) => {
    const said = answer.body && typeof answer.body.error_description === 'string' ? cut(squeeze(answer.body.error_description), 300) : '';
    if (answer.late) return 'The server did not respond in time.';
    if (answer.status === 0) return navigator.onLine === false ? 'You are offline.' : 'The server could not be reached.';
    if (answer.status < 400) return 'The server sent an invalid response.';
    const wait = answer.wait > 90 ? `${round(answer.wait / 60)} minutes` : `${answer.wait} ${answer.wait === 1 ? 'second' : 'seconds'}`;
    return (said || `The server rejected the request (${answer.status}).`) + (answer.wait ? ` Try again in ${wait}.` : '');
  };

  /** What a server says, checked: kinds, lengths, known words. */
  const checked = (raw) => {
    if (!raw || typeof raw.id !== 'string' || typeof raw.comment !== 'string') return null;
    const item = { id: raw.id, created_at: +raw.created_at || 0 };
    each(keys(LIMITS), (name) => { item[name] = typeof raw[name] === 'string' ? cut(raw[name], LIMITS[name] * 2) : ''; });
    item.intent = keys(INTENTS).find((word) => word === raw.intent);
    item.severity = keys(SEVERITIES).find((word) => word === raw.severity);
    item.state = STATES.find((word) => word === raw.state) || 'open';
    item.resolved = item.state === 'resolved';
    item.own = raw.is_own === true;
    item.answers = raw.can_reply === true;
    item.replies = [];
    for (let i = 0; raw.replies && i < raw.replies.length && i < 60; i += 1) { const reply = checkedReply(raw.replies[i]); if (reply) item.replies[item.replies.length] = reply; }
    item.reply_count = max(+raw.reply_count || 0, item.replies.length);
    return item;
  };
  const checkedReply = (raw) => (raw && typeof raw.text === 'string' ? {
    author: keys(AUTHORS).find((word) => word === raw.author) || 'viewer',
    name: typeof raw.name === 'string' ? squeeze(cut(raw.name, LIMITS.name)) : '',
    text: cut(raw.text, LIMITS.comment * 2),
    reopens: raw.reopens === true,
    created_at: +raw.created_at || 0,
  } : null);

  // State
  let items = []; // comments: those of this page first
  let view = ''; // '', list, form, thread, pick
  let talk = null; // the id of the comment whose thread is open
  let wanted = (/^#dropleaf-feedback=(fb_[a-z0-9]{20})$/.exec(location.hash) || [])[1]; // the owner's dashboard asks to show it
  let target = null; // commented on: {node, range, text}, all empty for the whole page
  let chosen = null; // the text selected last: {range, text}
  let hovered = null;
  let lit = null; // the place that is highlighted: {node, range}
  let litTimer = 0;
  let sending = false;
  let failed = '';
  let loaded = '';
  let current = null; // the id of the comment last gone to
  let markersOn = true;
  let rows = []; // of the list as it is drawn: {id, at}
  let mounts = 0;
  let narrow = false; // as wide as a phone

  // Parts
  const live = h('p', { class: 'unseen', role: 'status' });
  const count = h('span', { class: 'count', 'aria-hidden': 'true', hidden: true });
  const pill = h('button', { class: 'pill', '@click': () => open() },
    icon('M21 3H11.500A9.5 9.5 0 1 0 21 12.500ZM2 22 16.5 7.5'), h('span', { text: 'Feedback' }), count);
  const heading = h('h2', { id: 'title', tabindex: '-1', text: 'Feedback' });
  const back = h('button', { class: 'plain back', 'aria-label': 'Back to comments', '@click': () => open() }, icon('m15 5-7 7 7 7'));
  const shut = h('button', { class: 'plain', 'aria-label': 'Close feedback', '@click': () => close() }, icon('m6 6 12 12M18 6 6 18'));
  const pickButton = h('button', { class: 'act', '@click': () => startPicking() }, icon('M5 3v15l4.2-4 2.8 6.5 2.6-1.100L11.8 13H18Z'), h('span', { text: 'Pick an element' }));
  const textButton = h('button', { class: 'act', hidden: true, '@click': () => commentOnText() }, icon('M4 6h16M4 12h10M4 18h7'), h('span', { text: 'Selected text' }));
  const pageButton = h('button', { class: 'act quiet', '@click': () => write({}) }, icon('M6 3h8l4 4v14H6Z'), h('span', { text: 'Entire page' }));
  const draftButton = h('button', { class: 'draft', hidden: true, text: 'Continue your unsent comment', '@click': () => write(target) });
  const note = h('p', { class: 'note', hidden: true });
  const lists = h('div', { class: 'lists' });
  const markersBox = h('input', { type: 'checkbox', '@change': () => { markersOn = isChecked(markersBox); schedule(); } });
  setChecked(markersBox, true);
  const foot = h('label', { class: 'foot', hidden: true }, markersBox, h('span', { text: 'Show markers on the page' }));
  const listView = h('div', { class: 'view list' }, h('p', { class: 'lead', text: 'Comment on:' }), h('div', { class: 'acts' }, pickButton, textButton, pageButton), draftButton, note, lists, foot);

  const subject = h('p', { class: 'subject', id: 'subject' });
  const field = h('textarea', { id: 'comment', rows: '5', 'aria-describedby': 'subject left problem', placeholder: 'What should change? What is unclear?', '@input': () => showLeft(), '@keydown': (event) => {
    if (keyOf(event) === 'Enter' && (ctrlOf(event) || metaOf(event))) { prevent(event); send(); }
  } });
  const left = h('span', { id: 'left', class: 'left' });
  const choices = (name, words, first) => {
    const group = h('fieldset', {}, h('legend', { text: name === 'intent' ? 'What kind of comment is it?' : 'How important is it?' }));
    const row = h('div', { class: 'chips' });
    let value = first;
    each(keys(words), (word) => {
      const input = h('input', { type: 'radio', name, '@change': () => { value = word; showChoices(); } });
      setChecked(input, word === first);
      append(row, h('label', { class: `chip ${word}` }, input, h('span', { text: words[word] })));
    });
    append(group, row);
    return { group, value: () => value };
  };
  const intent = choices('intent', INTENTS, 'change');
  const severity = choices('severity', SEVERITIES, 'suggestion');
  const problem = h('p', { class: 'problem', id: 'problem', role: 'alert' });
  const sendButton = h('button', { class: 'send', text: 'Send comment', '@click': () => send() });
  const formView = h('div', { class: 'view form' }, subject,
    h('div', { class: 'label' }, h('label', { for: 'comment', text: 'Comment' }), left), field, intent.group, severity.group, problem, sendButton,
    h('p', { class: 'small', text: 'Anyone who can open this page can read your comment.' }));

  const said = h('div', {});
  const answer = h('textarea', { id: 'answer', rows: '3', 'aria-describedby': 'answer-problem', '@keydown': (event) => {
    if (keyOf(event) === 'Enter' && (ctrlOf(event) || metaOf(event))) { prevent(event); sendReply(); }
  } });
  const nameField = h('input', { id: 'name', type: 'text', maxlength: String(LIMITS.name), autocomplete: 'off' });
  const againBox = h('input', { type: 'checkbox' });
  const again = h('label', { class: 'foot', hidden: true }, againBox, h('span', { text: 'Still a problem: reopen the comment' }));
  const answerProblem = h('p', { class: 'problem', id: 'answer-problem', role: 'alert' });
  const answerButton = h('button', { class: 'send', text: 'Send reply', '@click': () => sendReply() });
  const composer = h('div', {},
    h('div', { class: 'label' }, h('label', { for: 'answer', text: 'Your reply' })), answer,
    h('div', { class: 'label' }, h('label', { for: 'name', text: 'Your name (optional)' })), nameField, again, answerProblem, answerButton);
  const threadView = h('div', { class: 'view thread' }, said, composer);
  const panel = h('section', { class: 'panel', role: 'dialog', 'aria-labelledby': 'title' }, h('header', {}, back, heading, shut), listView, formView, threadView);

  const tag = h('span', { class: 'tag', hidden: true });
  const boxes = h('div', { 'aria-hidden': 'true' });
  const markers = h('div', { class: 'markers', 'aria-hidden': 'true' });
  const pickHelp = h('p', { id: 'pick-help' }, h('span', { class: 'mouse', text: 'Pick an element' }), h('span', { class: 'keys', text: 'arrow keys to move, Enter to select, Escape to cancel' }));
  const cover = h('div', { class: 'cover', tabindex: '0', role: 'application', 'aria-label': 'Pick an element on the page', 'aria-describedby': 'pick-help' });
  const pickBar = h('div', { class: 'pickbar' }, pickHelp, h('button', { class: 'link', tabindex: '-1', text: 'Cancel', '@click': () => open() }));
  const bubble = h('button', { class: 'bubble', hidden: true, text: 'Comment', '@pointerdown': (event) => prevent(event), '@mousedown': (event) => prevent(event), '@click': () => commentOnText() });
  const stage = h('div', { class: 'stage' }, pickBar, panel, pill);
  const all = h('div', { class: 'all', 'data-view': '' }, boxes, markers, tag, cover, bubble, stage, live);

  // Views
  const say = (text) => { setText(live, ''); later(() => setText(live, text), 60); };

  const change = (next) => {
    view = next;
    setAttribute(all, 'data-view', next);
    hide(bubble, true);
    setText(heading, next === 'form' ? 'New comment' : next === 'thread' ? 'Thread' : 'Feedback');
    if (next !== 'thread') talk = null;
    if (next !== 'pick') hovered = null;
    follow();
    schedule();
  };

  const open = () => {
    unlight();
    hide(textButton, !selected());
    hide(draftButton, !valueOf(field).trim());
    notify('', '');
    change('list');
    render();
    load();
    focus(heading);
  };
  const close = () => { unlight(); change(''); focus(pill); };

  const write = (what) => {
    target = what || {};
    const words = target.text ? `“${cut(squeeze(target.text), 160)}”` : target.node ? describeElement(target.node) : 'Entire page';
    setText(subject, words);
    toggle(subject, 'data-quote', target.text);
    light(target, true);
    if (narrow) goTo(target);
    setText(problem, failed);
    showLeft();
    showChoices();
    change('form');
    focus(field);
  };

  const showLeft = () => {
    const used = size(valueOf(field).trim());
    setText(left, `${used} / ${LIMITS.comment}`);
    toggle(left, 'data-over', used > LIMITS.comment);
    if (used && failed) { failed = ''; setText(problem, ''); }
  };
  const showChoices = () => hide(severity.group, intent.value() === 'approve');

  const fail = (text, wrong) => {
    failed = text;
    setText(problem, text);
    if (wrong) { setAttribute(field, 'aria-invalid', 'true'); focus(field); } else removeAttribute(field, 'aria-invalid');
  };

  const send = async () => {
    if (sending) return;
    const comment = valueOf(field).trim();
    const used = size(comment);
    if (!used) return fail('Write a comment first.', true);
    if (used > LIMITS.comment) return fail(`Please shorten it by ${used - LIMITS.comment} ${used - LIMITS.comment === 1 ? 'character' : 'characters'}.`, true);
    fail('', false);
    sending = true;
    toggle(field, 'readonly', true);
    setText(sendButton, 'Sending…');
    setAttribute(sendButton, 'aria-disabled', 'true');
    const node = target.node && connected(target.node) ? target.node : null;
    const body = create(null);
    body.comment = comment;
    body.element = node && describeElement(node);
    body.element_path = node && pathOf(node);
    body.selected_text = target.text ? target.text.trim().slice(0, LIMITS.selected_text).replace(/[\ud800-\udbff]$/, '') : null;
    body.page_url = pageUrl();
    body.intent = intent.value();
    body.severity = body.intent === 'approve' ? null : severity.value();
    const answer = await ask({ method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: stringify(body) });
    sending = false;
    toggle(field, 'readonly', false);
    setText(sendButton, 'Send comment');
    removeAttribute(sendButton, 'aria-disabled');
    const made = answer.status === 201 && checked(answer.body);
    if (!made) {
      fail(`${explain(answer)} Your comment is still here.`, false);
      setText(sendButton, 'Send again');
      return;
    }
    setValue(field, '');
    target = null;
    current = made.id;
    if (typeof answer.body.viewer_token === 'string') remember(made.id, answer.body.viewer_token);
    // The server's own list may already hold it.
    const others = [];
    each(items, (item) => { if (item.id !== made.id) others[others.length] = item; });
    others[others.length] = made;
    items = others;
    arrange();
    unlight();
    hide(draftButton, true);
    hide(textButton, true);
    chosen = null;
    if (view === 'form') { change('list'); focus(heading); }
    render();
    const thanks = 'Comment sent. Thank you.';
    say(thanks);
    notify(thanks, 'good');
  };

  // A thread
  const openThread = (item) => {
    change('thread');
    talk = item.id;
    setValue(answer, '');
    setLine(nameField, mine.name);
    setChecked(againBox, false);
    setText(answerProblem, '');
    drawThread();
    focus(heading);
    if (item.spot) light(item.spot, true);
  };
  const nameOfAuthor = (reply) => (reply.author === 'viewer' ? (reply.name ? `${plain(reply.name)} (viewer)` : AUTHORS.viewer) : AUTHORS[reply.author]);
  const drawThread = () => {
    const item = first(items, (one) => one.id === talk);
    if (!item) return open(); // deleted, or no longer shown to this viewer
    const list = h('ol', { class: 'replies', 'aria-label': 'Replies' });
    const hidden = item.reply_count - item.replies.length;
    if (hidden > 0) append(list, h('li', { class: 'stale', text: `${hidden} earlier replies are not shown.` }));
    each(item.replies, (reply) => append(list, h('li', { class: `reply ${reply.author}` },
      h('p', { class: 'meta' }, h('span', { class: 'intent', text: nameOfAuthor(reply) }), reply.reopens && h('span', { text: 'reopened' }), h('span', { class: 'time', text: ago(reply.created_at) })),
      h('p', { class: 'words', dir: 'auto', text: plain(reply.text) }))));
    replace(said,
      h('p', { class: 'meta' }, stateOf(item), h('span', { class: 'intent', text: item.own ? 'Your comment' : 'Comment' }), h('span', { class: 'time', text: ago(item.created_at) })),
      h('p', { class: 'words', dir: 'auto', text: plain(item.comment) }), list);
    hide(again, !item.resolved);
    hide(composer, !item.answers);
  };
  const stateOf = (item) => (item.state === 'open' ? '' : h('b', { class: `state ${item.state}`, text: item.resolved ? 'Resolved' : 'Reopened' }));

  const sendReply = async () => {
    if (sending || !talk) return;
    const [id, text] = [talk, valueOf(answer).trim()];
    const used = size(text);
    const wrong = !used ? 'Write a reply first.' : used > LIMITS.comment ? `Please shorten it by ${used - LIMITS.comment} characters.` : '';
    setText(answerProblem, wrong);
    if (wrong) { setAttribute(answer, 'aria-invalid', 'true'); return focus(answer); }
    removeAttribute(answer, 'aria-invalid');
    sending = true;
    mine.name = lineOf(nameField).trim();
    setText(answerButton, 'Sending…');
    setAttribute(answerButton, 'aria-disabled', 'true');
    const body = create(null);
    body.text = text;
    body.name = mine.name || null;
    body.still_a_problem = isChecked(againBox);
    const got = await ask({ method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: stringify(body) }, `/${id}/replies`);
    sending = false;
    setText(answerButton, 'Send reply');
    removeAttribute(answerButton, 'aria-disabled');
    const reply = got.status === 201 && got.body && checkedReply(got.body.reply);
    if (!reply) return setText(answerProblem, `${explain(got)} Your reply is still here.`);
    remember('', '');
    const item = first(items, (one) => one.id === id);
    if (item) {
      item.replies[item.replies.length] = reply;
      item.reply_count += 1;
      item.state = STATES.find((word) => word === got.body.state) || item.state;
      item.resolved = item.state === 'resolved';
    }
    if (talk === id) { setValue(answer, ''); setChecked(againBox, false); focus(heading); }
    say(reply.reopens ? 'Reply sent. The comment is open again.' : 'Reply sent.');
    arrange();
    render();
  };

  const notify = (text, kind) => { setText(note, text); setAttribute(note, 'class', `note ${kind}`); hide(note, !text); };

  // The list
  const load = async () => {
    const answer = await ask({ headers: { accept: 'application/json' } });
    const raw = answer.status === 200 && answer.body && answer.body.feedback;
    if (!raw || typeof raw !== 'object' || !(raw.length >= 0)) {
      loaded = explain(answer);
    } else {
      loaded = 'ok';
      const next = [];
      for (let i = 0; i < raw.length && next.length < 500; i += 1) { const item = checked(raw[i]); if (item) next[next.length] = item; }
      items = next;
    }
    arrange();
    render();
    if (wanted && loaded === 'ok') showWanted();
  };

  /** Shows the comment that the dashboard names in the address, once. */
  const showWanted = () => {
    const item = first(items, (one) => one.id === wanted);
    wanted = null;
    setAddress(history.state, '', location.pathname + location.search);
    change('list');
    render();
    if (!item) return notify('That comment is resolved or deleted.', '');
    visit(item);
    if (item.spot) light(item.spot, true);
    if (item.node) focus(item.node);
  };

  const arrange = () => {
    const here = pagePath(location.href);
    each(items, (item) => { item.here = !item.page_url || pagePath(item.page_url) === here; });
    sort(items, (a, b) => (a.here === b.here ? a.created_at - b.created_at : a.here ? -1 : 1));
    seek();
  };
  const seek = () => {
    each(items, (item) => {
      item.anchored = !!(item.element_path || item.selected_text || item.element);
      item.spot = item.here && item.anchored && !item.resolved ? locate(item) : null;
    });
  };

  const ago = (at) => {
    const minutes = round((now() / 1000 - at) / 60);
    if (!at) return '';
    return minutes < 1 ? 'just now' : minutes < 60 ? `${minutes} min ago` : minutes < 1440 ? `${round(minutes / 60)} h ago` : `${round(minutes / 1440)} d ago`;
  };
  // Control characters draw nothing and may hide what follows.
  const plain = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '');

  const row = (item, number) => {
    const where = item.selected_text ? `“${cut(squeeze(plain(item.selected_text)), 90)}”` : cut(squeeze(plain(item.element || item.element_path || '')), 90);
    const words = h('p', { class: 'words', dir: 'auto', text: plain(item.comment) });
    const meta = h('p', { class: 'meta' },
      h('span', { class: `leaf ${item.severity || 'none'}`, 'aria-hidden': 'true', text: item.here && !item.resolved ? String(number) : '·' }),
      stateOf(item),
      item.intent && h('span', { class: 'intent', text: INTENTS[item.intent] }),
      item.severity && h('span', { class: `severity ${item.severity}`, text: SEVERITIES[item.severity] }),
      h('span', { class: 'time', text: ago(item.created_at) }));
    let at = null;
    if (!item.here) {
      let link = null;
      try { const url = new URL(item.page_url); if (url.origin === location.origin) link = url.href; } catch { /* not an address */ }
      const path = cut(plain(pagePath(item.page_url) || 'another page'), 80);
      at = link ? h('a', { class: 'where', href: link, text: path }) : h('span', { class: 'where', text: path });
    } else if (item.resolved) {
      at = h('span', { class: 'where', text: where || 'Entire page' });
    } else if (item.anchored && !item.spot) {
      at = h('p', { class: 'stale' }, h('b', { text: 'Outdated' }), h('span', { text: ` no longer on this page: ${where}` }));
    } else if (item.spot) {
      at = h('button', { class: 'where', 'aria-label': `Show on the page: ${where}`, text: where, '@click': () => visit(item) });
    } else {
      at = h('span', { class: 'where', text: 'Entire page' });
    }
    const last = item.replies[item.replies.length - 1];
    const more = item.answers && h('button', { class: 'link', 'aria-label': `${item.reply_count ? `Replies: ${item.reply_count}` : 'Reply'}, ${cut(squeeze(plain(item.comment)), 60)}`, text: item.reply_count ? `${item.reply_count} ${item.reply_count === 1 ? 'reply' : 'replies'}` : 'Reply', '@click': () => openThread(item) });
    item.node = h('li', { class: item.id === current ? 'item current' : 'item', tabindex: '-1' }, meta, words, at,
      last && h('p', { class: `last ${last.author}` }, h('b', { text: nameOfAuthor(last) }), h('span', { dir: 'auto', text: ` ${cut(squeeze(plain(last.text)), 160)}` })), more);
    rows[rows.length] = { id: item.id, at, more };
    return item.node;
  };

  const render = () => {
    let total = 0;
    each(items, (item) => { if (!item.resolved) total += 1; });
    setText(count, total > 99 ? '99+' : String(total));
    hide(count, !total);
    setAttribute(pill, 'aria-label', total ? `Feedback, open comments: ${total}` : 'Feedback');
    if (view === 'thread') drawThread();
    if (view === 'list') {
      const trouble = loaded && loaded !== 'ok';
      if (trouble) notify(`The comments could not be loaded. ${loaded}`, 'bad');
      else if (getAttribute(note, 'class') === 'note bad') notify('', '');
      const here = h('ol', {}), there = h('ol', {}), done = h('ol', {}), active = activeOf(root), before = rows;
      let near = 0, far = 0, over = 0;
      rows = [];
      each(items, (item) => {
        if (item.resolved) append(done, row(item, (over += 1)));
        else if (item.here) append(here, row(item, (near += 1)));
        else append(there, row(item, (far += 1)));
      });
      replace(lists);
      const part = (title, number, list) => { if (number) { append(lists, h('h3', { text: `${title} · ${number}` })); append(lists, list); } };
      part('On this page', near, here);
      part('On other pages', far, there);
      part('Resolved', over, done);
      if (!total && loaded === 'ok') append(lists, h('p', { class: 'empty', text: over ? 'No open comments.' : 'No open comments. Be the first to comment.' }));
      hide(foot, !near);
      // Keeps the focus on a comment when the list is redrawn.
      each(before, (old) => each(rows, (row) => {
        if (row.id !== old.id || !active) return;
        if (old.at === active) focus(row.at);
        else if (old.more === active && row.more) focus(row.more);
      }));
    }
    replace(markers);
    let number = 0;
    each(items, (item) => {
      item.dot = null;
      if (item.here && !item.resolved) item.number = number += 1;
      if (!item.spot) return;
      item.dot = h('button', { class: 'dot', tabindex: '-1', '@click': () => visitGroup(item) });
      append(markers, item.dot);
    });
    schedule();
  };

  /** A marker of several comments leads to each of them in turn. */
  const visitGroup = (lead) => {
    const group = lead.group || [lead];
    let next = 0;
    each(group, (item, index) => { if (item.id === current) next = (index + 1) % group.length; });
    if (view !== 'list') open();
    visit(group[next], true);
  };

  /** On a phone the sheet covers the lower half. */
  const goTo = (spot) => {
    const start = spot.range ? parentOf(spot.range.startContainer) : spot.node;
    if (start) scrollTo(start, { block: narrow ? 'start' : 'center', inline: 'nearest', behavior: calm() ? 'auto' : 'smooth' });
  };

  /** Goes to the place of a comment, or from its marker to the comment. */
  const visit = (item, fromMarker) => {
    current = item.id;
    each(items, (one) => one.node && setAttribute(one.node, 'class', one === item ? 'item current' : 'item'));
    if (fromMarker && item.node) { scrollTo(item.node, { block: 'nearest' }); focus(item.node); }
    const spot = item.spot;
    if (!spot) return;
    if (!fromMarker) goTo(spot);
    light(spot, false);
    if (!fromMarker) say('Shown on the page.');
  };

  // Drawing over the page
  const NEAR = 26; // the width of a marker
  let drawn = false;
  const schedule = () => { if (!drawn) { drawn = true; frame(draw); } };

  const light = (what, stay) => {
    forget(litTimer);
    lit = what && (what.node || what.range) ? what : null;
    if (lit && !stay) litTimer = later(unlight, 3500);
    schedule();
  };
  const unlight = () => { forget(litTimer); lit = null; schedule(); };

  const placesOf = (what) => {
    if (!what.range) return what.node && connected(what.node) ? [boxOf(what.node)] : [];
    const rects = rectsOf(what.range), out = [];
    for (let i = 0; i < rects.length && i < 60; i += 1) if (rects[i].width > 0) out[out.length] = rects[i];
    return out;
  };

  /** What can be seen of the layout viewport: on a phone a page that is too wide, or zoomed, has only a part on the screen. */
  const area = () => {
    const [left, top, width, height] = visual ? [leftOf, topOf, wideOf, highOf].map((of) => of(visual)) : [0, 0, window.innerWidth, window.innerHeight];
    return { left, top, width, height, right: left + width, bottom: top + height };
  };

  /** Lays the stage over it. A page that is shown smaller does not shrink the toolbar; zooming in enlarges it while it fits. */
  const fit = () => {
    const at = area(), scale = visual ? scaleOf(visual) : 1;
    const factor = scale < 1 ? 1 / scale : min(1, at.width / 300);
    const style = resize(place(stage, at.left, at.top), at.width / factor, at.height / factor);
    setProperty(style, 'transform', `scale(${factor})`);
    narrow = at.width / factor <= 560;
    toggle(all, 'data-narrow', narrow);
    return at;
  };

  const draw = () => {
    drawn = false;
    const at = fit();
    const [wide, high] = [window.innerWidth, window.innerHeight];
    const what = view === 'pick' ? hovered && { node: hovered } : lit;
    const places = what ? placesOf(what) : [];
    replace(boxes);
    each(places, (at) => {
      const box = h('div', { class: what.range ? 'box text' : 'box' });
      resize(place(box, at.left - 3, at.top - 3), at.width + 6, at.height + 6);
      append(boxes, box);
    });
    const naming = view === 'pick' && places.length > 0;
    hide(tag, !naming);
    if (naming) {
      setText(tag, cut(describeElement(hovered), 80));
      const above = places[0].top - 34;
      place(tag, max(at.left + 6, min(places[0].left - 3, at.right - widthOf(tag) - 6)), above > at.top + 52 ? above : min(places[0].bottom + 8, at.bottom - 32));
    }
    // A closed toolbar covers nothing.
    hide(markers, !markersOn || !view || view === 'pick');
    // Markers that would overlap become one, with their number.
    const groups = [];
    each(items, (item) => {
      if (!item.dot || !item.spot) return;
      hide(item.dot, true);
      if (!markersOn || !view) return;
      const at = placesOf(item.spot)[0];
      const seen = at && (at.width || at.height) && at.bottom > -20 && at.top < high + 20 && at.right > 0 && at.left < wide;
      if (!seen) return;
      const [x, y] = item.spot.range ? [at.left - 12, at.top - 24] : [at.right - 14, at.top - 12];
      const [left, top] = [max(2, min(x, wide - 32)), max(2, y)];
      let group = null;
      each(groups, (one) => { if (!group && abs(one.left - left) < NEAR && abs(one.top - top) < NEAR) group = one; });
      if (group) group.items[group.items.length] = item;
      else groups[groups.length] = { left, top, items: [item] };
    });
    each(groups, ({ left, top, items: group }) => {
      const lead = group[0], many = group.length;
      lead.group = group;
      const worst = keys(SEVERITIES).find((word) => first(group, (item) => item.severity === word)) || 'none';
      setAttribute(lead.dot, 'class', `dot ${worst}${many > 1 ? ' many' : ''}`);
      setText(lead.dot, String(many > 1 ? many : lead.number));
      toggle(lead.dot, 'title', false);
      if (many > 1) setAttribute(lead.dot, 'title', `${many} comments`);
      hide(lead.dot, false);
      place(lead.dot, left, top);
    });
  };

  // Picking
  const ACCEPT = 1, REJECT = 2, SKIP = 3;
  const visible = (node) => {
    if (matches(node, SKIPPED)) return REJECT;
    const box = boxOf(node);
    return box.width > 1 && box.height > 1 && styleOf(node).visibility !== 'hidden' ? ACCEPT : SKIP;
  };
  /** The element that `way` leads to, among those that can be seen. */
  const step = (way) => {
    const walk = walker(bodyElement(), NodeFilter.SHOW_ELEMENT, visible);
    if (hovered) setCurrent(walk, hovered);
    return way(walk);
  };

  const hover = (node, aloud) => {
    if (!node || node === hovered) return;
    hovered = node;
    if (aloud) {
      scrollTo(node, { block: 'nearest', behavior: 'auto' });
      say(describeElement(node));
    }
    schedule();
  };

  const startPicking = () => {
    unlight();
    change('pick');
    focus(cover);
  };
  const choose = (node) => node && write({ node });

  const under = (event) => {
    const stack = atPoint(xOf(event), yOf(event));
    for (let i = 0; i < stack.length; i += 1) if (stack[i] !== host) return stack[i];
    return null;
  };
  on(cover, 'pointermove', (event) => hover(under(event), false));
  on(cover, 'click', (event) => { prevent(event); choose(under(event)); });
  on(cover, 'keydown', (event) => {
    const key = keyOf(event);
    const way = key === 'Tab' ? (shiftOf(event) ? previousNode : nextNode) : WAYS[key];
    if (way) hover(step(way), true);
    else if (key === 'Enter' || key === ' ') choose(hovered);
    else return;
    prevent(event);
  });

  // Selected text
  const selected = () => (chosen && chosen.range && !chosen.range.collapsed && connected(chosen.range.startContainer) ? chosen : null);
  const commentOnText = () => {
    const what = selected();
    if (!what) return;
    const top = what.range.commonAncestorContainer;
    write({ node: top.nodeType === 1 ? top : parentOf(top), range: what.range, text: what.text });
  };

  let selectTimer = 0;
  on(document, 'selectionchange', () => {
    forget(selectTimer);
    selectTimer = later(() => {
      const active = activeElement();
      if (active === host || view === 'form' || view === 'pick') return;
      const now = selection();
      const text = now && now.rangeCount && !now.isCollapsed && !(active && matches(active, FIELDS)) ? now.toString().trim() : '';
      if (!text) { chosen = null; hide(bubble, true); hide(textButton, true); return; }
      const range = now.getRangeAt(0).cloneRange();
      chosen = { range, text };
      hide(textButton, view !== 'list');
      const rects = rectsOf(range);
      const last = rects[rects.length - 1];
      if (!last || view) return;
      hide(bubble, false);
      const at = area();
      place(bubble, max(at.left + 8, min(last.right - 50, at.right - 116)), max(at.top + 8, min(last.bottom + (media('(pointer: coarse)').matches ? 34 : 8), at.bottom - 110)));
    }, 250);
  });

  // Standing in the page
  on(all, 'keydown', (event) => {
    if (keyOf(event) === 'Escape' && view) {
      if (view === 'list') close();
      else open();
    }
  });
  // What is typed here must not set off the page's own shortcuts.
  each('keydown keyup keypress input change click mousedown mouseup pointerdown pointerup touchstart touchend paste copy cut'.split(' '), (name) => on(all, name, (event) => stop(event)));
  on(window, 'scroll', () => { hide(bubble, true); schedule(); }, { capture: true, passive: true });
  on(window, 'resize', schedule);
  if (visual) each(['resize', 'scroll'], (name) => on(visual, name, schedule));
  on(window, 'load', () => refresh());
  on(window, 'online', () => { if (failed) fail('You are back online. Send your comment again.', false); });

  // Comments have changed: at most one reading in two seconds.
  let readTimer = 0, readAt = 0;
  const readAgain = () => {
    if (!readTimer) readTimer = later(() => { readTimer = 0; readAt = now(); load(); }, max(0, readAt + 2000 - now()));
  };
  on(window, 'dropleaf:feedback', readAgain);

  // An open toolbar in a visible tab follows the stream of the page itself; on a live page, live.js notifies it.
  let stream = null;
  const follow = () => {
    const wanted = EventSource && view && visibility() !== 'hidden' && !first(allScripts(), (other) => other.src && other.src.startsWith(LIVE));
    if (!wanted && stream) { endStream(stream); stream = null; }
    if (!wanted || stream) return;
    const opened = stream = new EventSource(STREAM);
    let known = false;
    // The first event of a connection: what happened before it was missed, unless the toolbar has just read the comments.
    listen(opened, 'version', () => { if (known) readAgain(); known = true; });
    listen(opened, 'feedback', readAgain);
    listen(opened, 'gone', () => endStream(opened));
  };
  on(document, 'visibilitychange', () => { const had = stream; follow(); if (stream && !had) readAgain(); });

  let refreshTimer = 0;
  const refresh = () => {
    if (!host || !connected(host)) mount();
    if (!refreshTimer && items.length) refreshTimer = later(() => {
      refreshTimer = 0;
      const found = () => { let text = ''; each(items, (item) => { text += item.spot ? 1 : 0; }); return text; };
      const before = found();
      seek();
      if (found() !== before) render(); else schedule();
    }, 400);
  };

  // The name may be taken by the page; the toolbar then stands in a plain element.
  let host = null;
  try {
    customElements.define('dropleaf-feedback', class extends HTMLElement {});
    host = make('dropleaf-feedback');
  } catch { host = make('div'); }
  const root = attach(host, { mode: 'closed' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE());
  root.adoptedStyleSheets = [sheet];
  append(root, all);
  setAttribute(host, 'popover', 'manual');

  function mount() {
    if (!rootElement() || (mounts += 1) > 40) return; // a page that insists on removing it wins
    append(rootElement(), host);
    each(wires, (wire) => wire());
    try { popover(host); } catch { /* an old browser: the z-index has to do */ }
    fit();
  }
  // A live page (live.js) asks before it reloads.
  on(window, 'dropleaf:beforeupdate', (event) => { if (view || valueOf(field).trim() || valueOf(answer).trim()) prevent(event); });
  wiring = false;
  recall();
  mount();
  new MutationObserver(refresh).observe(document, { childList: true, subtree: true, characterData: true });
  load();

  function STYLE() { return `
:host{all:initial!important;display:block!important;position:fixed!important;inset:0 auto auto 0!important;width:0!important;height:0!important;overflow:visible!important;z-index:2147483647!important;pointer-events:none!important}
@media print{:host{display:none!important}}
*,*::before,*::after{box-sizing:border-box}
[hidden]{display:none!important}
.all{--paper:#fff;--ground:#f5f7f2;--ink:#13201a;--soft:#4c5b53;--line:#d3dcd2;--edge:#8a988f;--leaf:#17633f;--on:#fff;--fold:#e3eee2;--red:#a3241a;--amber:#7d5200;--mono:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;--shade:0 6px 28px rgb(10 30 20/.2),0 1px 4px rgb(10 30 20/.16);
color-scheme:light;color:var(--ink);font:400 .9375em/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif;direction:ltr;text-align:left}
@media(prefers-color-scheme:dark){.all{--paper:#141d19;--ground:#0e1512;--ink:#e7eee8;--soft:#a3b3a9;--line:#2b3a32;--edge:#71847a;--leaf:#83d3a5;--on:#0b1a12;--fold:#1c3427;--red:#ffaaa0;--amber:#f0c36d;--shade:0 6px 28px rgb(0 0 0/.6),0 0 0 1px #2b3a32;color-scheme:dark}}
h2,h3,p,ol,fieldset,legend{margin:0;padding:0;border:0;min-width:0}
ol{list-style:none}
button,input,textarea{font:inherit;color:inherit;margin:0}
button{cursor:pointer;border:0;background:none;padding:0;text-align:inherit}
:focus-visible{outline:3px solid var(--leaf);outline-offset:2px}
h2:focus,li:focus{outline:none}
svg{width:18px;height:18px;flex:none;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.unseen{position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.pill,.panel,.cover,.pickbar,.bubble,.dot{pointer-events:auto}
.stage{position:fixed;inset:0 auto auto 0;width:100vw;height:100vh;transform-origin:0 0}
.pill{position:absolute;right:max(16px,env(safe-area-inset-right));bottom:max(16px,env(safe-area-inset-bottom));display:flex;align-items:center;gap:8px;min-height:44px;padding:0 16px 0 13px;border:1px solid var(--leaf);border-radius:22px;background:var(--leaf);color:var(--on);font-weight:600;box-shadow:var(--shade)}
[data-view=list] .pill,[data-view=form] .pill,[data-view=thread] .pill,[data-view=pick] .pill,.all:not([data-view=list],[data-view=form],[data-view=thread]) .panel,.all:not([data-view=list]) .list,.all:not([data-view=form]) .form,.all:not([data-view=thread]) .thread,.all:not([data-view=form],[data-view=thread]) .back,.all:not([data-view=pick]) :is(.cover,.pickbar){display:none}
.count{min-width:22px;padding:0 6px;border-radius:11px;background:var(--on);color:var(--leaf);font-size:.85em;line-height:22px;text-align:center;font-variant-numeric:tabular-nums}
.panel{position:absolute;right:16px;bottom:16px;display:flex;flex-direction:column;width:372px;max-width:calc(100% - 32px);max-height:min(680px,calc(100% - 32px));border:1px solid var(--line);border-radius:16px;background:var(--paper);box-shadow:var(--shade);overflow:hidden;animation:rise .16s ease-out}
@keyframes rise{from{opacity:0;transform:translateY(10px)}}
header{display:flex;align-items:center;gap:4px;padding:8px 8px 8px 18px;border-bottom:1px solid var(--line)}
:is([data-view=form],[data-view=thread]) .back{margin-left:-12px}
h2{flex:1;font-size:1.0625em;font-weight:600}
.plain{display:grid;place-items:center;width:40px;height:40px;border-radius:10px;color:var(--soft)}
.view{overflow:auto;overscroll-behavior:contain;padding:14px 18px 16px}
.lead,legend,.label{font-size:.85em;font-weight:600}
.acts{display:flex;flex-wrap:wrap;gap:8px;margin-top:8px}
.act{display:flex;flex:1 1 auto;align-items:center;justify-content:center;gap:7px;min-height:42px;padding:0 12px;border:1px solid var(--leaf);border-radius:10px;background:var(--leaf);color:var(--on);font-weight:600;font-size:.95em;white-space:nowrap}
.act.quiet{background:none;color:var(--leaf);border-color:var(--edge)}
button:hover{filter:brightness(1.1)}
.plain:hover,.act.quiet:hover,.chip input:hover+span{background:var(--fold)}
.draft{display:block;width:100%;margin-top:10px;padding:9px 12px;border:1px dashed var(--leaf);border-radius:10px;color:var(--leaf);font-weight:600}
.note{margin-top:12px;padding:9px 12px;border-radius:10px;background:var(--fold);font-size:.95em;overflow-wrap:anywhere}
.note.bad{background:none;padding:0;color:var(--red)}
.link{min-height:36px;color:var(--leaf);font-weight:600;text-decoration:underline;text-underline-offset:3px}
h3{margin:18px 0 8px;color:var(--soft);font-size:.85em;font-weight:600}
.empty{margin-top:16px;color:var(--soft)}
.item{margin-bottom:8px;padding:11px 13px;border:1px solid var(--line);border-radius:12px;background:var(--ground);contain:content}
.item.current{border-color:var(--leaf);box-shadow:inset 0 0 0 1px var(--leaf)}
.meta{display:flex;flex-wrap:wrap;align-items:center;gap:4px 8px;font-size:.85em;color:var(--soft)}
.intent{color:var(--ink);font-weight:600}
.time{margin-left:auto}
.leaf,.dot{display:grid;place-items:center;background:var(--leaf);color:var(--on);border-radius:50% 0 50% 50%;font-weight:700;font-variant-numeric:tabular-nums}
.leaf{min-width:22px;height:22px;font-size:.95em}
.leaf.blocking,.dot.blocking{background:var(--red)}
.leaf.important,.dot.important{background:var(--amber)}
.severity.blocking{color:var(--red);font-weight:600}
.severity.important{color:var(--amber);font-weight:600}
.words{margin:7px 0 8px;max-height:15em;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext}
.where{display:block;max-width:100%;padding:2px 0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;color:var(--soft);font-size:.85em}
button.where,a.where{color:var(--leaf);text-decoration:underline;text-underline-offset:3px;text-decoration-thickness:1px;min-height:28px}
.stale{color:var(--soft);font-size:.85em;overflow-wrap:anywhere}
.state{padding:1px 7px;border:1px solid var(--leaf);border-radius:8px;color:var(--leaf);font-weight:600}
.state.reopened{border-color:var(--amber);color:var(--amber)}
.last{margin:4px 0 2px;padding-left:9px;border-left:3px solid var(--line);font-size:.9em;overflow-wrap:anywhere}
.replies{margin-top:4px}
.reply{margin-bottom:8px;padding:8px 11px;border:1px solid var(--line);border-radius:12px;background:var(--ground)}
.reply:is(.owner,.agent),.last:is(.owner,.agent){border-color:var(--leaf)}
.reply .words{margin:3px 0 0}
.stale b{padding:1px 7px;border:1px solid var(--amber);border-radius:8px;color:var(--amber);font-size:.9em;font-weight:600}
.foot{display:flex;align-items:center;gap:8px;min-height:40px;margin-bottom:-6px;color:var(--soft);font-size:.85em;cursor:pointer}
.foot input{width:16px;height:16px;accent-color:var(--leaf)}
.subject{padding:8px 12px;border-left:3px solid var(--leaf);border-radius:0 8px 8px 0;background:var(--fold);font:500 .85em/1.5 var(--mono);max-height:6em;overflow:auto;overflow-wrap:anywhere}
.subject[data-quote]{font:italic 400 .9375em/1.45 Georgia,"Liberation Serif",serif}
.label{display:flex;justify-content:space-between;margin:14px 0 6px}
.left{color:var(--soft);font-weight:400;font-variant-numeric:tabular-nums}
.left[data-over]{color:var(--red);font-weight:600}
textarea,input[type=text]{display:block;width:100%;padding:10px 12px;border:1px solid var(--edge);border-radius:10px;background:var(--ground)}
textarea{min-height:96px;max-height:34vh;resize:vertical;field-sizing:content}
textarea:focus-visible{outline-offset:-1px}
textarea[aria-invalid]{border-color:var(--red)}
textarea::placeholder{color:var(--soft);opacity:1}
fieldset{margin-top:14px}
.chips{display:flex;flex-wrap:wrap;gap:6px;margin-top:6px}
.chip{position:relative;flex:1 1 auto}
.chip input{position:absolute;inset:0;width:100%;height:100%;opacity:0;cursor:pointer}
.chip span{display:grid;place-items:center;min-height:38px;padding:0 11px;border:1px solid var(--edge);border-radius:10px;font-size:.95em}
.chip input:checked+span{border-color:var(--leaf);background:var(--fold);box-shadow:inset 0 0 0 1px var(--leaf);color:var(--leaf);font-weight:600}
.chip.blocking input:checked+span{border-color:var(--red);box-shadow:inset 0 0 0 1px var(--red);background:none;color:var(--red)}
.chip.important input:checked+span{border-color:var(--amber);box-shadow:inset 0 0 0 1px var(--amber);background:none;color:var(--amber)}
.chip input:focus-visible+span{outline:3px solid var(--leaf);outline-offset:2px}
.problem{margin-top:12px;color:var(--red);font-weight:600;overflow-wrap:anywhere}
.problem:empty{display:none}
.send{display:block;width:100%;min-height:46px;margin-top:14px;border:1px solid var(--leaf);border-radius:10px;background:var(--leaf);color:var(--on);font-weight:600;text-align:center}
.send[aria-disabled]{opacity:.65;cursor:default}
.small{margin-top:8px;color:var(--soft);font-size:.85em;text-align:center}
.cover{position:fixed;inset:0;cursor:crosshair;touch-action:pan-x pan-y}
.cover:focus{outline:none}
.pickbar{position:absolute;top:max(12px,env(safe-area-inset-top));left:50%;transform:translateX(-50%);display:flex;align-items:center;gap:16px;width:max-content;max-width:calc(100% - 24px);padding:4px 16px;border-radius:12px;background:var(--paper);border:1px solid var(--line);box-shadow:var(--shade)}
.mouse{display:block;font-weight:600;line-height:1.3}
.keys{display:block;color:var(--soft);font-size:.85em}
.box{position:fixed;border:2px solid var(--leaf);border-radius:6px;background:color-mix(in srgb,var(--leaf) 14%,transparent);box-shadow:0 0 0 1px var(--paper)}
.box.text{border-width:0 0 2px;border-radius:2px;box-shadow:none;background:color-mix(in srgb,var(--leaf) 24%,transparent)}
.tag{position:fixed;max-width:min(420px,calc(100vw - 12px));padding:3px 9px;border-radius:8px;background:var(--leaf);color:var(--on);font:500 .85em/1.5 var(--mono);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.dot{position:fixed;width:26px;height:26px;border:2px solid var(--paper);font-size:.75em;text-align:center;box-shadow:0 1px 5px rgb(0 0 0/.35)}
.dot.many{border-radius:13px;min-width:26px;width:auto;padding:0 6px;box-shadow:0 0 0 2px var(--leaf),0 1px 5px rgb(0 0 0/.35)}
.bubble{position:fixed;min-height:38px;padding:0 15px;border:1px solid var(--leaf);border-radius:19px;background:var(--leaf);color:var(--on);font-weight:600;box-shadow:var(--shade)}
[data-narrow] .panel{right:0;left:0;bottom:0;width:auto;max-width:none;max-height:max(78%,min(100%,420px));border-width:1px 0 0;border-radius:18px 18px 0 0;padding-bottom:env(safe-area-inset-bottom)}
[data-narrow] .view{padding:14px 16px 18px}
[data-narrow] .keys{display:none}
[data-narrow] .plain{width:44px;height:44px}
[data-narrow] :is(.act,.chip span){min-height:44px}
[data-narrow] :is(textarea,input[type=text]){font-size:16px}
@media(prefers-reduced-motion:reduce){.panel{animation:none}}
@media(forced-colors:active){.chip input:checked+span{outline:2px solid}}
`; }
})();
