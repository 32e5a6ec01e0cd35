// Scenarios with pages: clients of several nodes work on the same fresh page at once. Each is a short story on a key of its own, so that
// its history stays small.

import { digest } from './world.mjs';

/** A page that is published and then stays as it is; it is read again on every node at the end. */
export async function durablePage(world, options = {}) {
  const key = world.label('page');
  const [owner] = world.accounts;
  const bytes = world.page(key, { large: world.roll.chance(0.2) });
  const call = { op: 'publish', digest: digest(bytes) };
  const upload = await world.upload(bytes, { key: owner.key, once: key });
  const publish = async (node) => {
    const done = await world.recorder.perform(node, { model: 'page', key, process: 'c1', call }, upload, (answer) => (answer.status === 201 ? {} : undefined));
    return done?.answer.json();
  };
  const site = await world.persist(publish, options);
  // Without an answer there may be a page whose address no client knows; sending the request again at the end tells.
  world.pages.push({ key, site, owner, bytes, publish });
  if (site) await world.together(2, (by) => readPage(world, world.node(), { key, site, owner }, by));
}

/** One read of a durable page: as its viewers see it, or its content. */
export async function readPage(world, node, { key, site, owner }, by, op = world.roll.chance(0.5) ? 'view' : 'content') {
  const options = op === 'view' ? world.view(site) : { path: `/sites/${site.id}/content`, key: owner.key };
  return world.recorder.perform(node, { model: 'page', key, process: by, call: { op } }, options, (answer) => {
    if (answer.status === 200) return { digest: digest(answer.bytes) };
    return answer.status === 404 ? { digest: null } : undefined;
  });
}

/** Three accounts claim a page without an owner. */
export async function claim(world) {
  const key = world.label('claim');
  const site = await world.publish(world.page(key));
  if (!site) return;
  const attempt = (node, account, by) =>
    world.recorder.perform(
      node,
      { model: 'claim', key, process: by, call: { op: 'claim', by: account.name } },
      { method: 'POST', path: `/sites/${site.id}/claim`, key: account.key, json: { claim_token: site.claim_token } },
      (answer, code) => (answer.status === 200 ? { won: true } : code === 'already_claimed' ? { won: false } : undefined),
    );
  const look = (node, account, by) =>
    world.recorder.perform(
      node,
      { model: 'claim', key, process: by, call: { op: 'read', by: account.name } },
      { path: `/sites/${site.id}`, key: account.key },
      (answer) => (answer.status === 200 ? { mine: true } : answer.status === 404 ? { mine: false } : undefined),
    );
  await world.together(6, async (by, at) => {
    const account = world.accounts[at % 3];
    if (at >= 3) await world.pause(0, 40);
    await attempt(world.node(), account, by);
    await look(world.node(), account, by);
  });
  world.finals.push(() => Promise.all(world.accounts.map((account) => look(world.node(), account, 'end'))));
}

/** Many viewers of a page that burns. */
export async function burn(world) {
  const key = world.label('burn');
  const [owner] = world.accounts;
  const bytes = world.page(key, { large: world.roll.chance(0.2) });
  const options = await world.upload(bytes, { key: owner.key, once: key, fields: { burn_after_read: 'true' } });
  const site = await world.persist(async (node) => {
    const done = await world.recorder.perform(node, { model: 'burn', key, process: 'c0', call: { op: 'publish' } }, options, (answer) => (answer.status === 201 ? {} : undefined));
    return done?.answer.json();
  });
  if (!site) return;
  const view = (node, by) =>
    world.recorder.perform(node, { model: 'burn', key, process: by, call: { op: 'view' } }, world.view(site), (answer, code) => {
      if (answer.status === 200) return { body: true, isRight: digest(answer.bytes) === digest(bytes) };
      return code === 'burnt' ? { body: false } : undefined;
    }, { cut: ({ status, length }) => status === 200 && length > 0 && { body: true } });
  const peek = (node, by) =>
    world.recorder.perform(node, { model: 'burn', key, process: by, call: { op: 'peek' } }, { ...world.view(site), method: 'HEAD' }, (answer) =>
      answer.status === 200 ? { gone: false } : answer.status === 410 ? { gone: true } : undefined,
    );
  await world.together(6, async (by, at) => {
    if (world.roll.chance(0.3)) await peek(world.node(), by);
    await view(world.nodes[at % world.nodes.length], by);
  });
  world.finals.push(() => Promise.all(world.nodes.map((node) => view(node, 'end'))));
}

