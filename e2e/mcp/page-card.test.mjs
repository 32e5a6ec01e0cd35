// The MCP App: linked to tools only for clients that negotiate it, and shown by the official bridge in a sandboxed frame of a
// real browser. The bridge runs here; its messages cross into the frame and back.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppBridge, getToolUiResourceUri, RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps/app-bridge';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { launch, openPage, pictureFile } from '../browser.mjs';
import { html } from '../samples.mjs';
import { operatorKey, startServer, until } from '../server.mjs';

let server, browser, headers;

before(async () => {
  server = await startServer();
  headers = { authorization: `Bearer ${await operatorKey(server)}` };
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function connect(capabilities) {
  const client = new Client({ name: 'e2e', version: '1' }, { capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
  return client;
}
const UI = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } };

/** A host: the document in a frame without an origin, and a transport to it. */
async function host(document) {
  const page = await openPage(await browser.newContext());
  const transport = { start: async () => {}, close: async () => {} };
  await page.exposeFunction('fromView', (message) => transport.onmessage?.(message));
  await page.setContent('<!doctype html><title>Host</title><iframe sandbox="allow-scripts" style="width:420px;height:260px;border:0"></iframe>');
  transport.send = (message) => page.evaluate((sent) => document.querySelector('iframe').contentWindow.postMessage(sent, '*'), message);
  await page.evaluate(() => addEventListener('message', ({ source, data }) => source === document.querySelector('iframe').contentWindow && window.fromView(data)));
  const load = () => page.evaluate((text) => { document.querySelector('iframe').srcdoc = text; }, document);
  return { page, transport, load, frame: () => page.frames()[1] };
}

test('only a client that negotiates the extension gets the card', async () => {
  const plain = await connect({});
  const { tools } = await plain.listTools();
  assert.deepEqual(tools.filter((tool) => tool._meta), []);
  const client = await connect(UI);
  const linked = (await client.listTools()).tools.filter((tool) => getToolUiResourceUri(tool));
  assert.deepEqual(linked.map((tool) => tool.name).sort(), ['edit_site', 'get_site', 'publish_html', 'update_site']);
  const result = await plain.callTool({ name: 'publish_html', arguments: { html: html('Plain') } });
  assert.match(result.content[0].text, /"url":/, 'the text is enough');
  await plain.close();
  await client.close();
});

test('the card shows link, state and comments, and opens the link through the host', async () => {
  const client = await connect(UI);
  const tool = (await client.listTools()).tools.find(({ name }) => name === 'publish_html');
  const { contents } = await client.readResource({ uri: getToolUiResourceUri(tool) });
  assert.equal(contents[0].mimeType, RESOURCE_MIME_TYPE);
  const hostile = '<img src=x onerror="parent.hacked = 1">';
  const args = { html: html('x'), title: hostile, password: 'secret', agentation: true };
  const result = await client.callTool({ name: 'publish_html', arguments: args });
  const site = result.structuredContent;

  const { page, transport, load, frame } = await host(contents[0].text);
  const bridge = new AppBridge(null, { name: 'e2e host', version: '1' }, { openLinks: {} }, { hostContext: { theme: 'dark' } });
  const opened = [];
  let size;
  bridge.onopenlink = async ({ url }) => (opened.push(url), {});
  bridge.onsizechange = (params) => { size = params; };
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await bridge.connect(transport);
  await load();
  await ready;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult({ ...result, structuredContent: { ...site, unread_feedback: 2 } });
  const text = await until('the card', async () => {
    const shown = await frame().evaluate(() => document.body.innerText);
    return shown.includes(site.url) && shown;
  });
  for (const words of [hostile, 'Version 1', 'Private link', 'Password', '2 unread comments']) assert.ok(text.includes(words), `${words}: ${text}`);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await frame().evaluate(() => document.documentElement.dataset.theme), 'dark');
  await frame().click('#open');
  await until('the link', () => opened.length === 1);
  assert.deepEqual(opened, [site.url]);
  await until('the size', () => size?.height > 0);
  assert.equal(await frame().evaluate(() => document.querySelectorAll('iframe, img, script[src], link').length), 0, 'nothing is loaded');
  await page.screenshot({ path: pictureFile('mcp-page-card') });
  await bridge.teardownResource({});
  assert.deepEqual(page.complaints, []);
  await client.close();
});
