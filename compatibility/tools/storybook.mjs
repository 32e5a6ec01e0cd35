// Storybook's static build: a manager page that shows stories in a frame.

import * as warning from '../warnings.mjs';

export default {
  title: 'Storybook static build',
  node: { storybook: '10.6.7', '@storybook/html-vite': '10.6.0', vite: '8.3.8' },
  manifest: { type: 'module' },
  files: {
    '.storybook/main.js': "export default { stories: ['../src/*.stories.js'], framework: '@storybook/html-vite', core: { disableTelemetry: true } };\n",
    'src/button.stories.js': `export default { title: 'Controls/Button', render: ({ label }) => { const button = document.createElement('button'); button.textContent = label; return button; }, args: { label: 'Press here' } };
export const Plain = {};
export const Loud = { args: { label: 'PRESS HERE' } };
`,
  },
  run: ['storybook build'],
  output: 'storybook-static',
  kept: false,
  cookie: true,
  warnings: [warning.MISSING_FILES],
  async check(page) {
    const story = page.frameLocator('#storybook-preview-iframe');
    await story.getByRole('button', { name: 'Press here', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Loud' }).click();
    await story.getByRole('button', { name: 'PRESS HERE', exact: true }).waitFor();
  },
};
