// Vue with Vue Router in history mode.

export default {
  title: 'Vite, Vue and Vue Router',
  node: { vite: '8.3.8', '@vitejs/plugin-vue': '6.0.10', vue: '3.5.45', 'vue-router': '5.4.0' },
  files: {
    'index.html': `<!DOCTYPE html>
<html lang="en">
  <head><meta charset="UTF-8"><meta name="viewport" content="width=device-width, initial-scale=1.0"><title>Library</title></head>
  <body><div id="app"></div><script type="module" src="/src/main.js"></script></body>
</html>
`,
    'vite.config.js': `import { defineConfig } from 'vite';
import vue from '@vitejs/plugin-vue';
export default defineConfig({ plugins: [vue()] });
`,
    'src/main.js': `import { createApp } from 'vue';
import { createRouter, createWebHistory } from 'vue-router';
import App from './App.vue';
import Home from './Home.vue';
const router = createRouter({
  history: createWebHistory(import.meta.env.BASE_URL),
  routes: [{ path: '/', component: Home }, { path: '/books/:id', component: () => import('./Book.vue') }],
});
createApp(App).use(router).mount('#app');
`,
    'src/App.vue': `<script setup>import { RouterLink, RouterView } from 'vue-router';</script>
<template><nav><RouterLink to="/">Home</RouterLink> <RouterLink to="/books/7">Book 7</RouterLink></nav><RouterView /></template>
<style>body { font-family: serif }</style>
`,
    'src/Home.vue': `<script setup>import { ref } from 'vue'; const count = ref(0);</script>
<template><h1>Library</h1><button @click="count++">Lent {{ count }} times</button></template>
`,
    'src/Book.vue': '<template><h1>Book number {{ $route.params.id }}</h1></template>\n',
  },
  run: ['vite build'],
  output: 'dist',
  spa: true,
  cookie: true,
  async check(page) {
    await page.getByRole('button').click();
    await page.getByText('Lent 1 times').waitFor();
    await page.getByRole('link', { name: 'Book 7' }).click();
    await page.getByRole('heading', { name: 'Book number 7' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Book number 7' }).waitFor();
  },
};
