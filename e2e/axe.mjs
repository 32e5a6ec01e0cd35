// axe-core in a page, whatever its policy: the script is put in by the debugger, not by the page.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const SOURCE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds that is serious or critical: one line for each rule and element; not of the rules in `except`. */
export async function violations(page, except = []) {
  await page.evaluate(SOURCE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter(({ id, impact }) => (impact === 'serious' || impact === 'critical') && !except.includes(id))
    .flatMap(({ id, impact, nodes }) => nodes.map(({ target, failureSummary }) => `${impact} ${id} ${target}: ${failureSummary.replaceAll('\n', ' ')}`));
}

export async function assertAccessible(page, what, except = []) {
  assert.deepEqual(await violations(page, except), [], what);
}
