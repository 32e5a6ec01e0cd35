// One output of the catalogue as bytes: what is published, the files for the reference server, and the answers of other hosts.

import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { FIXTURES } from './catalogue.mjs';
import { unzip } from './unzip.mjs';

/** The long form compares what was just built, also what is too large for git. */
const BUILT = process.env.COMPATIBILITY_FIXTURES;
const isLong = BUILT !== undefined;
const FOLDER = BUILT ?? FIXTURES;

/** The outputs of `tools` that are there to be compared; a kept one that is missing is an error. */
export async function loadFixtures(tools) {
  const names = await readdir(FOLDER);
  const compared = tools.filter((tool) => isLong || tool.kept);
  return Promise.all(compared.map((tool) => loadFixture(tool, names)));
}

async function loadFixture(tool, names) {
  const kept = ['.zip', '.html', '.html.gz'].map((end) => tool.name + end).find((name) => names.includes(name));
  if (!kept) throw new Error(`${tool.name} is not built: run compatibility/build ${tool.name}`);
  const stored = await readFile(path.join(FOLDER, kept));
  const [file, bytes] = kept.endsWith('.gz') ? [kept.slice(0, -3), gunzipSync(stored)] : [kept, stored];
  const files = file.endsWith('.zip') ? unzip(bytes) : new Map([['index.html', bytes]]);
  const outside = tool.network ? await loadOutside(tool.name) : new Map();
  return { ...tool, file, bytes, files, outside };
}

async function loadOutside(name) {
  const files = unzip(await readFile(path.join(FOLDER, `${name}.network`)));
  const addresses = JSON.parse(files.get('addresses.json').toString('utf8'));
  return new Map(addresses.map((address, index) => [address, files.get(String(index))]));
}
