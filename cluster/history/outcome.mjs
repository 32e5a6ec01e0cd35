// What an answer says about the effect of a request: it is known, nothing happened, or it may have happened and may still happen.

/** The answer tells the effect; the model of the operation judges it. */
export const ANSWERED = 'answered';
/** The contract guarantees that nothing happened. */
export const REFUSED = 'refused';
/** The effect may take place at any time after the request began, or never. */
export const OPEN = 'open';

/**
 * Codes at 500 and above whose meaning in docs/errors.md is that nothing was changed. All others (`internal`, `storage_unavailable`,
 * `timed_out`, `settlement_unknown`, `paid_not_saved`) leave it open, and so does an answer without a code, such as that of a proxy.
 */
const NOTHING_CHANGED = new Set([
  'overloaded',
  'not_ready',
  'check_unavailable',
  'mail_not_configured',
  'storage_full',
  'anonymous_storage_full',
  'facilitator_unavailable',
  'processor_unavailable',
]);

/** Codes below 500 that say nothing about the state: the request was not looked at, or another one with the same key is in progress. */
const NOT_TRIED = new Set([
  'rate_limited',
  'plan_daily_limit',
  'request_timeout',
  'idempotency_in_flight',
  'payment_in_flight',
  'headers_too_large',
]);

/** Errors of a connection before anything was sent on it. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL']);

/** The code of an error answer, or null. Viewers that accept text get a line that is no JSON. */
function codeOf(answer) {
  try {
    const { error } = JSON.parse(answer.text());
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}

/** Judges an answer of the server: {kind, code}. */
export function judgeAnswer(answer) {
  if (answer.status < 400) return { kind: ANSWERED, code: null };
  const code = codeOf(answer);
  if (answer.status >= 500) return { kind: NOTHING_CHANGED.has(code) ? REFUSED : OPEN, code: code ?? `status ${answer.status}` };
  // A refusal below 500 comes from the rules of the service, which are applied before or instead of the effect.
  if (NOT_TRIED.has(code) || answer.status === 429) return { kind: REFUSED, code };
  return { kind: ANSWERED, code };
}

/** Judges an error of the connection. `sent` is false if the request certainly did not leave. */
export function judgeError(error) {
  const code = error.code ?? error.message;
  const sent = error.syscall !== 'connect' && !NOT_SENT.has(error.code);
  return { kind: sent ? OPEN : REFUSED, code };
}
