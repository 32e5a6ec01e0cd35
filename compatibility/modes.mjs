// The six ways to publish an output, and what a viewer does until the page is there.

import { passBurn, passPassword, pressBurn, typePassword } from './gate.mjs';

export const PASSWORD = 'a long password for the tests';

/** The cookie that stands for the token of a link, on a page whose files refer to each other from the root of their host. */
const root = ({ cookie }) => (cookie ? ['__Host-r'] : []);

/**
 * Each: the fields of the upload, the cookies that its viewer has in the end, and for gated pages how the gate is passed by
 * its form (`type`) and by the same requests without a form (`pass`).
 */
export const MODES = [
  { name: 'unlisted', fields: () => ({}), cookies: root },
  { name: 'slug', fields: ({ name }) => ({ slug: `page-${name}` }), cookies: () => [] },
  { name: 'agentation', fields: () => ({ agentation: 'true' }), cookies: root },
  {
    name: 'password',
    fields: () => ({ password: PASSWORD }),
    cookies: (tool) => ['__Host-g', ...root(tool)],
    type: (page) => typePassword(page, PASSWORD),
    pass: (server, site) => passPassword(server, site, PASSWORD),
  },
  {
    name: 'burn',
    fields: () => ({ burn_after_read: 'true' }),
    cookies: (tool) => [...root(tool), '__Host-v'],
    type: pressBurn,
    pass: passBurn,
  },
  { name: 'strict', fields: () => ({ csp_strict: 'true' }), cookies: root },
];
