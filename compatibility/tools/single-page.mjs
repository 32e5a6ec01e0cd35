// A hand-written page that uses much of what a browser has: a module, a blob worker, WebAssembly, storage, dialogs, details.

export default {
  title: 'Hand-written page (worker, WebAssembly, dialogs)',
  files: {
    'page.html': `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Workshop</title>
<style>body > :last-child { color: rgb(9, 8, 7) } @media print { body { display: none } }</style></head>
<body>
<h1>Workshop</h1>
<button id="open">Open</button><dialog id="box"><p>Inside the box</p><button id="close">Close</button></dialog>
<button id="ask">Ask</button><dialog id="question"><form method="dialog"><button value="yes">Agree</button></form></dialog>
<details><summary>More</summary><p>Hidden until opened</p></details>
<ul id="report"></ul>
<script type="module">
const say = (text) => { const item = document.createElement('li'); item.textContent = text; document.querySelector('#report').append(item); };
document.querySelector('#open').addEventListener('click', () => document.querySelector('#box').showModal());
document.querySelector('#close').addEventListener('click', () => document.querySelector('#box').close());
const question = document.querySelector('#question');
document.querySelector('#ask').addEventListener('click', () => question.showModal());
question.addEventListener('close', () => say('answered ' + question.returnValue));
const bytes = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
const { instance } = await WebAssembly.instantiate(bytes);
say('WebAssembly adds to ' + instance.exports.add(2, 3));
const worker = new Worker(URL.createObjectURL(new Blob(['onmessage = (event) => postMessage(event.data * 2);'], { type: 'text/javascript' })));
worker.postMessage(21);
say('worker says ' + await new Promise((resolve, reject) => { worker.onmessage = (event) => resolve(event.data); worker.onerror = () => reject(new Error('no worker')); }));
sessionStorage.setItem('kept', 'yes');
say('storage says ' + sessionStorage.getItem('kept'));
</script>
<p>The last line</p>
</body>
</html>
`,
  },
  run: ['true'],
  output: 'page.html',
  usesForms: true,
  async check(page) {
    await page.getByText('storage says yes').waitFor();
    await page.waitForFunction(() => getComputedStyle(document.querySelector('body > p')).color === 'rgb(9, 8, 7)');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('Inside the box').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('More').click();
    await page.getByText('Hidden until opened').waitFor();
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByRole('button', { name: 'Agree' }).click();
    await page.getByText('answered yes').waitFor();
  },
};
