// Tailwind CSS built by its Vite plugin, with Alpine.js, which evaluates the attributes of the page.

import assert from 'node:assert/strict';
import { EVAL } from '../reasons.mjs';

export default {
  title: 'Tailwind CSS and Alpine.js',
  node: { vite: '8.3.8', tailwindcss: '4.3.5', '@tailwindcss/vite': '4.3.5', alpinejs: '3.17.4' },
  files: {
    'vite.config.js': "import { defineConfig } from 'vite';\nimport tailwindcss from '@tailwindcss/vite';\nexport default defineConfig({ plugins: [tailwindcss()] });\n",
    'index.html': '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Menu</title><script type="module" src="/main.js"></script></head><body class="bg-slate-100 p-8"><div x-data="{ open: false }"><button class="rounded bg-blue-600 px-4 text-white" @click="open = !open">Menu</button><p x-show="open">Soup of the day</p></div></body></html>\n',
    'main.js': "import './style.css';\nimport Alpine from 'alpinejs';\nAlpine.start();\n",
    'style.css': '@import "tailwindcss";\n',
  },
  run: ['vite build'],
  output: 'dist',
  cookie: true,
  async check(page) {
    await page.getByText('Soup of the day').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByText('Soup of the day').waitFor();
  },
  differences: {
    strict: {
      because: EVAL,
      text: 'Menu Soup of the day',
      async check(page) {
        await page.getByRole('button', { name: 'Menu' }).click();
        assert.ok(await page.getByText('Soup of the day').isVisible());
      },
    },
  },
};
