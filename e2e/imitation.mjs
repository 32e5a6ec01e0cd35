// A small server that imitates dropleaf where the toolbar and the viewer meet it, so that both can be tested against
// every answer a server may give: faithful by default; told to, it refuses, stalls or lies.

import http from 'node:http';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort, ROOT } from './server.mjs';

const ASSETS = path.join(ROOT, 'crates/pages/assets');
const TEMPLATES = path.join(ROOT, 'crates/pages/templates');
export const SITE = `/p/${'A'.repeat(22)}/`;

/** The policy of `csp_strict`, docs/security.md, with the sources of a page's inline scripts. */
export const strict = (...sources) =>
  `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'${sources.map((source) => ` ${source}`).join('')}; style-src 'self' 'unsafe-inline'; ` +
  "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; " +
  "manifest-src 'self'; frame-src 'self' blob: data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'; " +
  'sandbox allow-scripts allow-same-origin allow-forms allow-modals allow-downloads';

const escape = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The modules of the Markdown renderer as one text, in the order of crates/pages/src/viewer_script.rs. */
export async function markdownModules() {
  const read = (file) => readFile(path.join(ROOT, file), 'utf8');
  const list = await read('crates/pages/src/viewer_script.rs');
  const names = [...list.match(/= modules!\[([^\]]*)\]/)[1].matchAll(/"(\w+)"/g)].map(([, name]) => name);
  const modules = await Promise.all(names.map((name) => read(`crates/pages/assets/markdown/${name}.js`)));
  return modules.join('').replace(/^import .*\n/gm, '').replace(/^export /gm, '');
}

/** The script of the viewer as crates/pages/src/viewer_script.rs puts it together. */
export async function viewerScript() {
  const copy = await readFile(path.join(ROOT, 'crates/content/assets/markdown.js'), 'utf8');
  const viewer = await readFile(path.join(ASSETS, 'viewer.js'), 'utf8');
  return `(() => {\n'use strict';\n${await markdownModules()}function addCopyButtons() {\n${copy}}\n${viewer}})();\n`;
}

/** templates/viewer.html as the server renders it. */
export async function viewerPage({ payload, report = `${SITE}_dropleaf/report`, anonymous = false }) {
  const read = (file) => readFile(file, 'utf8');
  const fields = {
    style: (await Promise.all(['base.css', 'notice.css', 'viewer.css'].map((name) => read(path.join(ASSETS, name))))).join(''),
    markdown_style: await read(path.join(ROOT, 'crates/content/assets/markdown.css')),
    script: await viewerScript(),
    payload: Buffer.isBuffer(payload) ? payload.toString('base64') : payload,
  };
  const template = await read(path.join(TEMPLATES, 'viewer.html'));
  const mark = await read(path.join(TEMPLATES, 'mark.html'));
  return template
    .replace('{% include "mark.html" %}', () => mark)
    .replace(/\{% if anonymous %\}(.*?)\{% endif %\}/gs, (_, words) => (anonymous ? words : ''))
    // Not a live page.
    .replace(/\{%-? if [^%]*\blive\b[^%]*%\}.*?\{%-? endif %\}/gs, '')
    .replaceAll('{{ report }}', () => escape(report))
    .replace(/\{\{ (\w+)\|safe \}\}/g, (_, name) => fields[name]);
}

const LIMITS = { comment: 4000, element: 500, element_path: 2000, selected_text: 2000, page_url: 2000 };
const WORDS = { intent: ['fix', 'change', 'question', 'approve'], severity: ['blocking', 'important', 'suggestion'] };

/** What is wrong with a posted comment, or nothing. */
function complaint(body) {
  if (typeof body.comment !== 'string' || !body.comment.trim()) return 'comment is required';
  for (const [name, most] of Object.entries(LIMITS)) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string') return `${name} must be a string`;
    if ([...value].length > most) return `${name} is longer than ${most} characters`;
  }
  for (const [name, words] of Object.entries(WORDS)) {
    if (body[name] !== undefined && body[name] !== null && !words.includes(body[name])) return `${name} must be one of ${words.join(', ')}`;
  }
  return undefined;
}

/**
 * Starts it. `pages`: {path: html or {html, headers}} below SITE; the toolbar is appended to those that say `toolbar`
 * (the default). `feedback` is the list of open comments; `posted` what arrived; `manner.get` and `manner.post` are
 * functions (request, response, body) that answer in place of the faithful one.
 */
