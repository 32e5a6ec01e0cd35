// Puts the tables of bench/output into docs/scaling.md, between <!-- NAME --> and <!-- end -->: node bench/paste.mjs

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../e2e/server.mjs';
import { BENCH } from './measure.mjs';

const file = path.join(ROOT, 'docs/scaling.md');
let text = await readFile(file, 'utf8');
for (const [, name] of text.matchAll(/^<!-- (\w+) -->$/gm)) {
  if (name === 'end') continue;
  const table = await readFile(path.join(BENCH, 'output', `${name}.md`), 'utf8').catch(() => null);
  if (table === null) {
    console.log(`${name}: not measured, left as it is (scripts/bench ${name})`);
    continue;
  }
  text = text.replace(new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`), (_, start, end) => `${start}\n${table.trim()}\n\n${end}`);
}
await writeFile(file, text);
