// What the measured figures of bench/pages.mjs mean for 10⁶, 10⁸ and 10¹⁰ pages: node bench/extrapolate.mjs
// Assumes that bytes per page, CPU per publish and the pace of the sweep stay as they are at the largest size that was measured.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BENCH, table } from './measure.mjs';

const read = async (name) => JSON.parse(await readFile(path.join(BENCH, 'output', `${name}.json`), 'utf8'));
const { seen, expired, storedBytes } = await read('pages');
const largest = seen.at(-1);
const YEAR = 365 * 86_400;

const bytes = largest.sizes.reduce((sum, each) => sum + each.table + each.indexes, 0);
// Entries in a block of 8 KiB of the index on tokens.
const fanout = 8192 / largest.tokenBytes;
const cpu = largest.publish.cpu;
const pace = expired / largest.sweep.seconds;
const round = (value) => (value >= 100 ? Math.round(value).toLocaleString('en-US') : value >= 10 ? value.toFixed(0) : value.toPrecision(2));

const rows = ['10⁶', '10⁸', '10¹⁰'].map((name, n) => {
  const pages = 10 ** [6, 8, 10][n];
  return {
    pages: name,
    'rows and indexes, GB': round((pages * bytes) / 1e9),
    'bodies of 10 KB pages, GB': round((pages * storedBytes) / 1e9),
    'levels of the token index': String(Math.ceil(Math.log(pages) / Math.log(fanout))),
    'publishes/s, if all are made in a year': round(pages / YEAR),
    'cores of PostgreSQL for that': round(((pages / YEAR) * cpu) / 1000),
    'hours of sweep a day, if 1 % expire a day': round((pages * 0.01) / pace / 3600),
    'requests to list the objects, if every page has one': round(pages / 1000),
  };
});
table('Extrapolation', rows);
const columns = Object.keys(rows[0]);
const line = (cells) => `| ${cells.join(' | ')} |`;
const facts = `From ${round(bytes)} bytes per page, ${round(fanout)} entries in a block of the token index, ${round(storedBytes)} bytes of a stored body of 10 KB, ${round(cpu)} ms of PostgreSQL per publish, and ${round(pace)} pages expired per second:`;
const text = [facts, '', line(columns), line(columns.map(() => '---')), ...rows.map((row) => line(columns.map((column) => row[column])))].join('\n');
await writeFile(path.join(BENCH, 'output', 'extrapolation.md'), `${text}\n`);
