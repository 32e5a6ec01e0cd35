// Documents that the tests publish.

import { readFile } from 'node:fs/promises';
import { zip } from './zip.mjs';

export const html = (title, body = `<h1>${title}</h1>`) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`;

export const markdown = `# Field notes

Some *emphasis*, a [link](https://example.org) and a table:

| tree | leaves |
|------|--------|
| oak  | many   |

- [x] done
- [ ] open

\`\`\`rust
fn main() { println!("hello"); }
\`\`\`

<script>window.hacked = true</script>
`;

/** The smallest PDF that viewers open without complaint: one page with one line of text. */
export function pdf(text = 'Hello from a PDF') {
  const stream = `BT /F1 24 Tf 40 120 Td (${text}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let out = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const at = out.length;
    out += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const xref = out.length;
  out += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const at of offsets) out += `${String(at).padStart(10, '0')} 00000 n \n`;
  out += `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`;
  return Buffer.from(out, 'latin1');
}

/** A site of many files that reports in `window.report` what worked. */
export async function application() {
  const font = await readFile('/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf');
  const page = html(
    'Application',
    `<style>@font-face { font-family: Sample; src: url(assets/sample.ttf) }</style>
     <h1>Application</h1><script type="module" src="assets/main.js"></script>`,
  );
  const main = `
    import { word } from './words.js';
    const attempt = async (act) => { try { return await act(); } catch (error) { return String(error); } };
    const openDatabase = () => new Promise((resolve, reject) => {
      const open = indexedDB.open('notes', 1);
      open.onupgradeneeded = () => open.result.createObjectStore('notes');
      open.onerror = () => reject(open.error);
      open.onsuccess = () => {
        const put = open.result.transaction('notes', 'readwrite').objectStore('notes').put('kept', 'first');
        put.onsuccess = () => resolve('kept');
        put.onerror = () => reject(put.error);
      };
    });
    const askWorker = () => new Promise((resolve, reject) => {
      const worker = new Worker('assets/worker.js');
      worker.onmessage = (event) => resolve(event.data);
      worker.onerror = (event) => reject(new Error(event.message || 'worker failed'));
      worker.postMessage(20);
    });
    window.report = {
      module: word,
      json: await attempt(async () => (await (await fetch('data/values.json')).json()).answer),
      localStorage: await attempt(() => { localStorage.setItem('note', 'kept'); return localStorage.getItem('note'); }),
      indexedDB: await attempt(openDatabase),
      font: await attempt(async () => (await document.fonts.load('16px Sample')).length),
      worker: await attempt(askWorker),
      digest: await attempt(async () => (await crypto.subtle.digest('SHA-256', new Uint8Array(1))).byteLength),
      serviceWorker: await attempt(async () => { await navigator.serviceWorker.register('sw.js'); return 'registered'; }),
    };`;
  return zip([
    { name: 'index.html', bytes: page },
    { name: 'assets/main.js', bytes: main },
    { name: 'assets/words.js', bytes: `export const word = 'imported';` },
    { name: 'assets/worker.js', bytes: `onmessage = (event) => postMessage(event.data + 1);` },
    { name: 'assets/sample.ttf', bytes: font },
    { name: 'data/values.json', bytes: '{"answer": 42}' },
    { name: 'sw.js', bytes: `addEventListener('fetch', () => {});` },
    { name: 'docs/index.html', bytes: html('Docs') },
    { name: '404.html', bytes: html('Own 404', '<h1>Nothing here, says the archive</h1>') },
  ]);
}
