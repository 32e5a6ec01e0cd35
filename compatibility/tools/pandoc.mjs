// pandoc --standalone with a table of contents, highlighted code and MathML.

export default {
  title: 'pandoc --standalone',
  python: ['pypandoc_binary==1.17'],
  files: { 'notes.md': '---\ntitle: Notes on ferns\n---\n\n# Spores\n\nSmall, as $x^2$ is.\n\n```python\nprint("spore")\n```\n\n# Fronds\n\n| part | size |\n|------|-----:|\n| leaf |   12 |\n' },
  run: ["$(python -c 'import pypandoc; print(pypandoc.get_pandoc_path())') --standalone --toc --mathml -o notes.html notes.md"],
  output: 'notes.html',
  async check(page) {
    await page.locator('math').first().waitFor();
    await page.locator('#TOC').getByRole('link', { name: 'Fronds' }).click();
    await page.waitForFunction(() => location.hash === '#fronds');
  },
};
