// The loop between viewers and an agent, by the official clients in both eras: publish, work off ten comments (edit, reply,
// resolve), and hear of an eleventh, by a notification and in the next result.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { request } from '../http.mjs';
import { HANGS, operatorKey, ROOT, startServer } from '../server.mjs';
import { comment, Inbox, told, view } from './walk.mjs';

const COUNT = 10;
/** One viewer writes more than a network may in a minute. */
const UNLIMITED = { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' };
const numbers = Array.from({ length: COUNT }, (_, n) => n + 1);
const PAGE = `<!doctype html><html lang="en"><title>Ten mistakes</title>\n${numbers.map((n) => `<p>Line ${n} has a mitsake.</p>`).join('\n')}\n</html>`;
const LAST = 'And say by when.';

let server, key;

before(async () => {
  server = await startServer({ env: UNLIMITED });
  key = await operatorKey(server);
});
after(async () => server?.stop());

const tenComments = async (site) => {
  for (const n of numbers) await comment(server, site, `Line ${n}: typo.`);
};

/** The agent, whichever client it uses. */
async function loop({ call, watch }) {
  const site = told(await call('publish_html', { html: PAGE, agentation: true }));
  await tenComments(site);
  const { feedback, has_more: hasMore } = told(await call('list_feedback', { site: site.url, order: 'oldest' }));
  assert.equal(hasMore, false);
  // Comments of the same second have no order.
  assert.deepEqual(feedback.map((item) => item.comment).sort(), numbers.map((n) => `Line ${n}: typo.`).sort());
  let seen = site.updated_at;
  const mentioned = [];
  const note = (result) => mentioned.push(told(result).unread_feedback ?? 0);
  for (const [index, item] of feedback.slice(0, 8).entries()) {
    const find = `${index + 1} has a mitsake`;
    const edits = [{ find, replace: find.replace('mitsake', 'mistake no more') }];
    const edited = await call('edit_site', { site: site.id, edits, expected_updated_at: seen });
    seen = told(edited).updated_at;
    note(edited);
    const text = `Fixed in version ${told(edited).version}.`;
    if (index % 2) note(await call('reply_to_feedback', { id: item.id, text, resolve: true }));
    else note(await call('resolve_feedback', { id: item.id, note: text }));
  }
  assert.deepEqual(mentioned.filter(Boolean), [], 'all were read');
  // Only now, because changes of one's own are news too.
  const news = await watch(`dropleaf://sites/${site.id}`);
  await comment(server, site, LAST);
  assert.equal(await news.next(), `dropleaf://sites/${site.id}`);
  const both = await call('resolve_feedback', { ids: feedback.slice(8).map((item) => item.id), note: 'Will do.' });
  assert.equal(told(both).unread_feedback, 1, 'the eleventh is mentioned');
  assert.match(both.content.map((block) => block.text ?? '').join('\n'), /Unread viewer comments on .*: 1\. Call list_feedback/);
  await news.close();
  const open = told(await call('list_feedback', { site: site.id })).feedback;
  assert.deepEqual(open.map((item) => item.comment), [LAST]);
  const done = await call('reply_to_feedback', { id: open[0].id, text: 'By Friday.', resolve: true });
  assert.equal(told(done).state, 'resolved');
  return site;
}

/** What the server has in the end. */
async function check(site) {
  const shown = (await view(server, site)).text();
  assert.equal(shown.match(/mistake no more/g).length, 8);
  assert.equal(shown.match(/mitsake/g).length, 2);
  const headers = { authorization: `Bearer ${key}` };
  const { feedback } = (await request(server, { path: `/sites/${site.id}/feedback`, headers })).json();
  assert.equal(feedback.length, COUNT + 1);
  assert.deepEqual(feedback.filter((item) => !item.resolved_at), []);
  const replies = feedback.flatMap((item) => item.replies ?? []);
  assert.deepEqual([...new Set(replies.map((reply) => reply.author))], ['agent']);
  assert.equal(replies.length, 5);
  const { versions } = (await request(server, { path: `/sites/${site.id}/versions`, headers })).json();
  assert.equal(versions[0].version, 9, 'one version for each edit');
}

test('the TypeScript client, version 1, works off ten comments and hears of an eleventh', async () => {
  const client = new Client1({ name: 'e2e', version: '1' });
  const inbox = new Inbox();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => inbox.put(params.uri));
  await client.connect(new Transport1(new URL(`${server.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${key}` } } }));
  const site = await loop({
    call: (name, args) => client.callTool({ name, arguments: args }),
    watch: async (uri) => {
      await client.subscribeResource({ uri });
      return { next: () => inbox.next(), close: () => client.unsubscribeResource({ uri }) };
    },
  });
  await client.close();
  await check(site);
});

test('the TypeScript client, version 2, works off ten comments and hears of an eleventh', async () => {
  const client = new Client2({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const inbox = new Inbox();
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => inbox.put(params.uri));
  await client.connect(new Transport2(new URL(`${server.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${key}` } } }));
  const site = await loop({
    call: (name, args) => client.callTool({ name, arguments: args }),
    watch: async (uri) => {
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      return { next: () => inbox.next(), close: () => subscription.close() };
    },
  });
  await client.close();
  await check(site);
});

for (const era of ['legacy', 'auto']) {
  test(`the Python client (${era}) works off ten comments and hears of an eleventh`, async () => {
    const args = [path.join(ROOT, 'e2e/mcp/feedback_loop.py'), server.url, era, PAGE];
    const child = spawn(path.join(ROOT, '.test/venv/bin/python'), args, {
      env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', DROPLEAF_KEY: key },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (complaints += text));
    const ended = new Promise((resolve) => child.once('close', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), HANGS);
    const said = {};
    try {
      for await (const line of createInterface({ input: child.stdout })) {
        const fact = JSON.parse(line);
        if (fact.do === 'comments') await tenComments(fact.site);
        else if (fact.do === 'eleventh') await comment(server, fact.site, LAST);
        else Object.assign(said, fact);
        if (fact.do) child.stdin.write('{}\n');
      }
      assert.equal(await ended, 0, `${complaints}\nit said: ${JSON.stringify(said)}`);
    } finally {
      clearTimeout(timer);
      child.kill('SIGKILL');
    }
    assert.deepEqual(said.comments.sort(), numbers.map((n) => `Line ${n}: typo.`).sort());
    assert.equal(said.updated, `dropleaf://sites/${said.site.id}`);
    assert.deepEqual([said.before, said.unread, said.open], [0, 1, [LAST]]);
    await check(said.site);
  });
}
