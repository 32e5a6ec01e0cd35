// The pages that dropleaf itself shows to a viewer: missing, gone, wrong host, protected. Each is photographed at desk
// and phone width, light and dark, and checked for what makes a page readable.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch, openPage, OUTPUT } from './browser.mjs';
import { publish, request, siteHost } from './http.mjs';
import { assertReadable, examine } from './readable.mjs';
import * as samples from './samples.mjs';
import { operatorKey, startServer } from './server.mjs';

const VIEWS = [
  { name: 'desktop-light', width: 1280, height: 800, colorScheme: 'light' },
  { name: 'desktop-dark', width: 1280, height: 800, colorScheme: 'dark' },
  { name: 'phone-light', width: 390, height: 844, colorScheme: 'light' },
  { name: 'phone-dark', width: 390, height: 844, colorScheme: 'dark' },
];

let server, browser;
const surfaces = {};

before(async () => {
  server = await startServer();
  const key = await operatorKey(server);
  browser = await launch({ hosts: ['unknown.test'] });
  const sample = { name: 'page.html', bytes: samples.html('Sample'), key };
  const deleted = await publish(server, sample);
  assert.equal((await request(server, { method: 'DELETE', path: `/sites/${deleted.id}`, key })).status, 200);
  const locked = await publish(server, { ...sample, fields: { password: 'correct horse' } });
  const missing = `/p/${'A'.repeat(22)}/`;
  Object.assign(surfaces, {
    'missing-404': { url: server.url + missing, path: missing, status: [404], error: 'not_found' },
    'deleted-410': { url: deleted.url, path: deleted.path, status: [410], error: 'deleted' },
    'password-protected': { url: locked.url, path: locked.path, status: [401], error: 'password_required' },
    'unknown-host-421': { url: `http://unknown.test:${server.port}/`, path: '/', host: `unknown.test:${server.port}`, status: [421], error: 'misdirected_host' },
  });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const NAMES = ['missing-404', 'deleted-410', 'password-protected', 'unknown-host-421'];
for (const name of NAMES) {
  describe(name, () => {
    test('is a designed page for a browser', async () => {
      const { url, status } = surfaces[name];
      const backgrounds = new Set();
      for (const { name: view, width, height, colorScheme } of VIEWS) {
        const context = await browser.newContext({ viewport: { width, height }, colorScheme });
        const page = await openPage(context);
        const response = await page.goto(url);
        assert.ok(status.includes(response.status()), `${response.status()}`);
        assert.match(response.headers()['content-type'], /^text\/html/);
        assert.match(response.headers()['content-security-policy'] ?? '', /default-src 'none'/);
        const seen = await page.evaluate(examine);
        await page.screenshot({ path: path.join(OUTPUT, `${name}-${view}.png`) });
        assert.equal(seen.lang, 'en', view);
        assert.notEqual(seen.title, '', view);
        assert.equal(seen.headings, 1, view);
        assert.match(seen.viewport, /width=device-width/, view);
        assertReadable(seen, view);
        backgrounds.add(`${colorScheme} ${seen.background}`);
        const violations = page.complaints.filter((text) => /Content.Security.Policy/i.test(text));
        assert.deepEqual(violations, [], view);
        await context.close();
      }
      assert.equal(backgrounds.size, 2, `one background for light, another for dark: ${[...backgrounds]}`);
    });

    test('is JSON for a program and short text for a terminal', async () => {
      const { path: at, host = siteHost(server), status, error } = surfaces[name];
      const json = await request(server, { path: at, host, headers: { accept: 'application/json' } });
      assert.ok(status.includes(json.status), `${json.status}`);
      assert.match(json.headers['content-type'], /^application\/json/);
      assert.equal(json.json().error, error);
      assert.ok(json.json().error_description.length > 10);
      assert.match(json.headers['cache-control'], /no-store/);
      if (name === 'unknown-host-421') return;
      const text = await request(server, { path: at, host, headers: { accept: '*/*' } });
      assert.match(text.headers['content-type'], /^text\/plain/);
      assert.ok(text.bytes.length < 500);
    });
  });
}

test('a published markdown page reads well at both widths', async () => {
  const key = await operatorKey(server);
  const site = await publish(server, { name: 'notes.md', bytes: samples.markdown, key });
  for (const { name, width, height, colorScheme } of VIEWS) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await openPage(context);
    await page.goto(site.url);
    const seen = await page.evaluate(examine);
    await page.screenshot({ path: path.join(OUTPUT, `markdown-${name}.png`) });
    assert.ok(seen.overflow <= 0, `${name}: ${seen.overflow} px too wide`);
    assert.ok(seen.contrast >= 4.5, `${name}: contrast ${seen.contrast.toFixed(2)}`);
    await context.close();
  }
});

test('the documentation page opens without errors and reads well at both widths', async () => {
  for (const { name, width, height, colorScheme } of VIEWS) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await openPage(context);
    const response = await page.goto(`${server.url}/docs`);
    assert.equal(response.status(), 200);
    const seen = await page.evaluate(examine);
    await page.screenshot({ path: path.join(OUTPUT, `docs-${name}.png`) });
    assert.deepEqual(page.complaints, [], name);
    assert.equal(seen.headings, 1, name);
    assert.ok(seen.overflow <= 0, `${name}: ${seen.overflow} px too wide`);
    assert.ok(seen.contrast >= 4.5, `${name}: contrast ${seen.contrast.toFixed(2)}`);
    await context.close();
  }
});
