// Stands before a server and cuts the connections of tool calls after they have reached it: after the first event of the
// response, or in the middle of the answer.

import http from 'node:http';

/**
 * `port(method)` gives, or promises, the port of the server that gets a request. `how(n)` says how the n-th call of a tool
 * is cut: 'first', 'middle', or not at all. Counts the calls, the cuts and the resumed streams.
 */
export async function cuttingProxy({ port, how }) {
  const seen = { calls: 0, cuts: 0, resumed: 0 };
  const listener = http.createServer(async (asked, answer) => {
    const chunks = [];
    for await (const chunk of asked) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const isCall = asked.method === 'POST' && JSON.parse(body.toString()).method === 'tools/call';
    const cut = isCall ? how(seen.calls++) : undefined;
    if (asked.headers['last-event-id']) seen.resumed += 1;
    const target = await port(asked.method);
    const headers = { ...asked.headers, host: `localhost:${target}` };
    const call = http.request({ host: '127.0.0.1', port: target, method: asked.method, path: asked.url, headers });
    call.once('response', (found) => {
      answer.writeHead(found.statusCode, found.headers);
      answer.flushHeaders();
      if (cut && found.statusCode === 200) cutAt(cut, found, answer, call, seen);
      else found.pipe(answer);
      found.once('error', () => answer.destroy());
    });
    call.once('error', () => answer.destroy());
    answer.once('close', () => call.destroy());
    call.end(body);
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    listener.closeAllConnections();
    return new Promise((resolve) => listener.close(resolve));
  };
  return { url: `http://127.0.0.1:${listener.address().port}`, seen, stop };
}

/** Lets the first event through, and half of what comes next; then both connections end. */
function cutAt(cut, found, answer, call, seen) {
  let text = '';
  let sent = 0;
  let done = false;
  found.setEncoding('latin1');
  found.on('data', (piece) => {
    if (done) return;
    text += piece;
    const first = text.indexOf('\n\n') + 2;
    if (first < 2 || (cut === 'middle' && text.length < first + 20)) return;
    const end = cut === 'first' ? first : first + Math.floor((text.length - first) / 2);
    done = true;
    seen.cuts += 1;
    answer.write(Buffer.from(text.slice(sent, end), 'latin1'), () => {
      answer.destroy();
      call.destroy();
    });
    sent = end;
  });
}