export async function startImitation(pages) {
  const port = await freePort();
  const toolbar = await readFile(path.join(ROOT, 'crates/server/assets/toolbar.js'));
  const server = { port, url: `http://localhost:${port}`, feedback: [], posted: [], manner: {}, pages, stalled: [], streams: new Set() };
  const json = (response, status, body, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers });
    response.end(JSON.stringify(body));
  };
  server.refuse = (status, error, error_description, headers) => (_, response) => json(response, status, { error, error_description }, headers);
  server.stall = (_, response) => server.stalled.push(response);

  const keep = (body, response) => {
    const names = ['comment', 'element', 'element_path', 'selected_text', 'page_url', 'intent', 'severity'];
    const made = { id: `fb_${String(server.feedback.length + 1).padStart(20, '0')}`, ...Object.fromEntries(names.map((name) => [name, body[name] ?? null])) };
    Object.assign(made, { created_at: Math.floor(Date.now() / 1000), state: 'open', resolved_at: null, is_own: true, can_reply: true, reply_count: 0, replies: [] });
    server.feedback.push(made);
    json(response, 201, { ...made, resolved_note: null, viewer_token: `secret-${server.feedback.length}` });
  };

  /** Adds a viewer's reply to a comment. */
  const answerReply = (id, body, response) => {
    const item = server.feedback.find((one) => one.id === id);
    if (!item) return json(response, 404, { error: 'not_found', error_description: 'There is no such comment.' });
    const reopens = body.still_a_problem === true && item.state === 'resolved';
    const reply = { id: 'fr_1', author: 'viewer', name: body.name ?? null, text: body.text, reopens, created_at: Math.floor(Date.now() / 1000) };
    item.replies = [...(item.replies ?? []), reply];
    item.reply_count = item.replies.length;
    if (reopens) Object.assign(item, { state: 'reopened', resolved_at: null });
    return json(response, 201, { id, state: item.state, reply, warnings: [] });
  };

  async function answerFeedback(request, response, id) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    if (request.method === 'GET') {
      server.tokens = request.headers['feedback-tokens'];
      if (server.manner.get) return server.manner.get(request, response);
      return json(response, 200, { feedback: server.feedback });
    }
    const own = request.headers.origin === `http://${request.headers.host}` && request.headers['sec-fetch-site'] === 'same-origin';
    if (!own) return json(response, 403, { error: 'cross_site', error_description: 'Feedback is posted from the page itself.' });
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) return json(response, 400, { error: 'bad_request', error_description: 'Send JSON.' });
    if (raw.length > 65_536) return json(response, 413, { error: 'too_large', error_description: 'A comment has at most 64 KiB.' });
    const body = JSON.parse(raw);
    server.posted.push(body);
    if (server.manner.post) return server.manner.post(request, response, body);
    if (id) return answerReply(id, body, response);
    const wrong = complaint(body);
    return wrong ? json(response, 400, { error: 'bad_request', error_description: wrong }) : keep(body, response);
  }

  /** The stream of a page: `server.tell()` says that comments have changed, `server.streams` holds the open ones. */
  const answerStream = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 3000\nevent: version\ndata: {"version":1}\n\n');
    server.streams.add(response);
    response.on('close', () => server.streams.delete(response));
  };
  server.tell = () => { for (const response of server.streams) response.write('event: feedback\ndata: {"change":1}\n\n'); };

  const listener = http.createServer(async (request, response) => {
    const at = new URL(request.url, server.url).pathname;
    const name = at.startsWith(SITE) ? at.slice(SITE.length) || 'index.html' : null;
    if (name === '_dropleaf/feedback') return answerFeedback(request, response);
    const replies = name?.match(/^_dropleaf\/feedback\/(fb_\w+)\/replies$/);
    if (replies) return answerFeedback(request, response, replies[1]);
    if (name === '_dropleaf/live') return answerStream(response);
    if (name === '_dropleaf/toolbar.js') return response.writeHead(200, { 'content-type': 'text/javascript' }).end(toolbar);
    const page = server.pages[name];
    if (page === undefined) return response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing');
    const { html, headers = {}, toolbar: wanted = true, type = 'text/html; charset=utf-8' } = typeof page === 'string' ? { html: page } : page;
    const tag = wanted && type.startsWith('text/html') ? `<script src="${SITE}_dropleaf/toolbar.js?v=1" defer></script>` : '';
    response.writeHead(200, { 'content-type': type, ...headers }).end(html + tag);
  });
  await new Promise((resolve) => listener.listen(port, 'localhost', resolve));
  server.stop = async () => {
    for (const response of server.stalled) response.destroy();
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
  };
  return server;
}
