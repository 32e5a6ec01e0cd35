// A page of docutils (rst2html).

export default {
  title: 'docutils (rst2html)',
  python: ['docutils==0.22.4', 'Pygments==2.21.0'],
  files: { 'knots.rst': 'Knots\n=====\n\n.. contents::\n\nBowline\n-------\n\nThe rabbit comes out of the hole [1]_.\n\n.. code:: python\n\n   tie("bowline")\n\n.. [1] An old rhyme.\n' },
  run: ['docutils knots.rst knots.html'],
  output: 'knots.html',
  async check(page) {
    await page.getByRole('link', { name: 'Bowline' }).first().click();
    await page.waitForFunction(() => location.hash === '#bowline');
  },
};
