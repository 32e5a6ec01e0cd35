// The template "vanilla" of Vite as it comes: root-absolute assets, an SVG from public/.

export default {
  title: 'Vite, vanilla template',
  node: { 'create-vite': '9.3.0' },
  run: ['create-vite app --template vanilla --no-interactive', 'cd app && npm install && npm run build'],
  output: 'app/dist',
  cookie: true,
  async check(page) {
    const counter = page.locator('#counter');
    await counter.click();
    await counter.getByText('1').waitFor();
    await page.waitForFunction(() => [...document.images].every((image) => image.complete && image.naturalWidth > 0));
  },
};
