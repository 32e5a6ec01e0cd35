// Outputs of real tools in real Chromium: published in six modes, each looks and works as on a plain static server.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch, OUTPUT } from '../e2e/browser.mjs';
import { publish } from '../e2e/http.mjs';
import { operatorKey, startServer } from '../e2e/server.mjs';
import { catalogue, expectedUpload } from './catalogue.mjs';
import { lookUntilQuiet, lookUntilRight, problemsAtFirst, problemsAtLast, problemsOfUpload } from './comparison.mjs';
import { loadFixtures } from './fixture.mjs';
import { MODES } from './modes.mjs';
import { asksOtherHosts } from './observation.mjs';
import { startReference } from './reference.mjs';
import { REPORT, report } from './report.mjs';
import { Viewer } from './viewer.mjs';

const PICTURES = path.join(OUTPUT, 'compatibility');
/** Outputs that are compared at the same time; their modes follow one another. */
const PARALLEL = 3;
/** COMPATIBILITY_ONLY=vite compares the outputs whose name contains "vite". */
const ONLY = process.env.COMPATIBILITY_ONLY ?? '';
/** COMPATIBILITY=short: two modes for each output, in turn, and those in which it is known to differ. */
const SHORT = process.env.COMPATIBILITY === 'short';

const tools = await catalogue();
const fixtures = await loadFixtures(tools.filter((tool) => tool.name.includes(ONLY)));
/** What was found, also what is declared: an artefact beside the pictures. */
const results = [];
let server, reference, browser, key;

before(async () => {
  await mkdir(PICTURES, { recursive: true });
  server = await startServer({ env: { DROPLEAF_LIMITS__EXEMPT: '127.0.0.0/8,::1/128' } });
  key = await operatorKey(server);
  reference = await startReference(fixtures);
  browser = await launch({ isOffline: true });
});
after(async () => {
  await browser?.close();
  await reference?.stop();
  await server?.stop();
  await writeFile(path.join(PICTURES, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
});

async function viewReference(viewer) {
  const observation = viewer.observe();
  await viewer.page.goto(reference.rootOf(viewer.fixture));
  const first = await lookUntilQuiet(observation);
  await viewer.fixture.check?.(viewer.page);
  const last = await lookUntilQuiet(observation);
  return { first, last, cookies: await viewer.cookieNames() };
}

/** Opens a published output; what comes before its own navigation is not observed. */
async function open(viewer, mode, site) {
  const { page, fixture } = viewer;
  await viewer.leave();
  if (mode.type && fixture.usesForms) {
    await page.goto(site.url);
    viewer.observe();
    await Promise.all([page.waitForNavigation({ waitUntil: 'commit' }), mode.type(page)]);
  } else {
    if (mode.pass) await viewer.keepCookie(await mode.pass(server, site));
    viewer.observe();
    await page.goto(site.url, { waitUntil: 'commit' });
  }
  await page.waitForLoadState();
}

/** What is wrong with a published output as it opens and when it is used. */
async function problemsOfView(viewer, expected, declared) {
  const opened = await lookUntilRight(viewer.observation, (seen) => problemsAtFirst(seen, expected.first, declared));
  if (opened.length > 0) return opened;
  try {
    await (declared?.check ?? viewer.fixture.check)?.(viewer.page);
  } catch (error) {
    return [`check: ${error.message.split('\n').slice(0, 3).join(' ')}`];
  }
  return lookUntilRight(viewer.observation, (seen) => problemsAtLast(seen, expected.last, declared));
}

/** Publishes an output in one mode and compares it. */
async function compare(viewer, mode, expected) {
  const { fixture } = viewer;
  const site = await publish(server, { name: fixture.file, bytes: fixture.bytes, fields: mode.fields(fixture), key });
  await open(viewer, mode, site);
  const seen = await problemsOfView(viewer, expected, fixture.differences[mode.name]);
  const cookies = (await viewer.cookieNames()).filter((name) => !expected.cookies.includes(name));
  const upload = { cookies, spa: site.spa, warnings: site.warnings ?? [] };
  const problems = [...seen, ...problemsOfUpload(upload, expectedUpload(fixture, mode))];
  results.push({ output: fixture.name, mode: mode.name, ...upload, problems });
  return problems;
}

/** Pictures of a page that differs and of its reference. */
async function takePictures(viewer, mode) {
  const { name } = viewer.fixture;
  await viewer.picture(path.join(PICTURES, `${name}-${mode.name}.png`));
  await viewer.page.goto(reference.rootOf(viewer.fixture));
  await viewer.picture(path.join(PICTURES, `${name}-reference.png`));
}

function modesOf(fixture, index) {
  if (!SHORT) return MODES;
  const inTurn = [index % MODES.length, (index + MODES.length / 2) % MODES.length];
  return MODES.filter((mode, at) => inTurn.includes(at) || fixture.differences[mode.name]);
}

describe('an output looks and works as on a static server', { concurrency: PARALLEL }, () => {
  for (const [index, fixture] of fixtures.entries()) {
    test(fixture.title, async (t) => {
      const viewer = await Viewer.open(browser, fixture);
      try {
        const expected = await viewReference(viewer);
        if (!asksOtherHosts(expected.last)) await viewer.stopPlayingOtherHosts();
        for (const mode of modesOf(fixture, index)) {
          await t.test(`${fixture.title}, ${mode.name}`, async () => {
            const problems = await compare(viewer, mode, expected);
            if (problems.length > 0) await takePictures(viewer, mode);
            assert.deepEqual(problems, []);
          });
        }
      } finally {
        await viewer.close();
      }
    });
  }
});

test('the catalogue has at least 40 outputs, and 40 of them are kept', () => {
  assert.ok(tools.filter((tool) => tool.kept).length >= 40);
});

test('docs/compatibility.md is what the catalogue says', async () => {
  const text = report(tools);
  if (process.env.UPDATE_GENERATED) {
    const right = results.filter(({ problems }) => problems.length === 0);
    assert.equal(right.length, fixtures.length * MODES.length, 'the table is written after a run without failures');
    await writeFile(REPORT, text);
  }
  assert.ok((await readFile(REPORT, 'utf8')) === text, 'it is not: run UPDATE_GENERATED=1 scripts/compatibility');
});
