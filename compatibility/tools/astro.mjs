// Astro with two pages, a script and styles that are too long to be put into the page.

const spaces = Array.from({ length: 200 }, (_, step) => `.space-${step} { margin: ${step}px }`).join('\n');

export default {
  title: 'Astro',
  node: { astro: '7.3.5' },
  files: {
    'src/layouts/Base.astro': `---
import '../style.css';
const { title } = Astro.props.frontmatter ?? Astro.props;
---
<html lang="en">
  <head><meta charset="utf-8" /><link rel="icon" href="/favicon.svg" /><title>{title}</title></head>
  <body><nav><a href="/">Home</a> <a href="/about/">About</a></nav><h1>{title}</h1><slot /></body>
</html>
`,
    'src/pages/index.astro': `---
import Base from '../layouts/Base.astro';
---
<Base title="Tide tables"><img src="/favicon.svg" alt="A wave" width="40" /><button id="more">More</button><p id="out"></p></Base>
<script>
  document.querySelector('#more').addEventListener('click', async () => {
    const { tide } = await import('../tide');
    document.querySelector('#out').textContent = tide(6);
  });
</script>
`,
    'src/tide.ts': `export const tide = (hour: number) => \`High water at \${hour} o'clock\`;\n`,
    'src/style.css': `body { font-family: sans-serif; max-width: 40rem; margin: auto }\n${spaces}\n`,
    'src/pages/about.md': '---\nlayout: ../layouts/Base.astro\ntitle: About tides\n---\n\nTwice a day, roughly.\n',
    'public/favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 4q2-4 4 0t4 0v4H0z" fill="navy"/></svg>\n',
  },
  run: ['astro build'],
  output: 'dist',
  cookie: true,
  async check(page) {
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByText("High water at 6 o'clock").waitFor();
    await page.getByRole('link', { name: 'About' }).click();
    await page.getByText('Twice a day, roughly.').waitFor();
    await page.reload();
    await page.getByText('Twice a day, roughly.').waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { name: 'Tide tables' }).waitFor();
  },
};
