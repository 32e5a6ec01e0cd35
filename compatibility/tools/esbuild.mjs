// esbuild: one bundle with JSX and CSS, and its source maps because the command asks for them.

export default {
  title: 'esbuild',
  node: { esbuild: '0.28.2', preact: '11.2.0' },
  files: {
    'app.jsx': `import { h, render } from 'preact';
import { useState } from 'preact/hooks';
import './app.css';
function App() { const [on, set] = useState(false); return <button onClick={() => set(!on)}>{on ? 'Light is on' : 'Light is off'}</button>; }
render(<App />, document.body);
`,
    'app.css': 'button { border-radius: 7px }\n',
    'index.html': '<!doctype html><html><head><meta charset="utf-8"><title>Switch</title><link rel="stylesheet" href="app.css"></head><body><script src="app.js"></script></body></html>\n',
  },
  run: ['esbuild app.jsx --bundle --minify --sourcemap --jsx-factory=h --outdir=www', 'cp index.html www/'],
  output: 'www',
  async check(page) {
    await page.getByRole('button', { name: 'Light is off' }).click();
    await page.getByText('Light is on').waitFor();
  },
};
