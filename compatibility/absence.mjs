// For checks of outputs that are bound to fail.

import assert from 'node:assert/strict';

/** Throws if there is such an element. What put it there has been refused by then, so that it will not come later. */
export async function lacks(page, selector) {
  assert.equal(await page.locator(selector).count(), 0, `${selector} is there`);
}
