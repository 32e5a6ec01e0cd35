// Eleventy: folders with index.html, links from the root.

export default {
  title: 'Eleventy',
  node: { '@11ty/eleventy': '3.1.2' },
  files: {
    '_includes/base.njk': `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><link rel="stylesheet" href="/style.css"></head>
<body><nav><a href="/">Home</a> <a href="/posts/first/">First post</a></nav><h1>{{ title }}</h1>{{ content | safe }}</body></html>
`,
    'eleventy.config.js': "module.exports = (config) => { config.addPassthroughCopy('style.css'); };\n",
    'style.css': 'body { font-family: Georgia, serif; color: rgb(1, 2, 3) }\n',
    'index.md': '---\nlayout: base.njk\ntitle: Log book\n---\nKept since spring.\n',
    'posts/first.md': '---\nlayout: base.njk\ntitle: First post\n---\nNothing happened.\n',
  },
  run: ['eleventy'],
  output: '_site',
  cookie: true,
  async check(page) {
    await page.waitForFunction(() => getComputedStyle(document.body).color === 'rgb(1, 2, 3)');
    await page.getByRole('link', { name: 'First post' }).click();
    await page.getByText('Nothing happened.').waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByText('Kept since spring.').waitFor();
  },
};
