// A report of Lighthouse: an application in one page.

export default {
  title: 'Lighthouse report',
  node: { lighthouse: '13.5.0' },
  files: {
    'audit.mjs': `import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import lighthouse from 'lighthouse';
import { launch } from 'chrome-launcher';
const server = createServer((request, response) => { response.setHeader('content-type', 'text/html'); response.end('<!doctype html><html lang="en"><title>Sample</title><meta name="viewport" content="width=device-width"><h1>Sample</h1>'); });
await new Promise((resolve) => server.listen(8123, '127.0.0.1', resolve));
const chrome = await launch({ chromeFlags: ['--headless=new', '--no-sandbox'] });
const result = await lighthouse('http://127.0.0.1:8123/', { port: chrome.port, output: 'html', onlyCategories: ['accessibility', 'seo'] });
writeFileSync('report.html', result.report);
await chrome.kill();
server.close();
`,
  },
  run: ['node audit.mjs'],
  output: 'report.html',
  check: (page) => page.locator('.lh-category .lh-audit').first().waitFor(),
};
