// Debian's Chromium without its own windows (the headless shell, which takes about half the time for each page), with
// everything that would reach for the network switched off.

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { HANGS, ROOT } from './server.mjs';

export const OUTPUT = path.join(ROOT, 'e2e/output');

/** KEEP_IMAGES=1 renews the pictures of the documentation; the folder itself says which there are. */
const KEPT = process.env.KEEP_IMAGES ? path.join(ROOT, 'docs/images') : null;

/** The file for a picture of this name: in docs/images when they are renewed and it is one of them. */
export function pictureFile(name) {
  const kept = KEPT && path.join(KEPT, `${name}.png`);
  return kept && existsSync(kept) ? kept : path.join(OUTPUT, `${name}.png`);
}

/** Desktop and phone, light and dark. */
export const VIEWS = [
  { name: 'desktop', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'desktop-dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'phone-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
];

/**
 * Options: `hosts`, names that lead to this machine; `isOffline`, no name but those under localhost leads anywhere;
 * `port`, where every name leads at every port; `home`, a home directory with certificates to trust.
 */
export async function launch({ hosts = [], isOffline = false, port, home } = {}) {
  await mkdir(OUTPUT, { recursive: true });
  const resolver = hosts.map((name) => `MAP ${name} 127.0.0.1`);
  if (port) resolver.push(`MAP * 127.0.0.1:${port}`);
  if (isOffline) resolver.push('MAP * ~NOTFOUND', 'EXCLUDE localhost', 'EXCLUDE *.localhost');
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    ...(home && { env: { ...process.env, HOME: home } }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...(resolver.length ? [`--host-resolver-rules=${resolver.join(',')}`] : []),
    ],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(HANGS);
    return context;
  };
  return browser;
}

/** A page that collects its errors; `page.complaints` must stay empty on a healthy page. */
export async function openPage(context) {
  const page = await context.newPage();
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('console', (message) => {
    const favicon = message.location().url.endsWith('/favicon.ico');
    if (message.type() === 'error' && !favicon) page.complaints.push(message.text());
  });
  return page;
}
