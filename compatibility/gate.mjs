// Passes the gate of a page: by its form in the browser, or by the requests of that form alone, which is quicker.

import { request } from '../e2e/http.mjs';

/** What the server takes for a window of a browser. */
const WINDOW = { 'user-agent': 'Mozilla/5.0', accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const FORM = { ...WINDOW, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };

export async function typePassword(page, password) {
  await page.fill('input[name=password]', password);
  return page.click('button');
}

export const pressBurn = (page) => page.click('button');

/** Sends the password; gives the cookie that opens the page. */
export async function passPassword(server, site, password) {
  const { host, path } = await ownAddress(server, site);
  const body = new URLSearchParams({ password }).toString();
  const answer = await request(server, { method: 'POST', host, path: `${path}_dropleaf/gate`, headers: FORM, body });
  return cookieOf(answer, 303, host);
}

/** Presses the button of a page that burns; gives the cookie of the one viewer who may see it. */
export async function passBurn(server, site) {
  const { host, path } = await ownAddress(server, site);
  const cookie = cookieOf(await request(server, { host, path, headers: WINDOW }), 200, host);
  const headers = { ...FORM, cookie: `${cookie.name}=${cookie.value}` };
  const pressed = await request(server, { method: 'POST', host, path: `${path}_dropleaf/reveal`, headers, body: '' });
  if (pressed.status !== 303) throw new Error(`reveal: ${pressed.status} ${pressed.text()}`);
  return cookie;
}

/** Where the page's own host is, to which the link leads. */
async function ownAddress(server, site) {
  const link = new URL(site.url);
  const answer = await request(server, { host: link.host, path: link.pathname, headers: WINDOW });
  const { host, pathname } = new URL(answer.headers.location ?? link, link);
  return { host, path: pathname };
}

function cookieOf(answer, status, host) {
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(answer.headers['set-cookie']?.[0] ?? '') ?? [];
  if (answer.status !== status || !name) throw new Error(`gate: ${answer.status} ${answer.text()}`);
  return { host, name, value };
}
