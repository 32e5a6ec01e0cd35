// Fills the tables of viewers: views, share links, comments, codes of the email gate and a burnt page.

import assert from 'node:assert/strict';
import { api, request, siteHost } from '../http.mjs';
import { openPage } from '../browser.mjs';

const json = { 'content-type': 'application/json' };

const view = (server, page, query = '') => request(server, { path: page.site.path + query, host: siteHost(server) });

export async function viewers(server, browser, key, pages) {
  for (const name of ['plain', 'plain', 'large', 'archive', 'strict', 'markdown']) {
    assert.equal((await view(server, pages[name])).status, 200, name);
  }
  const share = await shareLinks(server, key, pages.password);
  await comments(server, key, pages.comments);
  await emailCode(browser, pages.email_gate);
  return { share_query: share };
}

/** One link that was used, one with limits, one that also passes the email gate. Gives the query of the first. */
async function shareLinks(server, key, page) {
  const create = (body) => api(server, key)('POST', `/sites/${page.id}/share-tokens`, body);
  const used = await create({ note: 'for the printer' });
  await create({ note: 'twice', max_uses: 2, expires_in_hours: 720 });
  await create({ bypass_email_gate: true });
  const query = new URL(used.url).search;
  assert.equal((await view(server, page, query)).status, 200);
  return query;
}

/** Three comments: resolved with a note, read by a program, unread. */
async function comments(server, key, page) {
  const call = api(server, key);
  const send = async (body) => {
    const path = `${page.site.path}_dropleaf/feedback`;
    const answer = await request(server, { method: 'POST', path, host: siteHost(server), headers: json, body: JSON.stringify(body) });
    assert.equal(answer.status, 201, answer.text());
  };
  const about = { element: 'h1 "With comments"', element_path: 'body > h1', selected_text: 'comments', page_url: page.site.url };
  await send({ comment: 'Say by when.', intent: 'fix', severity: 'blocking', ...about });
  await send({ comment: 'Grüße aus dem Garten 🍃', intent: 'question', severity: 'suggestion' });
  const { feedback } = await call('GET', `/sites/${page.id}/feedback`);
  await call('POST', `/feedback/${feedback[0].id}/resolve`, { note: 'On Friday.' });
  await send({ comment: 'Not read yet.' });
}

/** A code that was sent and not entered. */
async function emailCode(browser, page) {
  const tab = await openPage(await browser.newContext());
  await tab.goto(page.site.url);
  await tab.fill('input[name=email]', 'colleague@example.org');
  await tab.click('button');
  await tab.getByRole('heading', { name: 'Enter the code from the email' }).waitFor();
  await tab.context().close();
}

/** Opens a page that can be read once. Its row is swept away a minute later. */
export async function burn(server, browser, page) {
  const tab = await openPage(await browser.newContext());
  await tab.goto(`${server.url}/p/${page.token}/`);
  await tab.click('button');
  await tab.getByRole('heading', { name: 'Was read' }).waitFor();
  await tab.context().close();
}
