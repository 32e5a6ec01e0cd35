// Pelican with its default theme.

export default {
  title: 'Pelican',
  python: ['pelican==4.10.2', 'Markdown==3.11.3'],
  files: {
    'pelicanconf.py': "AUTHOR = 'Author'\nSITENAME = 'Birds'\nSITEURL = ''\nPATH = 'content'\nTIMEZONE = 'UTC'\nFEED_ALL_ATOM = None\nCATEGORY_FEED_ATOM = None\n",
    'content/heron.md': 'Title: Heron\nDate: 2026-01-02\n\nStands still.\n',
  },
  run: ['pelican content'],
  output: 'output',
  cookie: true,
  async check(page) {
    await page.getByRole('link', { name: 'Heron' }).first().click();
    await page.getByText('Stands still.').waitFor();
  },
};
