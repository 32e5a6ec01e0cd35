// SvelteKit with adapter-static and everything prerendered.

export default {
  title: 'SvelteKit, adapter-static',
  node: {
    '@sveltejs/kit': '3.1.1',
    '@sveltejs/adapter-static': '4.0.0',
    '@sveltejs/vite-plugin-svelte': '7.3.1',
    svelte: '5.57.3',
    vite: '8.3.8',
  },
  manifest: { type: 'module' },
  files: {
    'vite.config.js': "import adapter from '@sveltejs/adapter-static';\nimport { sveltekit } from '@sveltejs/kit/vite';\nimport { defineConfig } from 'vite';\nexport default defineConfig({ plugins: [sveltekit({ adapter: adapter() })] });\n",
    'src/app.html': `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><meta name="viewport" content="width=device-width" />%sveltekit.head%</head>
  <body data-sveltekit-preload-data="hover"><div style="display: contents">%sveltekit.body%</div></body>
</html>
`,
    'src/routes/+layout.js': 'export const prerender = true;\n',
    'src/routes/+page.svelte': `<script>let count = $state(0);</script>
<svelte:head><title>Orchard</title></svelte:head>
<h1>Orchard</h1><button onclick={() => count++}>Picked {count}</button> <a href="/pears">Pears</a>
`,
    'src/routes/pears/+page.svelte': '<h1>Pears</h1><p>Ripe in autumn.</p><a href="/">Orchard</a>\n',
  },
  run: ['vite build'],
  output: 'build',
  cookie: true,
  async check(page) {
    await page.getByRole('button').click();
    await page.getByText('Picked 1').waitFor();
    await page.getByRole('link', { name: 'Pears' }).click();
    await page.getByText('Ripe in autumn.').waitFor();
    await page.reload();
    await page.getByText('Ripe in autumn.').waitFor();
  },
};
