// Scenarios with credentials that are delivered once: a device login and an authorization code, both allowed by a person with a session.

import { createHash, randomBytes } from 'node:crypto';
import { cookies, formToken } from './world.mjs';

/** Where the browser would go with an authorization code; nothing listens there. */
const CALLBACK = 'http://127.0.0.1:9/callback';

/** Opens a page with a form as the person who is signed in: {page, send} or null; `send` gives the options of the request. */
async function openForm(world, node, path) {
  const page = await world.client.request(node, { path, headers: { cookie: world.cookie } }).catch(() => null);
  const token = page?.status === 200 && formToken(page);
  if (!token) return null;
  const headers = { cookie: [world.cookie, cookies(page)].filter(Boolean).join('; '), origin: world.baseUrl };
  return { page, send: (action, fields) => ({ method: 'POST', path: action, headers, form: { ...fields, form_token: token } }) };
}

/** A device that waits for its credential, and a person who allows it. */
export async function device(world) {
  const key = world.label('device');
  const login = await world.persist(async (node) => {
    const answer = await world.client.request(node, { method: 'POST', path: '/device/code', json: { client_name: key } }).catch(() => null);
    return answer?.status === 200 ? answer.json() : null;
  });
  if (!login) return;
  const poll = async (node, by) => {
    const operation = { model: 'delivery', key, process: by, call: { op: 'poll' } };
    const done = await world.recorder.perform(node, operation, { method: 'POST', path: '/device/token', json: { device_code: login.device_code } }, (answer, code) => {
      if (answer.status === 200) return { secret: true };
      if (code === 'invalid_grant') return { used: true };
      return code === 'authorization_pending' || code === 'slow_down' ? { pending: true } : undefined;
    });
    // An account can have only so many keys.
    if (done?.result.secret) {
      const revoke = { method: 'DELETE', path: `/api-keys/${done.answer.json().key_id}`, key: world.accounts[0].key };
      await world.persist((other) => world.client.request(other, revoke).catch(() => null), { tries: 3 });
    }
  };
  const allow = async (node) => {
    const form = await openForm(world, node, `/device?user_code=${login.user_code}`);
    if (!form) return;
    await world.recorder.perform(
      node,
      { model: 'delivery', key, process: 'person', call: { op: 'allow' } },
      form.send('/device', { user_code: login.user_code, answer: 'allow' }),
      ({ status }) => (status === 303 ? {} : status === 400 ? { late: true } : undefined),
    );
  };
  await world.together(5, async (by, at) => {
    if (at === 0) return allow(world.node());
    await world.pause(0, 60);
    await poll(world.nodes[at % world.nodes.length], by);
    await poll(world.node(), by);
    return undefined;
  });
  await world.together(3, (by) => poll(world.node(), by));
}

/** A client registers once; everything else is per scenario. */
async function clientId(world) {
  world.oauthClient ??= await world.persist(async (node) => {
    const json = { client_name: 'history', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
    const answer = await world.client.request(node, { method: 'POST', path: '/oauth/register', json }).catch(() => null);
    return answer?.status === 201 ? answer.json().client_id : null;
  });
  return world.oauthClient;
}

/** An authorization code that is exchanged on all nodes at once. It lives for a minute, longer than this scenario takes. */
export async function authorizationCode(world) {
  const key = world.label('code');
  const client = await clientId(world);
  if (!client) return;
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client,
    redirect_uri: CALLBACK,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const node = world.node();
  const form = await openForm(world, node, `/oauth/authorize?${query}`);
  const request = form?.page.text().match(/name="request" value="([^"]+)"/)?.[1];
  if (!request) return;
  const allowed = await world.recorder.perform(
    node,
    { model: 'delivery', key, process: 'person', call: { op: 'allow' } },
    form.send('/oauth/consent', { request, answer: 'allow' }),
    ({ status, headers }) => (status === 303 && headers.location.startsWith(CALLBACK) ? {} : undefined),
  );
  const code = allowed && new URL(allowed.answer.headers.location).searchParams.get('code');
  if (!code) return;
  const exchange = (at, by) =>
    world.recorder.perform(
      at,
      { model: 'delivery', key, process: by, call: { op: 'poll' } },
      { method: 'POST', path: '/oauth/token', form: { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: CALLBACK, client_id: client } },
      ({ status }, error) => (status === 200 ? { secret: true } : error === 'invalid_grant' ? { used: true } : undefined),
    );
  await world.together(4, async (by, at) => {
    await exchange(world.nodes[at % world.nodes.length], by);
    await exchange(world.node(), by);
  });
}
