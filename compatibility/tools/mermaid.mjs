// A single page with Mermaid in it.

export default {
  title: 'Mermaid in one page',
  node: { mermaid: '12.3.0' },
  files: {
    'make.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
const library = readFileSync('node_modules/mermaid/dist/mermaid.min.js', 'utf8').replaceAll('</script', '<\\\\/script');
writeFileSync('diagram.html', \`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Flow</title></head>
<body><h1>Flow</h1><pre class="mermaid">flowchart LR
  Seed --> Sprout --> Tree</pre><script>\${library}</script><script>mermaid.initialize({ startOnLoad: true, deterministicIds: true });</script></body></html>\`);
`,
  },
  run: ['node make.mjs'],
  output: 'diagram.html',
  kept: false,
  check: (page) => page.locator('pre.mermaid svg .node').nth(2).waitFor(),
};
