// A drawing of Graphviz inside a page.

export default {
  title: 'Graphviz SVG in a page',
  node: { '@hpcc-js/wasm-graphviz-cli': '1.11.2' },
  files: { 'graph.dot': 'digraph { rankdir=LR; Seed -> Sprout -> Tree; Tree [URL="#tree"]; }\n' },
  run: [
    'wasm-graphviz-cli -T svg graph.dot > graph.svg',
    '{ echo "<!doctype html><html lang=en><meta charset=utf-8><title>Growth</title><h1>Growth</h1>"; sed "1,/<svg/{/<svg/!d}" graph.svg; } > graph.html',
  ],
  output: 'graph.html',
  async check(page) {
    await page.locator('svg a').first().click();
    await page.waitForFunction(() => location.hash === '#tree');
  },
};
