// What an agent does with a page, by whichever client: publish, update, list, hear of a comment, read it, answer it.
//
// A client here is an object with `call(name, arguments)`, which gives the result of a tool; `read(uri)`, which gives the
// contents of a resource; and `watch(uri)`, which gives {next, close}: `next` waits for the address that has changed.

import assert from 'node:assert/strict';
import { request } from '../http.mjs';
import { HANGS, until } from '../server.mjs';

/** A document that says these words. */
export const page = (words) => `<!doctype html><html lang="en"><title>${words}</title><h1>${words}</h1></html>`;

/** What a viewer without a browser gets at a page's address, or at one below it. */
export const view = (server, site, options = {}) =>
  request(server, { ...options, path: new URL(site.url).pathname + (options.path ?? '') });

/** A viewer comments on a page, as its toolbar does. */
export async function comment(server, site, words) {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ comment: words });
  const answer = await view(server, site, { method: 'POST', path: '_dropleaf/feedback', headers, body });
  assert.equal(answer.status, 201, answer.text());
}

/** Insists that a tool succeeded and gave its answer as a structure too; gives that. */
export function told(result) {
  const text = result.content.find((block) => block.type === 'text')?.text;
  assert.ok(!result.isError, text);
  assert.ok(result.structuredContent, `no structured content beside: ${text}`);
  return result.structuredContent;
}

/** Collects what comes and lets one wait for it. */
export class Inbox {
  #come = [];
  #waits = [];
  put(thing) {
    const next = this.#waits.shift();
    if (next) next(thing);
    else this.#come.push(thing);
  }
  next(timeout = HANGS) {
    if (this.#come.length) return Promise.resolve(this.#come.shift());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`nothing came in ${timeout} ms`)), timeout);
      this.#waits.push((thing) => {
        clearTimeout(timer);
        resolve(thing);
      });
    });
  }
}

/** Waits until a client has opened its stream; a session's news go there, and what happens before is not told again. */
export const streaming = (server) => until('an open stream', () => /"status":200,"span":\{[^}]*"method":"GET","route":"\/mcp"/.test(server.log));

/** The whole way. */
export async function walk(server, client) {
  const published = await client.call('publish_html', { html: page('First draft'), agentation: true });
  const site = told(published);
  assert.equal(site.version, 1);
  const link = published.content.find((block) => block.type === 'resource_link');
  assert.equal(link?.uri, site.url, 'the page is linked');
  assert.equal(link.mimeType, 'text/html');
  assert.match((await view(server, site)).text(), /First draft/);

  const updated = told(await client.call('update_site', { site: site.id, html: page('Second draft') }));
  assert.equal(updated.url, site.url);
  assert.equal(updated.version, 2);
  assert.match((await view(server, site)).text(), /Second draft/);
  const { sites } = told(await client.call('list_sites', {}));
  assert.equal(sites.find((listed) => listed.id === site.id)?.title, 'Second draft');

  const uri = `dropleaf://sites/${site.id}`;
  const news = await client.watch(uri);
  await comment(server, site, 'Say by when.');
  assert.equal(await news.next(), uri);
  await news.close();

  const found = told(await client.call('get_site', { site: site.id }));
  assert.equal(found.unread_feedback, 1, 'what has not been read is mentioned');
  const { feedback } = told(await client.call('list_feedback', { site: site.id }));
  assert.deepEqual(feedback.map((item) => item.comment), ['Say by when.']);
  assert.ok(!told(await client.call('get_site', { site: site.id })).unread_feedback, 'and once read, no more');
  const resolved = told(await client.call('resolve_feedback', { id: feedback[0].id, note: 'On Friday.' }));
  assert.equal(resolved.resolved_note, 'On Friday.');

  const [about] = await client.read(uri);
  assert.equal(JSON.parse(about.text).id, site.id);
  const refused = await client.call('get_site', { site: 'site_of_nobody' });
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /not_found/);
  return site;
}
