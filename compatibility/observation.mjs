// What is compared: the text of a page and its frames, the fate of every request, console errors and uncaught errors. Also
// recorded is what the page's security policy forbade. Addresses are written from the output's own root, so that two
// servers say the same.

/** Paths of the service itself, which the reference does not have. */
const OURS = /^\/_dropleaf\//;
const VIOLATION = 'security policy violation:';

/** Has every document of a context tell the console what its policy forbids. */
export async function reportViolations(context) {
  await context.addInitScript((prefix) => {
    const { debug } = console;
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => debug(prefix, effectiveDirective, blockedURI), true);
  }, VIOLATION);
}

/** Records a page from now on; what fits `changing` is left out of its text. */
export function observe(page, { changing = /$^/g } = {}) {
  const requests = new Map();
  const errors = new Set();
  const violations = new Set();

  const note = (request, outcome) => {
    const url = request.url();
    if (!/^https?:/.test(url) || isFrameDocument(request) || wasAbandoned(request)) return;
    const name = local(url);
    if (!OURS.test(name)) requests.set(name, outcome);
  };
  const listeners = {
    response: (response) => note(response.request(), fate(response.status())),
    requestfailed: (request) => note(request, 'failed'),
    pageerror: (error) => errors.add(local(`${error.name}: ${error.message}`)),
    console: (message) => {
      const text = message.text();
      if (message.type() === 'debug' && text.startsWith(VIOLATION)) violations.add(local(text.slice(VIOLATION.length).trim()));
      if (message.type() !== 'error' || /\/favicon\.ico$/.test(message.location().url)) return;
      errors.add(local(`${text} (${message.location().url})`));
    },
  };
  for (const [event, listener] of Object.entries(listeners)) page.on(event, listener);

  return {
    /** What there is to see now. */
    async look() {
      const texts = await Promise.all(page.frames().filter(isShown).map(visibleText));
      return {
        text: local(texts.join('\n')).replace(changing, ''),
        requests: new Map([...requests].sort()),
        errors: new Set(errors),
        violations: new Set(violations),
      };
    },
    stop() {
      for (const [event, listener] of Object.entries(listeners)) page.off(event, listener);
    },
  };
}

/** Whether an output asks other hosts than its own. */
export const asksOtherHosts = ({ requests }) => [...requests.keys()].some((name) => /^https?:/.test(name));

const fate = (status) => (status < 400 ? 'ok' : 'failed');
/** Documents of frames are compared by their text. */
const isFrameDocument = (request) => request.isNavigationRequest();
/** A request that was still under way when the page was left. A stylesheet of the wrong type is reported in the same words. */
const wasAbandoned = (request) => request.failure()?.errorText === 'net::ERR_ABORTED' && request.resourceType() !== 'stylesheet';
const isShown = (frame) => !frame.isDetached() && !frame.url().includes('/_dropleaf/');

async function visibleText(frame) {
  try {
    const text = await frame.evaluate(() => document.documentElement?.innerText ?? '');
    return text.replace(/\s+/g, ' ').trim();
  } catch {
    return '(navigating)';
  }
}

/** Writes addresses of an output's own host as paths, with or without the token of an unlisted link. */
function local(text) {
  return text.replace(/http:\/\/[a-z0-9-]+\.localhost:\d+(\/p\/[\w-]{22}(?=\/))?/g, '');
}
