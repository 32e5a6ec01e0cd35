// Prints the tables of a benchmark and writes them to bench/output, as JSON and as Markdown for docs/scaling.md (bench/paste.mjs).

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BENCH, save, table } from './measure.mjs';

/** `tables` is {title: rows}, a row {column: value}; `facts` are kept in the JSON as well. */
export async function report(name, tables, facts = {}) {
  const text = (value) => (typeof value !== 'number' ? String(value) : value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2));
  const parts = Object.entries(tables).map(([title, rows]) => {
    table(title, rows);
    const columns = Object.keys(rows[0]);
    const line = (cells) => `| ${cells.join(' | ')} |`;
    const body = rows.map((row) => line(columns.map((column) => text(row[column]))));
    return [`${title}:`, '', line(columns), line(columns.map(() => '---')), ...body].join('\n');
  });
  const file = path.join(BENCH, 'output', `${name}.md`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${parts.join('\n\n')}\n`);
  await save(name, { ...facts, tables });
}
