// Slides of Marp in one page.

export default {
  title: 'Marp slides',
  node: { '@marp-team/marp-cli': '4.5.1' },
  files: { 'slides.md': '---\nmarp: true\n---\n\n# Opening\n\n---\n\n# Closing\n' },
  run: ['marp slides.md -o slides.html'],
  output: 'slides.html',
  async check(page) {
    await page.locator('body[data-bespoke-view], .bespoke-marp-parent').first().waitFor();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash === '#2');
  },
};
