// A chart of pygal: an SVG page with scripts of another host.

export default {
  title: 'pygal',
  python: ['pygal==3.1.3'],
  files: {
    'chart.py': "import pygal\nchart = pygal.Bar(title='Apples', js=[], id_prefix='apples')\nchart.uuid = 'apples'\nchart.add('2025', [3, 1, 2])\nopen('chart.html', 'w').write('<!doctype html><meta charset=utf-8><title>Apples</title>' + chart.render(is_unicode=True, disable_xml_declaration=True))\n",
  },
  run: ['python chart.py'],
  output: 'chart.html',
  check: (page) => page.locator('svg.pygal-chart rect.rect').nth(2).waitFor(),
};
