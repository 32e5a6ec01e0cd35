// Altair with Vega in the page (`inline=True`).

import { lacks } from '../absence.mjs';
import { EVAL } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'Altair, scripts in the page',
  python: ['altair==6.3.0', 'vl-convert-python==1.9.0.post1', 'pandas==3.1.1'],
  files: {
    'chart.py': "import altair as alt\nimport pandas as pd\ndata = pd.DataFrame({'town': ['Ayr', 'Bath', 'Cork'], 'rain': [4, 2, 7]})\nalt.Chart(data, title='Rain').mark_bar().encode(x='town', y='rain', tooltip='rain').save('chart.html', inline=True)\n",
  },
  run: ['python chart.py'],
  output: 'chart.html',
  strictWarnings: [warning.CODE_FROM_TEXT],
  check: (page) => page.locator('#vis canvas, #vis svg').first().waitFor(),
  differences: { strict: { because: EVAL, text: '', check: (page) => lacks(page, '#vis canvas, #vis svg') } },
};
