// A stand-in for GitHub's REST API, as far as comments on pull requests go: authors, pages of at most 100, and the ways in
// which the real one refuses.

import http from 'node:http';

/**
 * `users` maps tokens to logins; a token of a workflow (`ghs_…`) may not ask who it is. `failures` is a list of
 * {method, match, status, headers} that the next matching requests are answered with. `seen` holds `METHOD path`.
 */
export async function startGitHub() {
  const github = { users: { ghs_workflow: 'github-actions[bot]', ghp_person: 'octocat' }, comments: [], failures: [], seen: [], readOnly: false };
  let ids = 1000;
  const listener = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url, 'http://api.github.invalid');
    const route = `${request.method} ${url.pathname}`;
    github.seen.push(`${route}${url.search}`);
    const answer = (status, body, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'x-ratelimit-remaining': '4999', ...headers });
      response.end(JSON.stringify(body));
    };
    const failure = github.failures.findIndex(({ method, match }) => method === request.method && match.test(url.pathname));
    if (failure >= 0) {
      const [{ status, headers, message = 'Something went wrong', cut, after }] = github.failures.splice(failure, 1);
      if (cut) return response.destroy();
      if (!after) return answer(status, { message }, headers);
      // Done, but not confirmed.
      github.lose = true;
    }
    const login = github.users[request.headers.authorization?.replace(/^Bearer /, '')];
    if (!login) return answer(401, { message: 'Bad credentials' });
    if (request.headers.accept !== 'application/vnd.github+json') return answer(415, { message: 'Unsupported media type' });
    if (route === 'GET /user') {
      return login.endsWith('[bot]') ? answer(403, { message: 'Resource not accessible by integration' }) : answer(200, { login });
    }
    const list = url.pathname.match(/^\/repos\/acme\/site\/issues\/(\d+)\/comments$/);
    const one = url.pathname.match(/^\/repos\/acme\/site\/issues\/comments\/(\d+)$/);
    if (list && request.method === 'GET') {
      const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), 100);
      const start = (Number(url.searchParams.get('page') ?? 1) - 1) * size;
      return answer(200, github.comments.filter(({ issue }) => issue === list[1]).slice(start, start + size));
    }
    if (github.readOnly) return answer(403, { message: 'Resource not accessible by integration' });
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString('utf8')).body : undefined;
    if (list && request.method === 'POST') {
      const comment = { id: (ids += 1), issue: list[1], body, user: { login } };
      github.comments.push(comment);
      if (github.lose) return response.destroy();
      return answer(201, comment);
    }
    const found = one && github.comments.find(({ id }) => id === Number(one[1]));
    if (found && request.method === 'PATCH') {
      if (found.user.login !== login) return answer(403, { message: 'Must have admin rights to Repository.' });
      found.body = body;
      return answer(200, found);
    }
    return answer(404, { message: 'Not Found' });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  github.url = `http://127.0.0.1:${listener.address().port}`;
  github.add = (issue, login, body) => github.comments.push({ id: (ids += 1), issue, body, user: { login } });
  github.stop = () => {
    listener.closeAllConnections();
    return new Promise((resolve) => listener.close(resolve));
  };
  return github;
}
