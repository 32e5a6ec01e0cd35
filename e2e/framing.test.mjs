// Clickjacking: no page on which a person decides something is shown in the frame of another page, whether that page is on a
// foreign site or on a sibling for which the browser sends the person's session along.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { api, publish, request, upload } from './http.mjs';
import { sessionOf, takeCookie } from './people.mjs';
import { routes } from './routes.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer, until } from './server.mjs';
import { startForeignSite } from './foreign-site.mjs';

const EVIL = 'evil.example';
const BLOCKED = 'chrome-error://chromewebdata/';

let server, browser, cookie, foreign, addresses, control;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch({ hosts: [EVIL] });
  const key = await operatorKey(server);
  cookie = await sessionOf(browser, server);
  foreign = await startForeignSite();
  const made = (title, fields) => publish(server, { name: 'page.html', bytes: samples.html(title), fields, key });
  control = await made('Anyone may frame this', { agentation: 'true', show_changes: 'true' });
  await api(server, key)('POST', '/custom-domains', { hostname: 'reports.example.com', site_id: control.id });
  const hook = await api(server, key)('POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['payment.received'] });
  const gated = await made('Gated', { password: 'correct horse' });
  const anonymous = (await upload(server, { name: 'page.html', bytes: samples.html('Unclaimed') })).json();
  const post = async (path, body, type) => (await request(server, { method: 'POST', path, headers: { 'content-type': type }, body })).json();
  const comment = await post(`${control.path}_dropleaf/feedback`, JSON.stringify({ comment: 'Which year?' }), 'application/json');
  const client = await post('/oauth/register', JSON.stringify({ client_name: 'Report Writer', redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' }), 'application/json');
  const device = await post('/device/code', 'client_name=build+machine', 'application/x-www-form-urlencoded');
  const authorize = new URLSearchParams({
    response_type: 'code', client_id: client.client_id, redirect_uri: 'http://127.0.0.1/callback', scope: 'sites:read', state: 'x',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256', resource: `${server.url}/mcp`,
  });
  const fill = (path) => path.replace('/claim/{id}', `/claim/${anonymous.id}`).replace('/webhooks/{id}', `/webhooks/${hook.id}`).replace('{id}', control.id).replace('{item}', comment.id).replace('{sku}', 'make_permanent').replace('{hostname}', 'reports.example.com').replace('{*rest}', 'nowhere');
  // A download is saved and shown nowhere; its frame would stay empty.
  const isPage = ({ path, methods }) => (!methods.includes('POST') || methods.includes('GET')) && !path.endsWith('.csv');
  const shown = (await routes()).filter(isPage).map(({ path }) => fill(path));
  const own = (site, rest = '') => `${server.siteUrl}${site.path}${rest}`;
  addresses = [
    ...shown.map((path) => server.url + path),
    `${server.url}/oauth/authorize?${authorize}`,
    `${server.url}/device?user_code=${device.user_code}`,
    `${server.url}/login?next=%2Fdashboard%2Fkeys&again=1`,
    `${server.url}/`,
    `${server.url}/docs`,
    own(gated),
    own(await made('By mail', { email_gate_domain: 'example.org' })),
    own(await made('Read once', { visibility: 'burn' })),
    own(control, '_dropleaf/report'),
    own(control, '_dropleaf/changes'),
    own(gated, '_dropleaf/report'),
    own({ path: '/p/AAAAAAAAAAAAAAAAAAAAAA/' }),
  ];
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await foreign?.stop();
});

const ATTACKERS = {
  'a foreign site': () => `http://${EVIL}:${foreign.port}`,
  'a sibling that the browser takes for the same site': () => `http://localhost:${foreign.port}`,
};

for (const [name, origin] of Object.entries(ATTACKERS)) {
  test(`no page of ours is shown in a frame of ${name}`, { timeout: 120_000 }, async () => {
    assert.ok(addresses.length > 35, `${addresses.length} addresses`);
    const frames = [control.url, ...addresses].map((url) => `<iframe name="${url.replaceAll('&', '&amp;')}" src="${url.replaceAll('&', '&amp;')}"></iframe>`);
    foreign.pages['/'] = `<!doctype html><title>Win a prize</title>${frames.join('\n')}`;
    const page = await openPage(await browser.newContext());
    await takeCookie(page, cookie);
    const statuses = new Map();
    page.on('response', (response) => statuses.set(response.url(), response.status()));
    await page.goto(origin());
    const undecided = () => page.mainFrame().childFrames().filter((frame) => ['', 'about:blank'].includes(frame.url()));
    await until('every frame to be decided', () => page.mainFrame().childFrames().length === frames.length && undecided().length === 0);
    const [first, ...rest] = page.mainFrame().childFrames();
    assert.equal(await first.textContent('h1'), 'Anyone may frame this', 'a page of a publisher is shown: the attack works');
    const visible = rest.filter((frame) => frame.url() !== BLOCKED).map((frame) => `${frame.name()} shows ${frame.url()}`);
    assert.deepEqual(visible, []);
    // The sibling gets the pages of the person who has signed in, and still cannot show them.
    const signedIn = statuses.get(`${server.url}/dashboard`) === 200;
    assert.equal(signedIn, new URL(origin()).hostname === 'localhost');
    await page.context().close();
  });
}
