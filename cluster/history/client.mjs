// An HTTP client of one node with a deadline for every request, and a recorder that turns its answers into operations of a history.

import http from 'node:http';
import { ignoreLateErrors } from '../../e2e/http.mjs';
import { ANSWERED, judgeAnswer, judgeError, REFUSED } from './outcome.mjs';

/** Milliseconds after which a client gives up; the operation is open then. */
const DEADLINE = 6_000;

const CONNECTIONS = 64;

export class Client {
  #agents = new Map();

  constructor({ deadline = DEADLINE } = {}) {
    this.deadline = deadline;
  }

  #agent(node) {
    if (!this.#agents.has(node)) this.#agents.set(node, new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS }));
    return this.#agents.get(node);
  }

  /**
   * Options: method, path, headers, body (string or Buffer), json (instead of body), form (instead of body), key. An error of a response
   * that had begun carries `begun`: {status, length}.
   */
  request(node, { method = 'GET', path, headers: more = {}, body, json, form, key }) {
    const headers = { host: node.host ?? `localhost:${node.port}`, ...more };
    let payload = body;
    if (json !== undefined) [payload, headers['content-type']] = [JSON.stringify(json), 'application/json'];
    if (form !== undefined) [payload, headers['content-type']] = [new URLSearchParams(form).toString(), 'application/x-www-form-urlencoded'];
    if (payload !== undefined) headers['content-length'] = Buffer.byteLength(payload);
    if (key) headers.authorization = `Bearer ${key}`;
    return new Promise((resolve, reject) => {
      let begun;
      const fail = (error) => reject(Object.assign(error, { begun }));
      const call = http.request({ host: node.address ?? '127.0.0.1', port: node.port, method, path, headers, agent: this.#agent(node) });
      const timer = setTimeout(() => call.destroy(new Error(`no answer in ${this.deadline} ms`)), this.deadline);
      // A connection can fail more than once, for example when a server answers and closes while the body is being sent.
      call.on('error', fail);
      ignoreLateErrors(call);
      call.once('close', () => clearTimeout(timer));
      call.once('response', (response) => {
        const chunks = [];
        begun = { status: response.statusCode, length: 0 };
        response.on('data', (chunk) => {
          chunks.push(chunk);
          begun.length += chunk.length;
        });
        response.on('error', fail);
        response.once('end', () => {
          if (!response.complete) return fail(new Error('the answer was cut off'));
          const bytes = Buffer.concat(chunks);
          const text = () => bytes.toString('utf8');
          return resolve({ status: response.statusCode, headers: response.headers, bytes, text, json: () => JSON.parse(text()) });
        });
      });
      call.end(payload);
    });
  }

  close() {
    for (const agent of this.#agents.values()) agent.destroy();
  }
}

/** Performs requests and records them. Answers that no rule of the contract allows are kept in `unexpected`. */
export class Recorder {
  unexpected = [];

  constructor(history, client) {
    this.history = history;
    this.client = client;
  }

  /**
   * Sends a request as an operation {model, key, process, call} and records what came of it. `interpret(answer, code)` gives the result
   * that the model judges, undefined for an answer that must not occur, or null for one that says that nothing happened. Gives
   * {answer, result}, or null unless the request was answered.
   */
  async perform(node, operation, options, interpret, { cut } = {}) {
    const entry = this.history.begin({ ...operation, node: node.name });
    let answer;
    try {
      answer = await this.client.request(node, options);
    } catch (error) {
      // What a client has already seen counts, even if the rest did not arrive.
      const seen = error.begun && cut?.(error.begun);
      if (seen) {
        entry.answered(seen);
        return null;
      }
      const { kind, code } = judgeError(error);
      if (kind === REFUSED) entry.refused(code);
      else entry.open(code);
      return null;
    }
    const { kind, code } = judgeAnswer(answer);
    if (kind !== ANSWERED) {
      if (kind === REFUSED) entry.refused(code);
      else entry.open(code);
      return null;
    }
    const result = interpret(answer, code);
    if (result === undefined) {
      this.unexpected.push(`${operation.model} ${operation.key} at ${node.name}: ${options.method ?? 'GET'} ${options.path}: ${answer.status} ${answer.text().slice(0, 200)}`);
      entry.open(`unexpected ${answer.status} ${code}`);
      return null;
    }
    if (result === null) {
      entry.refused(code);
      return null;
    }
    entry.answered(result);
    return { answer, result };
  }
}
