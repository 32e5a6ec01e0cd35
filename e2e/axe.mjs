// axe-core in a page, whatever its policy: the script is put in by the debugger, not by the page.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const SOURCE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds that is serious or critical: one line for each rule and element. */
export async function violations(page) {
  await page.evaluate(SOURCE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, impact, nodes }) => nodes.map(({ target, failureSummary }) => `${impact} ${id} ${target}: ${failureSummary.replaceAll('\n', ' ')}`));
}

export async function assertAccessible(page, what) {
  assert.deepEqual(await violations(page), [], what);
}
