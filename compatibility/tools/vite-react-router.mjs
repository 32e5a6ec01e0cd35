// React with React Router in history mode: two routes, one of them loaded when it is needed.

export default {
  title: 'Vite, React and React Router',
  node: { vite: '8.3.8', '@vitejs/plugin-react': '6.3.0', react: '19.3.1', 'react-dom': '19.3.1', 'react-router': '8.5.1' },
  files: {
    'index.html': `<!doctype html>
<html lang="en">
  <head>
    <meta charset="UTF-8" />
    <link rel="icon" type="image/svg+xml" href="/icon.svg" />
    <meta name="viewport" content="width=device-width, initial-scale=1.0" />
    <title>Garden</title>
  </head>
  <body>
    <div id="root"></div>
    <script type="module" src="/src/main.jsx"></script>
  </body>
</html>
`,
    'public/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="green"/></svg>\n',
    'vite.config.js': `import { defineConfig } from 'vite';
import react from '@vitejs/plugin-react';
export default defineConfig({ plugins: [react()] });
`,
    'src/main.jsx': `import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter, Link, Route, Routes, useParams } from 'react-router';
import './style.css';
const About = lazy(() => import('./About.jsx'));
const Plant = () => <h1>Plant {useParams().name}</h1>;
createRoot(document.getElementById('root')).render(
  <StrictMode>
    <BrowserRouter>
      <nav><Link to="/">Home</Link> <Link to="/about">About</Link> <Link to="/plants/fern">Fern</Link></nav>
      <img src="/icon.svg" alt="" width="32" />
      <Suspense fallback="Loading">
        <Routes>
          <Route path="/" element={<h1>Garden</h1>} />
          <Route path="/about" element={<About />} />
          <Route path="/plants/:name" element={<Plant />} />
          <Route path="*" element={<h1>No such page</h1>} />
        </Routes>
      </Suspense>
    </BrowserRouter>
  </StrictMode>,
);
`,
    'src/About.jsx': 'export default function About() { return <h1>About the garden</h1>; }\n',
    'src/style.css': 'body { font-family: sans-serif; background: #f4fbf4 }\n',
  },
  run: ['vite build'],
  output: 'dist',
  spa: true,
  cookie: true,
  async check(page) {
    await page.getByRole('heading', { name: 'Garden', exact: true }).waitFor();
    await page.getByRole('link', { name: 'About' }).click();
    await page.getByRole('heading', { name: 'About the garden' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'About the garden' }).waitFor();
    await page.getByRole('link', { name: 'Fern' }).click();
    await page.reload();
    await page.getByRole('heading', { name: 'Plant fern' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'About the garden' }).waitFor();
  },
};
