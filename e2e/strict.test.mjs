// `csp_strict` in a real browser: the page's own scripts run, whatever was brought in does not, and nothing leaves.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch } from './browser.mjs';
import { publish } from './http.mjs';
import { operatorKey, startServer } from './server.mjs';
import { zip } from './zip.mjs';

let server, browser, key;

before(async () => {
  server = await startServer();
  key = await operatorKey(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// Every way to write a script that browsers run and that is hard to hash: line ends, comments, other letters, drawings.
const TRICKY = [
  '<script>ran.push("plain")</script>',
  '<SCRIPT TYPE=" text/JavaScript ">ran.push("loud")</SCRIPT\n>',
  '<script type=module>ran.push("module")</script>',
  '<script>\r\nran.push("returns")\r// x\r\n</script>',
  '<script><!-- an old trick\nran.push("comment")\n//--></script>',
  '<script>//<![CDATA[\nran.push("cdata")\n//]]></script>',
  '<script>ran.push("caf\u00e9 \u6f22 \u{1f600}".slice(0, 4))</script>',
  '<script>/*<!--<script></script>-->*/ran.push("nested")</script>',
  '<svg><script>ran.push("drawn")</script></svg>',
  '<svg><script>if (1 &lt; 2 &amp;&amp; true) ran.push("entities")</script></svg>',
  '<svg><script><![CDATA[if (1 < 2 && true) ran.push("section")]]></script></svg>',
  '<script type=importmap>{"imports": {"leaf": "./leaf.js"}}</script><script type=module>import leaf from "leaf"; ran.push(leaf)</script>',
];
const NAMES = ['plain', 'loud', 'module', 'returns', 'comment', 'cdata', 'caf\u00e9', 'nested', 'drawn', 'entities', 'section', 'mapped', 'file'];

const PAGE = `<!doctype html><meta charset=utf-8><title>Strict</title><script>var ran = [], blocked = [];
addEventListener('securitypolicyviolation', (event) => blocked.push(event.effectiveDirective));</script>
${TRICKY.join('\n')}
<script src="file.js"></script><button onclick="ran.push('handler')">x</button>
<script>
const brought = document.createElement('script');
brought.textContent = 'ran.push("injected")';
document.body.append(brought);
document.querySelector('button').click();
try { eval('ran.push("eval")'); } catch { ran.push('no eval'); }
localStorage.kept = 'yes';
const image = new Image();
image.onerror = () => ran.push('no image');
image.src = 'http://127.0.0.1:9/x.png';
fetch('http://127.0.0.1:9/steal').catch(() => ran.push('no fetch'));
fetch('leaf.js').then((answer) => ran.push(answer.ok && 'own fetch'));
</script>`;

test('hashed inline scripts run; injected ones, handlers, eval and other places do not', async () => {
  const bytes = zip([
    { name: 'index.html', bytes: PAGE },
    { name: 'file.js', bytes: 'ran.push("file")' },
    { name: 'leaf.js', bytes: 'export default "mapped"' },
  ]);
  const site = await publish(server, { name: 'strict.zip', bytes, key, fields: { csp_strict: 'true' } });
  assert.ok(site.warnings.some((warning) => warning.includes('onclick')), `${site.warnings}`);
  const page = await (await browser.newContext()).newPage();
  const asked = [];
  page.on('request', (sent) => asked.push(sent.url()));
  await page.goto(site.url, { waitUntil: 'networkidle' });
  await page.waitForFunction(() => ran.includes('no image') && ran.includes('no fetch') && ran.includes('own fetch'));
  const { ran, blocked, kept } = await page.evaluate(() => ({ ran, blocked, kept: localStorage.kept }));
  for (const name of NAMES) assert.ok(ran.includes(name), `${name} did not run: ${ran}; blocked: ${blocked}`);
  for (const name of ['injected', 'handler', 'eval']) assert.ok(!ran.includes(name), `${name} ran`);
  for (const name of ['script-src-elem', 'script-src-attr', 'img-src', 'connect-src']) assert.ok(blocked.includes(name), `${name}: ${blocked}`);
  assert.ok(ran.includes('no eval'));
  assert.equal(kept, 'yes', 'it has an origin of its own');
  assert.ok(asked.every((url) => !url.includes(':9/')) || blocked.includes('connect-src'));
});

test('a worker starts, and obeys the policy of its page', async () => {
  const work = `(async () => {
    const own = await fetch('leaf.txt').then((answer) => answer.ok, () => false);
    const outside = await fetch('http://127.0.0.1:9/steal', { mode: 'no-cors' }).then(() => 'sent', (error) => error.name);
    const blocked = await new Promise((resolve) => {
      addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
      fetch('http://127.0.0.1:9/again', { mode: 'no-cors' }).catch(() => {});
    });
    postMessage({ own, outside, blocked });
  })();`;
  const bytes = zip([
    { name: 'index.html', bytes: '<!doctype html><title>W</title><script>new Worker("w.js").onmessage = (event) => { window.told = event.data; };</script>' },
    { name: 'w.js', bytes: work },
    { name: 'leaf.txt', bytes: 'leaf' },
  ]);
  const site = await publish(server, { name: 'worker.zip', bytes, key, fields: { csp_strict: 'true' } });
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
  const told = await page.waitForFunction(() => window.told);
  assert.deepEqual(await told.jsonValue(), { own: true, outside: 'TypeError', blocked: 'connect-src' });
});

test('WebAssembly, a worker from a blob and frames of its own work; none of them reaches further', async () => {
  const outside = "fetch('http://127.0.0.1:9/steal', { mode: 'no-cors' }).then(() => 'sent', (error) => error.name)";
  const script = `window.told = {};
    // The smallest module there is.
    WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => { told.wasm = 'ran'; }, (error) => { told.wasm = error.name; });
    try { told.code = new Function('return "ran"')(); } catch (error) { told.code = error.name; }
    const work = new Blob(["${outside}.then((sent) => { let code; try { code = eval('1'); } catch (error) { code = error.name; } postMessage([sent, code]); })"], { type: 'text/javascript' });
    new Worker(URL.createObjectURL(work)).onmessage = (event) => { told.worker = event.data; };
    addEventListener('message', (event) => { told[event.data[0]] = event.data.slice(1); });
    addEventListener('securitypolicyviolation', (event) => { (told.blocked ??= []).push(event.effectiveDirective); });
    const frame = (src) => { const node = document.createElement('iframe'); node.src = src; document.body.append(node); };
    frame('inner.html');
    frame(URL.createObjectURL(new Blob(['<img src="http://127.0.0.1:9/x.png"><p>made</p>'], { type: 'text/html' })));
    frame('http://127.0.0.1:9/frame');`;
  const bytes = zip([
    { name: 'index.html', bytes: '<!doctype html><title>S</title><body><script src="index.js"></script>' },
    { name: 'index.js', bytes: script },
    { name: 'inner.html', bytes: '<!doctype html><p>inner</p><script src="inner.js"></script>' },
    { name: 'inner.js', bytes: `${outside}.then((sent) => { parent.postMessage(['inner', sent], '*'); location = 'http://127.0.0.1:9/leave'; });` },
  ]);
  const site = await publish(server, { name: 'strict.zip', bytes, key, fields: { csp_strict: 'true' } });
  const page = await (await browser.newContext()).newPage();
  const answered = [];
  page.on('requestfinished', (sent) => answered.push(sent.url()));
  await page.goto(site.url);
  await page.waitForFunction(() => told.wasm && told.worker && told.inner && told.blocked?.filter((name) => name === 'frame-src').length >= 2);
  const told = await page.evaluate(() => window.told);
  assert.equal(told.wasm, 'ran');
  assert.equal(told.code, 'EvalError');
  assert.deepEqual(told.worker, ['TypeError', 'EvalError']);
  assert.deepEqual(told.inner, ['TypeError']);
  assert.ok(answered.every((url) => !url.includes(':9/')), `${answered}`);
});

test('forms work within the page: handled by a script, in a dialog, sent to a file of its own; not to another site', async () => {
  const form = (id, attributes) => `<form id="${id}" ${attributes}><input name="q" value="leaf"><button>${id}</button></form>`;
  const script = `window.told = [];
    document.querySelector('#handled').addEventListener('submit', (event) => { event.preventDefault(); told.push('handled ' + new FormData(event.target).get('q')); });
    const dialog = document.querySelector('dialog');
    dialog.addEventListener('close', () => told.push('closed'));
    dialog.showModal();
    addEventListener('securitypolicyviolation', (event) => told.push(event.effectiveDirective));`;
  const outside = 'http://127.0.0.1:9/steal';
  const bytes = zip([
    {
      name: 'index.html',
      bytes: `<!doctype html><title>Forms</title><dialog>${form('close', 'method=dialog')}</dialog>
        ${form('handled', `action="${outside}" method=post`)}${form('outside', `action="${outside}" method=post`)}${form('own', 'action=found.html')}<script src=index.js></script>`,
    },
    { name: 'index.js', bytes: script },
    { name: 'found.html', bytes: '<!doctype html><title>Found</title><p>Found</p>' },
  ]);
  const site = await publish(server, { name: 'forms.zip', bytes, key, fields: { csp_strict: 'true' } });
  assert.match(`${site.warnings}`, /form submissions to other sites \(http:\/\/127\.0\.0\.1:9\/steal in index\.html and 1 more\)/);
  const page = await (await browser.newContext()).newPage();
  const requested = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(site.url);
  for (const name of ['close', 'handled']) await page.getByRole('button', { name }).click();
  // Not with the mouse: the driver would wait for a navigation that the policy blocks.
  await page.evaluate(() => setTimeout(() => document.querySelector('#outside').requestSubmit()));
  await page.waitForFunction(() => told.includes('form-action'));
  assert.deepEqual(await page.evaluate(() => told), ['closed', 'handled leaf', 'form-action']);
  await page.reload();
  await page.getByRole('button', { name: 'close' }).click();
  await page.getByRole('button', { name: 'own' }).click();
  await page.getByText('Found').waitFor();
  assert.match(page.url(), /found\.html\?q=leaf$/);
  assert.ok(requested.every((url) => !url.includes(':9/')), `${requested}`);
});
