// Next.js with the app router and `output: 'export'`, as its documentation gives it.

export default {
  title: 'Next.js static export (app router)',
  node: { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' },
  files: {
    'next.config.mjs': "export default { output: 'export' };\n",
    'app/layout.js': `import './globals.css';
export const metadata = { title: 'Timetable' };
export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }
`,
    'app/globals.css': 'body { font-family: sans-serif; color: #123 }\n',
    'app/page.js': `import Link from 'next/link';
import Counter from './counter';
export default function Page() { return <main><h1>Timetable</h1><Counter /><Link href="/trains">Trains</Link></main>; }
`,
    'app/counter.js': `'use client';
import { useState } from 'react';
export default function Counter() { const [n, set] = useState(0); return <button onClick={() => set(n + 1)}>Asked {n} times</button>; }
`,
    'app/trains/page.js': `import Link from 'next/link';
export default function Page() { return <main><h1>Trains</h1><ul><li>08:15 north</li><li>09:40 south</li></ul><Link href="/">Back</Link></main>; }
`,
  },
  run: ['next build'],
  output: 'out',
  cookie: true,
  async check(page) {
    await page.getByRole('button').click();
    await page.getByText('Asked 1 times').waitFor();
    await page.getByRole('link', { name: 'Trains' }).click();
    await page.getByRole('heading', { name: 'Trains' }).waitFor();
    await page.reload();
    await page.getByText('08:15 north').waitFor();
  },
};
