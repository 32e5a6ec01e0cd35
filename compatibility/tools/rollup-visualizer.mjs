// The treemap of rollup-plugin-visualizer.

export default {
  title: 'rollup-plugin-visualizer',
  node: { rollup: '4.68.2', 'rollup-plugin-visualizer': '7.1.3' },
  files: {
    'rollup.config.mjs': "import { visualizer } from 'rollup-plugin-visualizer';\nexport default { input: 'src/main.js', output: { dir: 'out' }, plugins: [visualizer()] };\n",
    'src/main.js': "import { part } from './part.js';\nconsole.log(part);\n",
    'src/part.js': "export const part = 'part';\n",
  },
  run: ['rollup -c'],
  output: 'stats.html',
  check: (page) => page.locator('svg text').first().waitFor(),
};
