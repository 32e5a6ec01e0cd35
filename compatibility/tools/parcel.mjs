// Parcel: hashed names at the root and source maps, as it makes them by default.

export default {
  title: 'Parcel',
  node: { parcel: '2.16.4' },
  files: {
    'src/index.html': `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Scales</title><link rel="stylesheet" href="style.css"></head>
<body><h1>Scales</h1><img src="mark.svg" alt="Mark" width="20"><p id="out"></p><script type="module" src="main.js"></script></body></html>
`,
    'src/style.css': 'h1 { color: rgb(10, 20, 30) }\n',
    'src/mark.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="teal"/></svg>\n',
    'src/main.js': "import('./weigh.js').then(({ weigh }) => { document.querySelector('#out').textContent = weigh([1, 2, 3]); });\n",
    'src/weigh.js': "export const weigh = (loads) => `Together ${loads.reduce((a, b) => a + b, 0)} kg`;\n",
  },
  run: ['parcel build src/index.html --no-cache'],
  output: 'dist',
  cookie: true,
  async check(page) {
    await page.getByText('Together 6 kg').waitFor();
    await page.waitForFunction(() => getComputedStyle(document.querySelector('h1')).color === 'rgb(10, 20, 30)');
    await page.waitForFunction(() => document.images[0].naturalWidth > 0);
  },
};
