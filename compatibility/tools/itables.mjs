// itables: a sortable table of DataTables, which comes from another host.

import { lacks } from '../absence.mjs';
import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'itables (DataTables)',
  python: ['itables==2.9.1', 'pandas==3.1.1'],
  files: {
    'table.py': "import pandas as pd\nfrom itables import to_html_datatable\ntable = pd.DataFrame({'name': ['pear', 'apple', 'plum'], 'count': [2, 9, 4]})\nopen('table.html', 'w').write('<!doctype html><meta charset=utf-8><title>Fruit</title>' + to_html_datatable(table, connected=True, table_id='fruit', allow_html=True))\n",
  },
  run: ['python table.py', "cp $(python -c 'import itables, os; print(os.path.dirname(itables.__file__))')/html/dt_bundle.* ."],
  output: 'table.html',
  strictWarnings: [warning.OTHER_STYLES],
  network: {
    'https://www.unpkg.com/dt_for_itables@2.5.8/dt_bundle.js': 'dt_bundle.js',
    'https://www.unpkg.com/dt_for_itables@2.5.8/dt_bundle.css': 'dt_bundle.css',
  },
  async check(page) {
    await page.locator('.dt-column-order[aria-label^=name]').click();
    await page.waitForFunction(() => /apple/.test(document.querySelector('#fruit tbody tr')?.textContent ?? ''));
  },
  differences: {
    strict: {
      because: OTHER_HOSTS,
      text: 'Loading ITables v2.9.1 from the internet... (need help?)',
      requests: [/\/dt_bundle\.css: failed instead of ok$/, /\/dt_bundle\.js: failed instead of ok$/],
      check: (page) => lacks(page, '.dt-column-order'),
    },
  },
};
