// The catalogue: one file in tools/ for each output, in the order of their names.

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
export const FIXTURES = path.join(HERE, 'fixtures');

const DEFAULTS = { kept: true, spa: false, cookie: false, warnings: [], unlistedWarnings: [], strictWarnings: [], differences: {} };

/**
 * Every recipe. Its fields:
 *   title        what made the output, as the table names it
 *   node, python pinned packages: {name: version}, ['name==version']
 *   manifest     more fields of package.json
 *   files        the project's own files: {path: text}
 *   run, output  the commands, and the file or folder that they leave
 *   kept         false when the output is too large for git: then only the long form shows it (default true)
 *   changing     text that differs from one second to the next, as an expression: it is not compared
 *   network      addresses of other hosts that the page needs: {address: file of the project}
 *   check        a function of a Playwright page: uses the output as a viewer would, and throws when it does not work
 *   usesForms    true when the gates of this output are passed by their forms, and not by requests alone
 *
 * What the server must find in the output:
 *   spa          true when unknown navigations are answered with index.html (by the reference server as well)
 *   cookie       true when opening its link sets the root-path cookie: its files refer to each other from the root of their
 *                host, or its scripts route by the path
 *   warnings     expressions for the warnings of the upload in every mode, one for each. Beyond them, unlistedWarnings: for
 *                those of every mode but the slug, strictWarnings: for those of the strict mode
 *
 * What is right to be different:
 *   differences  {mode: {because, text, requests, console, check}}
 *     because    why, of reasons.mjs; the browser must report it
 *     text       the whole text instead of that of the reference
 *     requests   expressions for requests with another fate; none may be left out, and none may be missing
 *     console    expressions for errors beyond those that come with the reason, with the same rule
 *     check      a function instead of the output's own check: throws unless the output fails as it is bound to
 */
export async function catalogue() {
  const folder = path.join(HERE, 'tools');
  const names = (await readdir(folder)).filter((file) => file.endsWith('.mjs')).sort();
  return Promise.all(
    names.map(async (file) => {
      const { default: tool } = await import(path.join(folder, file));
      return { ...DEFAULTS, ...tool, name: path.basename(file, '.mjs') };
    }),
  );
}

/** What the server must answer to the upload of an output in this mode, and the cookies that its viewer must get. */
export function expectedUpload(tool, mode) {
  const warnings = [...tool.warnings];
  if (mode.name !== 'slug') warnings.push(...tool.unlistedWarnings);
  if (mode.name === 'strict') warnings.push(...tool.strictWarnings);
  return { cookies: mode.cookies(tool), spa: tool.spa, warnings };
}
