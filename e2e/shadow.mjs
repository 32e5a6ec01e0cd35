// Looks into a closed shadow root as only a debugger can: a page's own scripts have no way in, and neither has Playwright.

import { until } from './server.mjs';

function hostOf(node, name) {
  if (node.localName === name && node.shadowRoots?.length) return node.shadowRoots[0];
  for (const child of [...(node.children ?? []), ...(node.shadowRoots ?? [])]) {
    const found = hostOf(child, name);
    if (found) return found;
  }
  return undefined;
}

/** The closed root below the element `name`; its functions run in a world of their own, away from the page's scripts. */
export async function pierce(page, name = 'dropleaf-feedback') {
  const debug = await page.context().newCDPSession(page);
  let objectId;
  const attach = async () => {
    const { root } = await debug.send('DOM.getDocument', { depth: -1, pierce: true });
    const found = hostOf(root, name);
    if (!found) return false;
    const { frameTree } = await debug.send('Page.getFrameTree');
    const { executionContextId } = await debug.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'tests' });
    const { object } = await debug.send('DOM.resolveNode', { backendNodeId: found.backendNodeId, executionContextId });
    ({ objectId } = object);
    return true;
  };
  await until(`<${name}>`, attach);

  /** Runs `act(root, ...values)` inside. */
  async function run(act, ...values) {
    const { result, exceptionDetails } = await debug.send('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: `function (...values) { return (${act})(this, ...values); }`,
      arguments: values.map((value) => ({ value })),
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  const shadow = {
    run,
    attach,
    /** The text of what is seen, or null. */
    text: (selector) =>
      run((root, wanted) => {
        const found = [...root.querySelectorAll(wanted)].find((node) => node.getClientRects().length);
        return found ? found.innerText : null;
      }, selector),
    count: (selector) => run((root, wanted) => [...root.querySelectorAll(wanted)].filter((node) => node.getClientRects().length).length, selector),
    focused: () => run((root) => root.activeElement && (root.activeElement.id || root.activeElement.className)),
    box: (selector) =>
      run((root, wanted) => {
        const found = [...root.querySelectorAll(wanted)].find((node) => node.getClientRects().length);
        if (!found) return null;
        found.scrollIntoView({ block: 'nearest' });
        const { x, y, width, height } = found.getBoundingClientRect();
        return { x, y, width, height };
      }, selector),
    seen: (selector) => until(selector, () => shadow.box(selector)),
    /** The box of an element that does not move any more: markers follow the page while it scrolls. */
    async settled(selector) {
      let last;
      return until(`${selector} to stop moving`, async () => {
        const before = last;
        last = await shadow.box(selector);
        return last && before && last.x === before.x && last.y === before.y && last;
      });
    },
    says: (selector, pattern) =>
      until(`${selector} to say ${pattern}`, async () => {
        const text = await shadow.text(selector);
        return text !== null && pattern.test(text) && text;
      }),
    /** A real click of the mouse, or a tap, at the middle of an element. */
    async click(selector, { tap = false } = {}) {
      const { x, y, width, height } = await shadow.settled(selector);
      const [left, top] = [x + width / 2, y + height / 2];
      await (tap ? page.touchscreen.tap(left, top) : page.mouse.click(left, top));
    },
    async type(text) {
      await page.keyboard.insertText(text);
    },
  };
  return shadow;
}
