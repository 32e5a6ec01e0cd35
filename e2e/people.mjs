// People who sign in: through the real pages, with the letters the server puts into its outbox.

import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { until } from './server.mjs';

async function names(server) {
  return readdir(path.join(server.dataDir, 'outbox')).catch(() => []);
}

/** Does something that sends a letter to this address, and gives the letter: {text, code, link}. */
export async function letterAfter(server, email, act) {
  const before = new Set(await names(server));
  await act();
  return until(`a letter to ${email}`, async () => {
    const fresh = (await names(server)).filter((name) => name.endsWith('.eml') && !before.has(name));
    for (const name of fresh) {
      const text = await readFile(path.join(server.dataDir, 'outbox', name), 'utf8');
      if (!text.includes(`To: ${email}`)) continue;
      const code = text.match(/^Your code is (\d{4}) (\d{4})/m)?.slice(1).join('');
      const link = text.match(/https?:\/\/\S+\/login\/link\?token=\S+/)?.[0];
      if (code) return { text, code, link };
    }
    return null;
  });
}

/** Types the address into /login and gives the letter; the browser is at /login/code then. */
export async function askForCode(page, server, email, next) {
  await page.goto(`${server.url}/login${next ? `?next=${encodeURIComponent(next)}` : ''}`);
  await page.fill('#email', email);
  return letterAfter(server, email, async () => {
    await page.click('form[action="/login"] button');
    await page.waitForURL(`${server.url}/login/code`);
  });
}

/** Signs in (and up, the first time) through the pages; the browser ends at `next`, or at the dashboard. */
export async function signIn(page, server, email, next) {
  const { code } = await askForCode(page, server, email, next);
  await page.fill('#code', code);
  await page.click('form[action="/login/code"] button');
  await page.waitForURL((url) => !url.pathname.startsWith('/login'));
}

/** `name=value` of the session of this page's browser, for requests that no browser makes; nothing when signed out. */
export async function sessionCookie(page) {
  const found = (await page.context().cookies()).find((cookie) => cookie.name === '__Host-session');
  return found && `${found.name}=${found.value}`;
}

/** Signs a person in, in a browser window that is closed again; the session is what `takeCookie` takes. */
export async function sessionOf(browser, server, email = 'operator@localhost') {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, server, email);
  const cookie = await sessionCookie(page);
  await context.close();
  return cookie;
}

/** Gives the page's browser a session that was begun elsewhere; `cookie` is what `sessionCookie` gave. */
export async function takeCookie(page, cookie) {
  const [name, value] = cookie.split('=');
  // Secure cookies are set for https and sent to http://localhost as well; ports do not count.
  await page.context().addCookies([{ name, value, url: 'https://localhost', secure: true, httpOnly: true, sameSite: 'Lax' }]);
}
