// Two accounts: one person's session opens nothing of the other's, at any route of the dashboard, nor anything of the operator's.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch } from './browser.mjs';
import { api, multipart, publish, request } from './http.mjs';
import { sessionOf } from './people.mjs';
import { routes } from './routes.mjs';
import * as samples from './samples.mjs';
import { command, startServer } from './server.mjs';

const OWNER = 'owner@example.org';
const OTHER = 'other@example.org';
const TITLE = 'Only for its owner';

let server, key, call, site, ids, cookies, table;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = (await command(server, 'account', 'create', OWNER, '--plan', 'solo')).match(/stk_live_\w+/)[0];
  await command(server, 'account', 'create', OTHER, '--plan', 'solo');
  call = api(server, key);
  site = await publish(server, { name: 'page.html', bytes: samples.html(TITLE), fields: { agentation: 'true', password: 'correct horse' }, key });
  const share = await call('POST', `/sites/${site.id}/share-tokens`, {});
  const comment = await feedback();
  const apiKeys = await call('GET', '/api-keys');
  ids = { site: site.id, link: share.id, item: comment, key: Object.values(apiKeys).find(Array.isArray)[0].id };
  const browser = await launch();
  cookies = { owner: await sessionOf(browser, server, OWNER), other: await sessionOf(browser, server, OTHER) };
  await browser.close();
  table = await routes();
});
after(() => server?.stop());

/** A comment on the page, as a viewer leaves it; gives its id. */
async function feedback() {
  const host = new URL(server.siteUrl).host;
  const pass = await request(server, { path: `${site.path}_dropleaf/gate`, host, method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'password=correct+horse' });
  const cookie = pass.headers['set-cookie'][0].split(';')[0];
  const body = JSON.stringify({ comment: 'A remark' });
  const posted = await request(server, { path: `${site.path}_dropleaf/feedback`, host, method: 'POST', headers: { 'content-type': 'application/json', cookie }, body });
  assert.equal(posted.status, 201, posted.text());
  return posted.json().id;
}

const asPerson = (who, options) => request(server, { ...options, headers: { cookie: cookies[who], ...options.headers } });

/** The form token of a person, from a page of their own. */
async function formToken(who) {
  const page = await asPerson(who, { path: '/dashboard/keys' });
  assert.equal(page.status, 200, page.text());
  return page.text().match(/name="form_token" value="([^"]+)"/)[1];
}

/** What each form has to hold to do something when its owner sends it, by the end of its address. */
const FORMS = {
  title: { title: 'Taken over' },
  visibility: { visibility: 'burn' },
  password: { act: 'set', password: 'taken over' },
  'email-gate': { domain: 'example.com' },
  expiry: { expires: 'never' },
  options: { csp_strict: 'on' },
  rollback: { version: '1' },
  'share-links': { expires_in_hours: '', max_uses: '' },
  plan: { plan: 'pro' },
};

async function send(who, path) {
  const form_token = await formToken(who);
  const origin = { origin: server.url, 'sec-fetch-site': 'same-origin' };
  if (path.endsWith('/content')) {
    const form = await multipart({ fields: { form_token }, file: { name: 'page.html', bytes: samples.html('Taken over') } });
    return asPerson(who, { method: 'POST', path, headers: { ...origin, ...form.headers, 'x-form-token': form_token }, body: form.body });
  }
  const { updated_at } = await call('GET', `/sites/${site.id}`);
  const body = new URLSearchParams({ form_token, updated_at, ...FORMS[path.split('/').at(-1)] }).toString();
  return asPerson(who, { method: 'POST', path, headers: { ...origin, 'content-type': 'application/x-www-form-urlencoded' }, body });
}

const fill = (path) => path.replace('/keys/{id}', `/keys/${ids.key}`).replace('{id}', ids.site).replace('{link}', ids.link).replace('{item}', ids.item);
const ofOnePage = () => table.filter(({ path }) => path.startsWith('/dashboard/pages/{id}'));

/** Everything that could be changed or taken, as its owner sees it. */
async function state() {
  const [kept, content, links, comments, keys] = [
    await call('GET', `/sites/${site.id}`),
    (await request(server, { path: `/sites/${site.id}/content`, key })).text(),
    await call('GET', `/sites/${site.id}/share-tokens`),
    await call('GET', `/sites/${site.id}/feedback`),
    await call('GET', '/api-keys'),
  ];
  // When a key was used last changes with this very question.
  return JSON.parse(JSON.stringify([kept, content, links, comments, keys], (name, value) => (name === 'last_used_at' ? undefined : value)));
}

test("another person's session gets 404 at every route of a page, and changes nothing", async () => {
  const walked = ofOnePage();
  assert.ok(walked.length >= 17, `${walked.length} routes`);
  const before = await state();
  const wrong = [];
  for (const { path, methods } of walked) {
    const at = fill(path);
    assert.doesNotMatch(at, /[{}]/);
    for (const method of methods) {
      const answer = method === 'GET' ? await asPerson('other', { path: at }) : await send('other', at);
      if (answer.status !== 404) wrong.push(`${method} ${path}: ${answer.status} ${answer.headers.location ?? ''}`);
      if (answer.text().includes(TITLE)) wrong.push(`${method} ${path} shows the title`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(await state(), before);
});

test("another person's session revokes no key and ends no session of the owner's", async () => {
  const revoked = await send('other', `/dashboard/keys/${ids.key}/revoke`);
  assert.ok([303, 404].includes(revoked.status), `${revoked.status}`);
  assert.equal((await request(server, { path: '/me', key })).status, 200, 'the key works');
  const account = (await asPerson('owner', { path: '/dashboard/account' })).text();
  const sessions = [...account.matchAll(/\/dashboard\/account\/sessions\/([^/"]+)\/end"/g)].map(([, id]) => id);
  for (const id of sessions) assert.ok([303, 404].includes((await send('other', `/dashboard/account/sessions/${id}/end`)).status));
  assert.equal((await asPerson('owner', { path: '/dashboard' })).status, 200, 'the owner is still signed in');
});

test('a person who is no operator gets 404 at every route of the operator', async () => {
  const walked = table.filter(({ path }) => path.startsWith('/operator'));
  assert.ok(walked.length >= 29, `${walked.length} routes`);
  const wrong = [];
  for (const { path, methods } of walked) {
    const at = fill(path).replace('{*rest}', 'nowhere');
    for (const method of methods) {
      const answer = method === 'POST' ? await send('owner', at) : await asPerson('owner', { path: at });
      if (answer.status !== 404) wrong.push(`${method} ${path}: ${answer.status} ${answer.headers.location ?? ''}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('the same requests work for the owner, so that a refusal means something', async () => {
  for (const [path, status] of [[`/dashboard/pages/${ids.site}`, 200], [`/dashboard/pages/${ids.site}/preview.svg`, 200]]) {
    assert.equal((await asPerson('owner', { path })).status, status, path);
  }
  for (const form of ['title', 'options', 'open', `feedback/${ids.item}/resolve`, `share-links/${ids.link}/revoke`, 'content', 'delete']) {
    const answer = await send('owner', `/dashboard/pages/${ids.site}/${form}`);
    assert.ok(answer.status === 303 || answer.status === 200, `${form}: ${answer.status} ${answer.text().match(/role="alert"[^]{0,400}/)?.[0]}`);
  }
  assert.equal((await request(server, { path: site.path, host: new URL(server.siteUrl).host })).status, 410, 'deleted');
});
