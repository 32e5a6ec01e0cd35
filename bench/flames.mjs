// Flame graphs of publish and view: where one core spends its time, from the socket to the commit. Draws
// docs/images/flames-publish.svg and flames-view.svg; needs `perf` (Debian: linux-perf) and the right to use it.

import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { publish } from '../e2e/http.mjs';
import { operatorKey, ROOT, sleep, startServer } from '../e2e/server.mjs';
import { load, onServerCore, RELEASE, SETTINGS, tenKilobytes } from './measure.mjs';

const SECONDS = 4;
const RATE = 499;
/** Bytes of each stack that are kept: the program has no frame pointers, so its stacks are unwound later. */
const STACK_BYTES = 65_528;
const run = promisify(execFile);

// On the disk of the checkout: a temporary directory may be in memory, where nothing is durable.
const disk = path.join(ROOT, '.test/bench-flames');
await rm(disk, { recursive: true, force: true });
await mkdir(path.join(disk, 'data'), { recursive: true });
await run('perf', ['--version']).catch(() => {
  console.error('flames: please install perf first (Debian: linux-perf)');
  process.exit(69);
});

const server = await startServer({ binary: RELEASE, wrap: onServerCore, env: SETTINGS, dataDir: path.join(disk, 'data') });
const key = await operatorKey(server);
const site = await publish(server, { name: 'ten.html', bytes: tenKilobytes(), key });
const common = { pids: [server.pid], headers: { Host: `localhost:${server.port}` }, seconds: SECONDS + 1 };
const works = {
  publish: { url: `http://127.0.0.1:${server.port}/sites`, script: 'publish.lua', args: ['dropleaf', key] },
  view: { url: `http://127.0.0.1:${server.port}${site.path}` },
};

for (const [name, work] of Object.entries(works)) {
  const data = path.join(disk, `${name}.data`);
  const text = path.join(disk, `${name}.txt`);
  const loading = load({ ...common, ...work });
  await sleep(500);
  await run('perf', ['record', '-q', '-F', String(RATE), '--call-graph', `dwarf,${STACK_BYTES}`, '-o', data, '-p', String(server.pid), '--', 'sleep', String(SECONDS)]);
  await loading;
  await run('sh', ['-c', 'exec perf script --no-inline -i "$1" -F comm,ip,sym >"$2" 2>/dev/null', 'sh', data, text], { maxBuffer: 1e9 });
  const tree = await fold(text);
  const file = path.join(ROOT, 'docs/images', `flames-${name}.svg`);
  await writeFile(file, draw(tree, `${name} of a 10 KB page, ${tree.count} samples`));
  console.log(`${path.relative(ROOT, file)}: ${tree.count} samples`);
}
await server.stop();
await rm(disk, { recursive: true, force: true });

/** Samples as a tree of {name, count, inside}: an empty line ends a sample, whose frames come innermost first. */
async function fold(file) {
  const root = { name: 'all', count: 0, inside: new Map() };
  let frames = null;
  const add = () => {
    if (!frames) return;
    let node = root;
    root.count += 1;
    for (const name of frames.toReversed()) {
      if (!node.inside.has(name)) node.inside.set(name, { name, count: 0, inside: new Map() });
      node = node.inside.get(name);
      node.count += 1;
    }
    frames = null;
  };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line.trim() === '') add();
    else if (!/^\s/.test(line)) frames = [];
    else if (!line.includes('[unknown]')) frames?.push(plain(line.trim().replace(/^[0-9a-f]+\s+/, '')));
  }
  add();
  return root;
}

/** A name without what only the compiler needs: hashes, type arguments, traits, the closures of async functions. */
function plain(name) {
  let text = name.replace(/::h[0-9a-f]{16}$/, '').replaceAll('::{{closure}}', '').replace(/<impl (?:.* for )?([^<>]+).*?>/g, '$1').replace(/^<([^<> ]+)(?:<.*>)? as .*>::/, '$1::');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/<[^<>]*>/g, '');
  }
  return text.replace(/^::/, '').replaceAll('::::', '::') || 'unknown';
}

function escape(text) {
  return text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
}

/** The width says how much of the time a function and what it calls took. Narrow ones are left out, and so are frames that every sample has. */
function draw(tree, title) {
  const [width, line, least] = [1200, 17, 0.003];
  const boxes = [];
  let deepest = 0;
  const place = (node, depth, left, of) => {
    deepest = Math.max(deepest, depth);
    boxes.push({ node, depth, left, part: node.count / of });
    let at = left;
    for (const child of [...node.inside.values()].sort((a, b) => a.name.localeCompare(b.name))) {
      if (child.count / of >= least) place(child, depth + 1, at, of);
      at += child.count / of;
    }
  };
  place(shortened(tree), 0, 0, tree.count);
  const height = (deepest + 1) * line + 40;
  const drawn = boxes.map(({ node, depth, left, part }) => {
    const [x, y, w] = [left * width, height - (depth + 1) * line - 8, part * width];
    const percent = `${(part * 100).toFixed(1)} %`;
    const room = Math.floor((w - 6) / 6.6);
    const label = room < 4 ? '' : node.name.length <= room ? node.name : `${node.name.slice(0, room - 1)}…`;
    const text = label && `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escape(label)}</text>`;
    return `<g><title>${escape(node.name)} (${percent})</title><rect x="${x.toFixed(1)}" y="${y}" width="${w.toFixed(1)}" height="${line - 1}" fill="${color(node.name)}"/>${text}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="11">`,
    '<style>text{fill:#111}rect{stroke:#fff;stroke-width:.5}</style>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="8" y="18" font-size="14">${escape(title)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

/** A chain of frames that have nothing beside them says nothing, so only its last one is kept. */
function shortened(node) {
  let last = node;
  for (let only = [...last.inside.values()]; only.length === 1 && only[0].count === last.count; only = [...last.inside.values()]) [last] = only;
  return { ...last, inside: new Map([...last.inside].map(([name, child]) => [name, shortened(child)])) };
}

/** One color for each part of the program. */
function color(name) {
  const parts = [
    [/dropleaf_inspect|secrets/, '#f4b6a6'],
    [/dropleaf_content|ZSTD|blake3/, '#f9dc9c'],
    [/sqlite|pager|wal|rusqlite|dropleaf_store/i, '#bfe3b4'],
    [/dropleaf/, '#a9d5ee'],
    [/hyper|http|axum|multer|tokio|tower/, '#d9c7ee'],
    [/^(__|sys_|do_|tcp_|ip_|ext4|vfs|entry_|sock)/, '#d5d8dc'],
  ];
  return parts.find(([pattern]) => pattern.test(name))?.[1] ?? '#ece7da';
}
