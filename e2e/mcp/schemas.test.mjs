// Every tool once, with its arguments held against its input schema by Ajv in strict mode, as careful clients do: a format or
// a keyword that is not known is a mistake there. Its result is held against the schema that the OpenAPI document has for it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { publish, request } from '../http.mjs';
import { operatorKey, startServer, tempDir } from '../server.mjs';
import { comment, page, view } from './walk.mjs';

let server, dir, client, schemas;

before(async () => {
  // No DNS server: a check says that it could not be done, and asks nobody.
  server = await startServer({ env: { DROPLEAF_DNS__SERVERS: '127.0.0.1:1' } });
  dir = await tempDir('schemas');
  const headers = { authorization: `Bearer ${await operatorKey(server)}` };
  client = new Client({ name: 'e2e', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  formats.default(ajv);
  const { tools } = await client.listTools();
  const openapi = JSON.parse((await request(server, { path: '/openapi.json' })).text());
  const results = new Ajv2020({ strict: true, allErrors: true });
  formats.default(results);
  for (const format of ['int32', 'int64', 'uint64']) results.addFormat(format, true);
  results.addVocabulary(['example', 'components']);
  results.addSchema({ $id: 'openapi', components: openapi.components }, undefined, undefined, false);
  const returned = openapi.paths['/mcp'].post['x-mcp-tools'];
  const output = (name) => results.compile({ $ref: `openapi${returned[name].$ref}` });
  schemas = new Map(tools.map((tool) => [tool.name, { input: ajv.compile(tool.inputSchema), output: output(tool.name) }]));
});
after(async () => {
  await client?.close();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

const called = new Set();

/** Calls a tool past the client's own checks; gives its structure. */
async function call(name, args = {}) {
  const { input, output } = schemas.get(name);
  assert.ok(input(args), `${name} takes ${JSON.stringify(args)}: ${JSON.stringify(input.errors)}`);
  const result = await client.request({ method: 'tools/call', params: { name, arguments: args } }, CallToolResultSchema);
  assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
  assert.ok(output(result.structuredContent), `${name} gives ${JSON.stringify(result.structuredContent)}: ${JSON.stringify(output.errors)}`);
  called.add(name);
  return result.structuredContent;
}

test('every tool takes and gives what its schemas say', async () => {
  const html = page('Swept');
  assert.equal((await call('check_page', { html })).accepted, true);
  const harvest = '<title>PayPal: log in</title><h1>Log in to your PayPal account</h1><form action="https://collect.top/"><input type="password"></form>';
  const refused = await call('check_page', { html: harvest });
  assert.ok(!refused.accepted && refused.reasons.length > 0, JSON.stringify(refused));
  const made = await call('publish_html', { html, title: 'Swept', expires_in_hours: 48, csp_strict: true, idempotency_key: 'once' });
  const site = made.id;
  assert.equal((await call('publish_html', { html, title: 'Swept', expires_in_hours: 48, csp_strict: true, idempotency_key: 'once' })).id, site);
  await call('update_site', { site, html: page('Again'), expected_updated_at: made.updated_at });
  await call('get_site', { site });
  assert.match((await call('get_content', { site })).text, /Again/);
  const read = await call('read_site', { site, format: 'source', start_line: 1, end_line: 5 });
  const edits = [{ find: '<h1>Again', replace: '<h1>Edited' }];
  const edited = await call('edit_site', { site, edits, expected_updated_at: read.updated_at, dry_run: true });
  assert.equal(edited.dry_run, true);
  assert.match((await call('edit_site', { site, edits, idempotency_key: 'edit' })).diff, /Edited/);
  assert.match((await call('read_site', { site, format: 'text' })).text, /Edited/);
  await call('list_sites');
  await call('list_sites', { limit: 1, state: 'live', query: 'again' });
  await call('set_visibility', { site, visibility: 'public', slug: 'swept' });
  await call('set_visibility', { site, visibility: 'unlisted' });
  await call('set_expiry', { site, expires_in_hours: 24 });
  const domain = { hostname: 'reports.customer.example' };
  await call('add_custom_domain', { ...domain, site });
  await call('update_custom_domain', { ...domain, primary: true });
  await call('verify_custom_domain', domain);
  await call('list_custom_domains');
  await call('delete_custom_domain', domain);
  await call('set_expiry', { site, expires_in_hours: null });
  await call('set_agentation', { site, agentation: true });
  await call('set_live', { site, live: true });
  await comment(server, made, 'Why?');
  assert.equal((await call('get_site', { site })).unread_feedback, 1);
  const { feedback } = await call('list_feedback', { site });
  const replied = await call('reply_to_feedback', { id: feedback[0].id, text: 'Because.' });
  assert.equal(replied.reply.author, 'agent');
  await call('resolve_feedback', { id: feedback[0].id, note: 'Answered.' });
  await comment(server, made, 'And then?');
  const next = (await call('list_feedback', { site, state: 'open', order: 'severity', limit: 10 })).feedback;
  assert.deepEqual((await call('resolve_feedback', { ids: next.map(({ id }) => id) })).ids, next.map(({ id }) => id));
  await call('list_feedback', { site });
  await call('set_password', { site, password: 'correct horse' });
  const link = await call('create_share_link', { site, note: 'for Ann', expires_in: 3600, max_uses: 2 });
  await call('list_share_links', { site });
  await call('revoke_share_link', { token: link.token });
  await call('set_password', { site, password: null });
  await call('set_email_gate', { site, email_gate_domain: 'example.org' });
  await call('set_email_gate', { site, email_gate_domain: null });
  await call('list_versions', { site });
  await call('rollback_site', { site, version: 1 });
  await call('delete_site', { site });
  await call('list_sites', { state: 'expired' });
  await call('restore_site', { site });
  const found = await publish(server, { name: 'a.html', bytes: page('Found') });
  await call('claim_site', { site: found.id, claim_token: found.claim_token });
  await call('get_me');
  assert.match((await call('get_design_guide')).markdown, /^# Design guide/);

  await writeFile(path.join(dir, 'report.html'), page('From disk'));
  const { command } = await call('create_upload', { file: 'report.html', title: 'Sent' });
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: dir });
  const sent = JSON.parse(stdout);
  assert.match((await view(server, sent)).text(), /From disk/);
  assert.equal((await call('get_site', { site: sent.id })).title, 'Sent');
  await call('delete_site', { site: sent.id, purge: true });

  assert.deepEqual([...schemas.keys()].filter((name) => !called.has(name)), [], 'tools that this test does not know');
});

test('a refusal says its code and what to do, and has no structure to hold against a schema', async () => {
  for (const [name, args, code] of [
    ['get_site', { site: 'site_of_nobody' }, 'not_found'],
    ['publish_html', {}, 'invalid_field'],
    ['publish_html', { html: page('x'), slug: 'a b' }, 'invalid_slug'],
  ]) {
    const result = await client.request({ method: 'tools/call', params: { name, arguments: args } }, CallToolResultSchema);
    assert.equal(result.isError, true, name);
    assert.match(result.content[0].text, new RegExp(code), name);
    assert.equal(result.structuredContent, undefined, name);
  }
});
