// Checks a history that a failed test has left: node cluster/history/recheck.mjs FILE

import { readFile } from 'node:fs/promises';
import { checkHistory } from './check.mjs';
import { History } from './history.mjs';

const [file] = process.argv.slice(2);
if (!file) {
  console.error('usage: node cluster/history/recheck.mjs FILE');
  process.exit(64);
}
const { faults, summary } = checkHistory(History.fromLines(await readFile(file, 'utf8')));
console.log([...summary, ...faults.map(({ text }) => `\n${text}`)].join('\n'));
process.exitCode = faults.length > 0 ? 1 : 0;
