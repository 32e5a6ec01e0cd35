// A notebook that was run and converted with nbconvert's default template; MathJax and require.js come from other hosts.

import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

const cells = [
  ['markdown', '# Rainfall\n\nThe mean of a week, $\\bar x = \\frac{1}{7}\\sum x_i$.'],
  ['code', 'values = [3, 0, 7, 2, 2, 9, 5]\nprint(sum(values) / len(values))'],
  ['code', "import pandas as pd\npd.DataFrame({'day': list('MTWTFSS'), 'mm': values})"],
];
const notebook = {
  cells: cells.map(([kind, source], index) => ({
    cell_type: kind,
    id: `cell-${index}`,
    metadata: {},
    source,
    ...(kind === 'code' && { execution_count: null, outputs: [] }),
  })),
  metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
  nbformat: 4,
  nbformat_minor: 5,
};

export default {
  title: 'Jupyter notebook (nbconvert)',
  python: ['nbconvert==7.17.2', 'ipykernel==7.4.0', 'pandas==3.1.1'],
  files: { 'rain.ipynb': JSON.stringify(notebook) },
  run: ['jupyter nbconvert --to html --execute rain.ipynb'],
  output: 'rain.html',
  strictWarnings: [warning.OTHER_SCRIPTS],
  check: (page) => page.locator('table.dataframe tbody tr').nth(6).waitFor(),
  differences: { strict: { because: OTHER_HOSTS } },
};
