// JSDoc with its default template.

export default {
  title: 'JSDoc',
  node: { jsdoc: '4.0.5' },
  files: { 'src/clock.js': '/** A clock.\n * @class */\nfunction Clock() {}\n/** Winds it up.\n * @param {number} turns how often */\nClock.prototype.wind = function (turns) {};\n' },
  run: ['jsdoc src -d docs'],
  output: 'docs',
  async check(page) {
    await page.getByRole('link', { name: 'Clock' }).first().click();
    await page.getByText('Winds it up.').waitFor();
  },
};