/** Writers that replace a page if it has not changed, one that rolls it back, and readers. */
export async function register(world) {
  const key = world.label('register');
  const [owner] = world.accounts;
  const first = world.page(key);
  const options = await world.upload(first, { key: owner.key, once: key });
  const create = { model: 'register', key, process: 'c0', call: { op: 'create', body: digest(first) } };
  const site = await world.persist(async (node) => {
    const done = await world.recorder.perform(node, create, options, (answer) => (answer.status === 201 ? { stamp: answer.json().updated_at } : undefined));
    return done?.answer.json();
  });
  if (!site) return;
  const path = `/sites/${site.id}`;
  const perform = (node, by, call, request, interpret) =>
    world.recorder.perform(node, { model: 'register', key, process: by, call }, { key: owner.key, ...request }, interpret);
  const rowOf = (answer) => {
    const { updated_at: stamp, version } = answer.json();
    return { stamp, version };
  };
  const row = async (node, by) => (await perform(node, by, { op: 'row' }, { path }, (answer) => (answer.status === 200 ? rowOf(answer) : undefined)))?.result;
  const bytes = (node, by, op) => {
    const request = op === 'view' ? { ...world.view(site), key: undefined } : { path: `${path}/content` };
    return perform(node, by, { op }, request, (answer) => (answer.status === 200 ? { body: digest(answer.bytes) } : undefined));
  };
  const put = (node, by, expected) => {
    const html = world.page(`${key}-${by}-${world.roll.below(2 ** 30)}`);
    return perform(node, by, { op: 'put', body: digest(html), expected }, { method: 'PUT', path, json: { html, expected_updated_at: expected } }, (answer, code) => {
      if (answer.status === 200) return rowOf(answer);
      return code === 'conflict' ? { conflict: true, stamp: answer.json().updated_at } : undefined;
    });
  };
  const rollback = (node, by, version) =>
    perform(node, by, { op: 'rollback', version }, { method: 'POST', path: `${path}/rollback`, json: { version } }, (answer, code) =>
      answer.status === 200 ? rowOf(answer) : code === 'conflict' ? null : undefined,
    );
  await world.together(4, async (by, at) => {
    for (let round = 0; round < 3 && !world.isOver; round += 1) {
      const found = await row(world.node(), by);
      if (found && at === 3 && found.version > 1) await rollback(world.node(), by, world.roll.between(1, found.version));
      else if (found) await put(world.node(), by, found.stamp);
      await bytes(world.node(), by, world.roll.chance(0.5) ? 'view' : 'content');
    }
  });
  world.finals.push(() => Promise.all(world.nodes.flatMap((node) => [row(node, 'end'), bytes(node, 'end', 'content'), bytes(node, 'end', 'view')])));
}

/** The owner deletes and restores a page on several nodes, others look at it. */
export async function deletion(world) {
  const key = world.label('deletion');
  const [owner] = world.accounts;
  const site = await world.publish(world.page(key), { key: owner.key });
  if (!site) return;
  const path = `/sites/${site.id}`;
  const perform = (node, by, op, request, interpret) =>
    world.recorder.perform(node, { model: 'deletion', key, process: by, call: { op } }, { key: owner.key, ...request }, interpret);
  const remove = (node, by) =>
    perform(node, by, 'delete', { method: 'DELETE', path }, ({ status }) => (status === 200 ? { done: true } : status === 404 ? { done: false } : undefined));
  const restore = (node, by) =>
    perform(node, by, 'restore', { method: 'POST', path: `${path}/restore` }, ({ status }, code) => (status === 200 ? {} : code === 'conflict' ? null : undefined));
  const read = (node, by) =>
    perform(node, by, 'read', { path }, ({ status }) => (status === 200 ? { there: true } : status === 404 ? { there: false } : undefined));
  const view = (node, by) =>
    perform(node, by, 'view', { ...world.view(site), key: undefined }, ({ status }, code) => (status === 200 ? { there: true } : code === 'deleted' ? { there: false } : undefined));
  await world.together(4, async (by) => {
    for (let round = 0; round < 3 && !world.isOver; round += 1) {
      await (world.roll.chance(0.5) ? remove : restore)(world.node(), by);
      await (world.roll.chance(0.5) ? read : view)(world.node(), by);
      await world.pause(0, 300);
    }
  });
  world.finals.push(() => Promise.all(world.nodes.flatMap((node) => [read(node, 'end'), view(node, 'end')])));
}

/** Pages of two accounts that want the same slug. */
export async function slug(world) {
  const key = world.label('slug');
  const [ann, bob] = world.accounts;
  const pages = [];
  for (const [name, account] of [['p', ann], ['q', ann], ['r', bob]]) {
    const site = await world.publish(world.page(`${key}-${name}`), { key: account.key });
    if (!site) return;
    pages.push({ name, account, site });
  }
  const perform = (node, by, op, { name, account, site }, request, interpret) => {
    const call = { op, page: name, account: account.name };
    return world.recorder.perform(node, { model: 'slug', key, process: by, call }, { path: `/sites/${site.id}`, key: account.key, ...request }, interpret);
  };
  const wanted = `${key}-${world.roll.below(2 ** 30)}`;
  const take = (node, by, page) =>
    perform(node, by, 'take', page, { method: 'PATCH', json: { slug: wanted } }, ({ status }, code) =>
      status === 200 ? { taken: true } : code === 'slug_taken' ? { taken: false } : code === 'conflict' ? null : undefined,
    );
  const release = (node, by, page) =>
    perform(node, by, 'release', page, { method: 'PATCH', json: { slug: null } }, ({ status }, code) => (status === 200 ? {} : code === 'conflict' ? null : undefined));
  const read = (node, by, page) => perform(node, by, 'read', page, {}, (answer) => (answer.status === 200 ? { has: answer.json().slug === wanted } : undefined));
  await world.together(3, async (by, at) => {
    for (let round = 0; round < 3 && !world.isOver; round += 1) {
      await take(world.node(), by, pages[at]);
      await read(world.node(), by, pages[world.roll.below(3)]);
      if (world.roll.chance(0.6)) await release(world.node(), by, pages[at]);
    }
  });
  world.finals.push(() => Promise.all(pages.map((page) => read(world.node(), 'end', page))));
}
