// Device login in a real browser: `dropleaf login` shows a code, its owner signs in, types it, compares, and allows.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, OUTPUT, pictureFile } from './browser.mjs';
import { publish } from './http.mjs';
import { sessionCookie, signIn, takeCookie } from './people.mjs';
import { BINARY, operatorKey, startServer, tempDir, until } from './server.mjs';

const VIEWS = {
  'desktop-light': { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  'desktop-dark': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  'phone-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  'phone-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
};

let server, browser, home, cookie;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  browser = await launch();
  home = await tempDir('home');
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await rm(home, { recursive: true, force: true });
});

/** Runs the binary as a person on a machine of their own. */
function dropleaf(...args) {
  const child = spawn(BINARY, args, { cwd: home, env: { PATH: process.env.PATH, HOME: home, DROPLEAF_URL: server.url }, stdio: ['ignore', 'pipe', 'pipe'] });
  const run = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (run.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (run.err += text));
  run.ended = new Promise((resolve) => child.once('close', resolve));
  return run;
}

async function begin(name = 'build machine') {
  const response = await fetch(`${server.url}/device/code`, { method: 'POST', body: new URLSearchParams({ client_name: name }) });
  return response.json();
}

test('a person signs in on the way, allows the code, and the command line publishes', async () => {
  const login = dropleaf('login', '--name', 'dropleaf on my-laptop');
  const code = await until('a code', () => login.err.match(/and enter {2}(\S+)/)?.[1]);
  const page = await openPage(await browser.newContext());
  await page.goto(`${server.url}/device?user_code=${code}`);
  assert.equal(new URL(page.url()).pathname, '/login', 'a stranger signs in first');
  await signIn(page, server, 'ann@example.org', `/device?user_code=${code}`);
  cookie = await sessionCookie(page);
  const asked = await page.innerText('main');
  for (const part of [code, 'dropleaf on my-laptop', 'ann@example.org']) assert.ok(asked.includes(part), asked);
  await page.click('button[value="allow"]');
  assert.match(await page.innerText('main'), /You can close this page/);
  assert.deepEqual(page.complaints, []);

  assert.equal(await login.ended, 0, login.err);
  const file = path.join(home, '.config/dropleaf/credentials.toml');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await writeFile(path.join(home, 'page.html'), '<!doctype html><title>Hi</title><h1>From the shell</h1>');
  const published = dropleaf('publish', 'page.html');
  assert.equal(await published.ended, 0, published.err);
  await page.goto(published.out.trim());
  assert.equal(await page.textContent('h1'), 'From the shell');
  const logout = dropleaf('logout');
  assert.equal(await logout.ended, 0, logout.err);
  assert.ok(!(await readFile(file, 'utf8')).includes('stk_live_'));
});

test('a code that leads nowhere is said beside the field, and what was typed stays', async () => {
  const page = await openPage(await browser.newContext());
  await takeCookie(page, cookie);
  await page.goto(`${server.url}/device`);
  await page.waitForFunction(() => document.activeElement?.id === 'user_code');
  await page.keyboard.type('bbbb bbbb');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=alert]');
  assert.equal(await page.inputValue('#user_code'), 'bbbb bbbb');
  assert.equal(await page.getAttribute('#user_code', 'aria-invalid'), 'true');
});

test('a page of another origin can neither frame the question nor answer it', async () => {
  const begun = await begin();
  const question = `${server.url}/device?user_code=${begun.user_code}`;
  const attack = `<!doctype html><title>Evil</title><iframe src="${question}"></iframe>
    <form method="post" action="${server.url}/device" target="_top">
    <input name="user_code" value="${begun.user_code}"><input name="answer" value="allow"><button>Win</button></form>`;
  const site = await publish(server, { name: 'evil.html', bytes: attack, key: await operatorKey(server) });
  const page = await openPage(await browser.newContext());
  await takeCookie(page, cookie);
  await page.goto(site.url);
  assert.notEqual(new URL(page.url()).host, new URL(server.url).host);
  await until('the frame to fail', () => page.frames().find((frame) => frame.url().startsWith('chrome-error:')));
  await page.click('button');
  await page.waitForURL(`${server.url}/device`);
  assert.match(await page.innerText('body'), /Request blocked/);
  const polled = await fetch(`${server.url}/device/token`, { method: 'POST', body: new URLSearchParams({ device_code: begun.device_code }) });
  assert.equal((await polled.json()).error, 'authorization_pending');
});

test('without script everything works', async () => {
  const begun = await begin();
  const page = await openPage(await browser.newContext({ javaScriptEnabled: false }));
  await takeCookie(page, cookie);
  await page.goto(`${server.url}/device`);
  await page.fill('#user_code', begun.user_code);
  await page.click('form[action="/device"] button');
  await page.click('button[value="deny"]');
  assert.match(await page.innerText('main'), /Device not connected/);
});

test('it looks right in light and dark, on a desk and on a phone', async () => {
  for (const [name, view] of Object.entries(VIEWS)) {
    const begun = await begin('dropleaf on my-laptop');
    const page = await openPage(await browser.newContext(view));
    await takeCookie(page, cookie);
    const shot = async (what, dir = OUTPUT) => page.screenshot({ path: path.join(dir, `${what}.png`) });
    await page.goto(`${server.url}/device`);
    await shot(`device-enter-${name}`);
    await page.goto(`${server.url}/device?user_code=${begun.user_code}`);
    await shot(`device-${name}`);
    if (name === 'desktop-light') {
      const clip = { x: 340, y: 60, width: 600, height: 840 };
      await page.screenshot({ path: pictureFile('device'), clip });
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.ok(!wide, `${name} scrolls sideways`);
    await page.click('button[value="allow"]');
    await page.waitForURL('**/device?ended=allowed');
    await shot(`device-end-${name}`);
    assert.deepEqual(page.complaints, []);
  }
});
