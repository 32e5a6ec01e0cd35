// A deck of reveal.js as its "basic setup" gives it: index.html beside dist/ and plugin/.

const head = '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Slides</title>';

export default {
  title: 'reveal.js',
  node: { 'reveal.js': '6.0.2' },
  files: {
    'index.html': `${head}
<link rel="stylesheet" href="dist/reset.css"><link rel="stylesheet" href="dist/reveal.css"><link rel="stylesheet" href="dist/theme/black.css"></head>
<body><div class="reveal"><div class="slides"><section><h2>First slide</h2></section><section><h2>Second slide</h2></section></div></div>
<script src="dist/reveal.js"></script><script>Reveal.initialize({ hash: true });</script></body></html>
`,
  },
  run: [
    'mkdir -p deck/dist/theme',
    'cp index.html deck/',
    'cp node_modules/reveal.js/dist/{reset.css,reveal.css,reveal.js} deck/dist/',
    'cp node_modules/reveal.js/dist/theme/black.css deck/dist/theme/',
  ],
  output: 'deck',
  async check(page) {
    await page.locator('.reveal.ready').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.locator('section.present', { hasText: 'Second slide' }).waitFor();
    await page.waitForFunction(() => location.hash === '#/1');
    await page.reload();
    await page.locator('section.present', { hasText: 'Second slide' }).waitFor();
  },
};
