// Redocly build-docs: one page, its script comes from another host.

import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'Redoc (Redocly CLI)',
  node: { '@redocly/cli': '2.73.0' },
  files: {
    'openapi.yaml': 'openapi: 3.0.3\ninfo: { title: Shop, version: 1.0.0 }\npaths:\n  /items:\n    get: { summary: List items, responses: { "200": { description: All items } } }\n',
  },
  run: ['redocly build-docs openapi.yaml -o docs.html'],
  output: 'docs.html',
  warnings: [warning.DEAD_LINKS],
  unlistedWarnings: [warning.LINKS_TO_ROOT],
  strictWarnings: [warning.NEW_WINDOWS],
  check: (page) => page.getByText('List items').first().waitFor(),
  differences: { strict: { because: OTHER_HOSTS } },
};
