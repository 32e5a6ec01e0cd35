// Scenarios with passwords that change, share tokens that are revoked, and requests that are repeated.

import { digest } from './world.mjs';

const basic = (password) => `Basic ${Buffer.from(`viewer:${password}`).toString('base64')}`;

/** One view with a secret; `request` carries it. */
function enter(world, node, by, key, secret, request) {
  return world.recorder.perform(node, { model: 'access', key, process: by, call: { op: 'view', secret } }, request, ({ status }) =>
    status === 200 ? { entered: true } : status === 401 ? { entered: false } : undefined,
  );
}

/** The owner changes the password while viewers try the old and the new one. */
export async function password(world) {
  const key = world.label('password');
  const [owner] = world.accounts;
  const created = world.history.begin({ model: 'access', key, process: 'owner', call: { op: 'set', secret: 'one' } });
  const site = await world.publish(world.page(key), { key: owner.key, fields: { password: 'one' } });
  // The page and its password were created together, so no client knows an address that the password does not protect.
  if (!site) return void created.open('not published');
  created.answered({});
  const set = (node, secret) =>
    world.recorder.perform(
      node,
      { model: 'access', key, process: 'owner', call: { op: 'set', secret } },
      { method: 'PATCH', path: `/sites/${site.id}`, key: owner.key, json: { password: secret } },
      ({ status }, code) => (status === 200 ? {} : code === 'conflict' ? null : undefined),
    );
  const view = (node, by, secret) => enter(world, node, by, key, secret, { ...world.view(site), headers: { accept: 'application/json', authorization: basic(secret) } });
  await world.together(3, async (by, at) => {
    if (at === 0) {
      await world.pause(0, 200);
      await set(world.node(), 'two');
      return;
    }
    // Every check of a password is expensive on purpose, so there are few.
    for (let round = 0; round < 3 && !world.isOver; round += 1) {
      await view(world.node(), by, 'one');
      await world.pause(100, 700);
    }
    await view(world.node(), by, 'two');
  });
  world.finals.push(() => Promise.all(['one', 'two'].map((secret) => view(world.node(), 'end', secret))));
}

/** The owner revokes a share token while viewers use it. */
export async function shareToken(world) {
  const key = world.label('share');
  const [owner] = world.accounts;
  const site = await world.publish(world.page(key), { key: owner.key, fields: { password: 'a long password' } });
  if (!site) return;
  const created = world.history.begin({ model: 'access', key, process: 'owner', call: { op: 'set', secret: 'token' } });
  const headers = { 'idempotency-key': key };
  const token = await world.persist(async (node) => {
    const options = { method: 'POST', path: `/sites/${site.id}/share-tokens`, key: owner.key, headers, json: {} };
    const answer = await world.client.request(node, options).catch(() => null);
    return answer?.status === 201 ? answer.json() : null;
  });
  if (!token) return void created.open('not created');
  created.answered({});
  const revoke = (node) =>
    world.recorder.perform(
      node,
      { model: 'access', key, process: 'owner', call: { op: 'set', secret: null } },
      { method: 'DELETE', path: `/share-tokens/${token.id}`, key: owner.key },
      ({ status }) => (status === 200 ? {} : status === 404 ? { missing: true } : undefined),
    );
  const view = (node, by) => {
    const { path, headers: accept } = world.view(site);
    return enter(world, node, by, key, 'token', { path: `${path}?t=${token.token}`, headers: accept });
  };
  await world.together(4, async (by, at) => {
    if (at === 0) {
      await world.pause(100, 500);
      await revoke(world.node());
      return;
    }
    for (let round = 0; round < 5 && !world.isOver; round += 1) {
      await view(world.node(), by);
      await world.pause(50, 400);
    }
  });
  world.finals.push(() => Promise.all(world.nodes.map((node) => view(node, 'end'))));
}

/** The same request with the same key from several clients, and another one with that key. */
export async function idempotency(world) {
  const key = world.label('once');
  const owner = world.accounts[1];
  const title = `${key}-title`;
  const bodies = { first: world.page(key), other: world.page(`${key}-other`) };
  const post = async (node, by, body) => {
    const options = await world.upload(bodies[body], { key: owner.key, once: key, fields: { title } });
    return world.recorder.perform(node, { model: 'idempotency', key, process: by, call: { op: 'post', body } }, options, (answer, code) => {
      if (answer.status === 201) return { answer: { id: answer.json().id, digest: digest(answer.bytes) } };
      return code === 'idempotency_mismatch' ? { mismatch: true } : undefined;
    });
  };
  await world.together(4, async (by, at) => {
    await post(world.nodes[at % world.nodes.length], by, at === 3 ? 'other' : 'first');
    await world.pause(0, 100);
    await post(world.node(), by, 'first');
  });
  // All pages with the title are counted at the end.
  world.counted.push({ key, title, owner });
}
