// Fills the tables of threads: replies by viewers, the owner and an agent, and comments that were reopened.

import assert from 'node:assert/strict';
import { api, request, siteHost } from '../http.mjs';

/** Sends JSON as a viewer of the page. */
async function send(server, page, path, body, more) {
  const headers = { 'content-type': 'application/json', ...more };
  const options = { method: 'POST', path: `/p/${page.token}/_dropleaf/feedback${path}`, host: siteHost(server), headers };
  const answer = await request(server, { ...options, body: JSON.stringify(body) });
  assert.equal(answer.status, 201, answer.text());
  return answer.json();
}

/** Replies as the viewer who wrote the comment. */
const sendReply = (server, page, { id, viewer_token }, body) =>
  send(server, page, `/${id}/replies`, body, { 'feedback-tokens': `${id}:${viewer_token}` });

/** Two threads, of which the owner lets every viewer see the replies. Gives the ID of a comment that an agent can reply to. */
export async function threads(server, key, page) {
  const call = api(server, key);
  const reply = (id, body) => call('POST', `/sites/${page.id}/feedback/${id}/replies`, body);
  const first = await send(server, page, '', { comment: 'Which year is this?', intent: 'question', severity: 'important' });
  await reply(first.id, { text: 'Last year.', author: 'owner' });
  await call('POST', `/feedback/${first.id}/resolve`, { note: 'Answered.' });
  const reopening = { text: 'It says this year below.', name: 'Ada', still_a_problem: true };
  const reopened = await sendReply(server, page, first, reopening);
  assert.equal(reopened.state, 'reopened');
  const second = await send(server, page, '', { comment: 'The table is cut off.', intent: 'fix' });
  await reply(second.id, { text: 'On which screen?' });
  await sendReply(server, page, second, { text: 'On my phone.' });
  await call('PATCH', `/sites/${page.id}`, { feedback_visible: 'everyone' });
  return first.id;
}
