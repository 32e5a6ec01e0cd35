// The HTML report of Playwright Test.

export default {
  title: 'Playwright report',
  node: { '@playwright/test': '1.65.0' },
  files: { 'tests/sum.spec.js': "const { test, expect } = require('@playwright/test');\ntest('adds', () => expect(1 + 1).toBe(2));\ntest('falls short', () => expect('tea').toBe('coffee'));\n" },
  run: ['playwright test --reporter=html || test $? = 1'],
  output: 'playwright-report',
  async check(page) {
    await page.getByRole('link', { name: 'falls short' }).first().click();
    await page.getByText('coffee').first().waitFor();
  },
};
