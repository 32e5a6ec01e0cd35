// The routes of pages that are shown to people, read from the sources: what is added there is tested without being named again.

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './server.mjs';

const FOLDERS = ['dashboard', 'oauth', 'operator', 'sign_in'];

/** [{path, methods}] of every `.route(…)` in these folders; `{id}` and its kin are left as they stand. */
export async function routes() {
  const found = [];
  for (const folder of FOLDERS) {
    const directory = path.join(ROOT, 'crates/server/src/http', folder);
    for (const name of await readdir(directory)) {
      if (!name.endsWith('.rs')) continue;
      const source = await readFile(path.join(directory, name), 'utf8');
      const here = source.match(/const HERE: &str = "([^"]+)"/)?.[1];
      for (const [, literal, handlers] of source.matchAll(/\.route\((?:"([^"]+)"|HERE),\s*((?:[^()]|\([^()]*\))*)\)/g)) {
        const methods = [...handlers.matchAll(/\b(get|post|any)\(/g)].map(([, method]) => method.toUpperCase());
        found.push({ path: literal ?? here, methods });
      }
    }
  }
  return found;
}
