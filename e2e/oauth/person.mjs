// A person with a browser who has signed in, and the place on this machine where programs wait for their answer.

import http from 'node:http';
import { launch, openPage } from '../browser.mjs';
import { signIn } from '../people.mjs';
import { startServer } from '../server.mjs';

/** A server, a browser and a page that is signed in as Ann. */
export async function start() {
  const server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  const browser = await launch();
  const page = await openPage(await browser.newContext());
  await signIn(page, server, 'ann@example.org');
  const stop = async () => {
    await browser.close();
    await server.stop();
  };
  return { server, browser, page, stop };
}

/** Follows a program's link, reads what it asks for, and answers; gives what the page said. */
export async function consent(page, url, answer = 'allow') {
  await page.goto(String(url));
  const said = await page.innerText('main');
  await page.click(`form[action="/oauth/consent"] button[value="${answer}"]`);
  return said;
}

/** Types a device's code, compares it, and answers. */
export async function answerDevice(page, uri, code, answer = 'allow') {
  await page.goto(uri);
  await page.fill('#user_code', code.toLowerCase());
  await page.click('form[action="/device"] button');
  await page.click(`form[action="/device"] button[value="${answer}"]`);
  await page.waitForURL('**/device?ended=*');
}

/** A place on this machine where a browser is sent back to: `redirect` and a promise of the parameters. */
export async function callback() {
  let come;
  const came = new Promise((resolve) => (come = resolve));
  const listener = http.createServer((request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    response.end('You can close this page.');
    if (url.pathname === '/callback') come(url.searchParams);
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const redirect = `http://127.0.0.1:${listener.address().port}/callback`;
  return { redirect, came, close: () => listener.close() };
}

/** What an answer of the API is, for a bearer. */
export async function asked(server, token, path = '/sites') {
  const response = await fetch(server.url + path, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body: await response.json() };
}
