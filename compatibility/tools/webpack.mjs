// webpack with html-webpack-plugin and a part that is loaded later.

import * as warning from '../warnings.mjs';

export default {
  title: 'webpack',
  node: { webpack: '5.112.2', 'webpack-cli': '7.3.1', 'html-webpack-plugin': '5.6.8' },
  files: {
    'webpack.config.js': "const Html = require('html-webpack-plugin');\nmodule.exports = { mode: 'production', plugins: [new Html({ title: 'Kettle' })] };\n",
    'src/index.js': "import('./boil.js').then(({ boil }) => { document.body.append(boil(100)); });\n",
    'src/boil.js': "export function boil(degrees) { const line = document.createElement('p'); line.textContent = `Boils at ${degrees} degrees`; return line; }\n",
  },
  run: ['webpack'],
  output: 'dist',
  strictWarnings: [warning.CODE_FROM_TEXT],
  check: (page) => page.getByText('Boils at 100 degrees').waitFor(),
};
