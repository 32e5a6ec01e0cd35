// Records operations of concurrent clients: when each began and ended, what it asked for, and what it was told.

import { ANSWERED, OPEN, REFUSED } from './outcome.mjs';

const MILLISECOND = 1e6;

/**
 * An operation is {id, model, key, process, node, call, start, end, outcome, result, reason}. Times are nanoseconds since the history
 * began, on one monotonic clock. `outcome` is `answered` (with `result`), `refused` (nothing happened) or `open` (`end` is Infinity: the
 * effect may take place at any time after `start`, or never). An operation that was begun and never ended is open too.
 */
export class History {
  operations = [];
  #origin;
  #now;

  /** `now` gives nanoseconds as a BigInt; tests give their own. */
  constructor(now = process.hrtime.bigint) {
    this.#now = now;
    this.#origin = now();
  }

  now() {
    return Number(this.#now() - this.#origin);
  }

  /** Records the begin of an operation; end it with `answered`, `refused` or `open`. */
  begin({ model, key, process: by, node, call }) {
    const operation = { id: this.operations.length, model, key, process: by, node, call, start: this.now(), end: Infinity, outcome: OPEN };
    this.operations.push(operation);
    const close = (more) => {
      if (operation.closed) throw new Error(`operation ${operation.id} ended twice`);
      Object.assign(operation, { closed: true, ...more });
      return operation;
    };
    return {
      operation,
      answered: (result) => close({ outcome: ANSWERED, end: this.now(), result }),
      refused: (reason) => close({ outcome: REFUSED, end: this.now(), reason }),
      open: (reason) => close({ reason, abandoned: this.now() }),
    };
  }

  /** How many operations ended how, by model. */
  tally() {
    const tally = {};
    for (const { model, outcome } of this.operations) {
      tally[model] ??= { [ANSWERED]: 0, [REFUSED]: 0, [OPEN]: 0 };
      tally[model][outcome] += 1;
    }
    return tally;
  }

  /** One operation per line, for a file that `read` takes. */
  toLines() {
    return this.operations.map((operation) => `${JSON.stringify({ ...operation, end: Number.isFinite(operation.end) ? operation.end : null })}\n`).join('');
  }

  static fromLines(text) {
    const history = new History();
    history.operations = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .map((operation) => ({ ...operation, end: operation.end ?? Infinity }));
    return history;
  }
}

const at = (time) => (Number.isFinite(time) ? (time / MILLISECOND).toFixed(3) : '…').padStart(12);

/** An operation as a line: times in milliseconds, who, where, what was asked and answered. */
export function describe(operation) {
  const { id, process: by, node, call, start, end, outcome, result, reason } = operation;
  const answer = { [ANSWERED]: () => JSON.stringify(result), [REFUSED]: () => `refused (${reason})`, [OPEN]: () => `open (${reason ?? 'never ended'})` };
  return `${at(start)} –${at(end)}  #${id} ${by}${node === undefined ? '' : `@${node}`}  ${JSON.stringify(call)} → ${answer[outcome]()}`;
}
