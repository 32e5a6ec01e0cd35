// The browser of one output's viewer: one context and one tab, which shows the reference and then every mode. Each of them
// has a host of its own, so that they share neither storage nor cookies.

import { HANGS } from '../e2e/server.mjs';
import { playOtherHosts } from './network.mjs';
import { observe, reportViolations } from './observation.mjs';

const VIEWPORT = { width: 1280, height: 800 };
/** A step of a functional check that takes longer than this will never succeed. */
const STEP_MS = 20_000;

export class Viewer {
  static async open(browser, fixture) {
    const context = await browser.newContext({ viewport: VIEWPORT });
    context.setDefaultTimeout(STEP_MS);
    context.setDefaultNavigationTimeout(HANGS);
    await playOtherHosts(context, fixture);
    await reportViolations(context);
    return new Viewer(fixture, context, await context.newPage());
  }

  constructor(fixture, context, page) {
    Object.assign(this, { fixture, context, page });
  }

  /** Leaves what is shown, and forgets it. */
  async leave() {
    this.observation?.stop();
    await this.page.goto('about:blank');
  }

  /** Records from now on. */
  observe() {
    this.observation = observe(this.page, this.fixture);
    return this.observation;
  }

  /**
   * No host but our own is answered any more: for outputs that ask none. The browser resolves no other names, so that a
   * request to one fails, and is seen.
   */
  async stopPlayingOtherHosts() {
    await this.context.unrouteAll();
  }

  /** Stores a cookie as that host would have set it. */
  async keepCookie({ host, name, value }) {
    const session = await this.context.newCDPSession(this.page);
    const cookie = { url: `https://${host}/`, name, value, path: '/', secure: true, httpOnly: true, sameSite: 'Lax' };
    const { success } = await session.send('Network.setCookie', cookie);
    await session.detach();
    if (!success) throw new Error(`the browser refuses the cookie ${name}`);
  }

  /** The names of the cookies of the host that is shown. */
  async cookieNames() {
    return (await this.context.cookies(this.page.url())).map(({ name }) => name).sort();
  }

  async picture(file) {
    await this.page.screenshot({ path: file });
  }

  async close() {
    await this.context.close();
  }
}
