// VitePress with its default theme and local search.

export default {
  title: 'VitePress',
  node: { vitepress: '1.6.4' },
  files: {
    '.vitepress/config.mjs': `export default {
  title: 'Handbook',
  themeConfig: { search: { provider: 'local' }, sidebar: [{ text: 'Guide', items: [{ text: 'Start', link: '/' }, { text: 'Boats', link: '/guide/boats' }] }] },
};
`,
    'index.md': '# Welcome aboard\n\nRead about [boats](./guide/boats).\n',
    'guide/boats.md': '# Boats\n\nA rowing boat has oars.\n\n```js\nconst oars = 2;\n```\n\n## Anchors\n\nHeavy things.\n',
  },
  run: ['vitepress build'],
  output: '.vitepress/dist',
  cookie: true,
  async check(page) {
    await page.getByRole('link', { name: 'boats', exact: true }).click();
    await page.getByText('A rowing boat has oars.').waitFor();
    await page.reload();
    await page.getByText('A rowing boat has oars.').waitFor();
    await page.locator('#local-search button').first().click();
    await page.locator('#localsearch-input').fill('anchor');
    await page.locator('.VPLocalSearchBox .result').first().waitFor();
  },
};
