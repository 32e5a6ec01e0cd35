// Rollup: ES modules with a shared part, and a page that loads them.

export default {
  title: 'Rollup',
  node: { rollup: '4.68.2' },
  files: {
    'src/main.js': "import { greet } from './greet.js';\ndocument.querySelector('p').textContent = greet('reader');\nimport('./later.js').then(({ later }) => later());\n",
    'src/later.js': "import { greet } from './greet.js';\nexport const later = () => document.body.append(greet('again'));\n",
    'src/greet.js': 'export const greet = (name) => `Hello, ${name}! `;\n',
    'index.html': '<!doctype html><meta charset="utf-8"><title>Rollup</title><p></p><script type="module" src="main.js"></script>\n',
  },
  run: ['rollup src/main.js --dir public --format es', 'cp index.html public/'],
  output: 'public',
  check: (page) => page.getByText('Hello, again!').waitFor(),
};
