// The models of what the service promises, one per kind of resource. Each describes the state of one key and which answers are possible in
// it; see linearizable.mjs for the form of a model. `undefined` as a result is an open operation.

import { balance } from './ledger.mjs';
import { register } from './register.mjs';
import { ROW_STALENESS, viewStaleness } from './staleness.mjs';

const same = (allowed, state) => (allowed ? state : null);

/** Claim of a page without an owner: one account wins. State: the owner. */
const claim = {
  init: () => ({ owner: null }),
  step({ owner }, { op, by }, result) {
    const state = { owner };
    if (op === 'read') return same(result.mine === (owner === by), state);
    if (result === undefined) return owner === null ? { owner: by } : null;
    // The owner may repeat the claim, because the first answer may have been lost.
    if (result.won) return owner === null || owner === by ? { owner: by } : null;
    return same(owner !== null && owner !== by, state);
  },
  reads: ({ op }) => op === 'read',
  settles: (call, result) => !result.won,
};

/**
 * Page that burns at its first view. State: `absent`, `live` or `burnt`. A view that received any byte of the body has burnt the page; an
 * open view may have.
 */
const burn = {
  init: () => 'absent',
  step(state, { op }, result) {
    if (op === 'publish') return state === 'absent' ? 'live' : null;
    // A preview does not burn.
    if (op === 'peek') return same(result.gone === (state === 'burnt'), state);
    if (result === undefined || result.body) return state === 'live' ? 'burnt' : null;
    return same(state === 'burnt', state);
  },
  reads: ({ op }) => op === 'peek',
  settles: ({ op }, result) => op === 'view' && !result.body,
  staleness: ({ op }) => (op === 'peek' ? ROW_STALENESS : 0),
};

/** Slug: one page has it; a freed one is kept for its last account. State: the page that has it, the account that may take it. */
const slug = {
  init: () => ({ page: null, account: null }),
  step(state, { op, page, account }, result) {
    const isFree = state.page === null && (state.account === null || state.account === account);
    if (op === 'take') {
      if (result === undefined || result.taken) return isFree || state.page === page ? { page, account } : null;
      return same(!isFree && state.page !== page, state);
    }
    if (op === 'release') return state.page === page ? { page: null, account: state.account } : same(result !== undefined, state);
    return same(result.has === (state.page === page), state);
  },
  reads: ({ op }) => op === 'read',
  settles: ({ op }, result) => op === 'take' && !result.taken,
};

/**
 * Request with an Idempotency-Key, or a payment with its proof: one effect, and the first answer again. State: the body of the request that
 * took effect, and its answer; null while there is none, or while no client has received it.
 */
const idempotency = {
  init: () => ({ body: null, answer: null }),
  step(state, { op, body }, result) {
    const isDone = state.body !== null;
    // How many resources the key has created, and which one.
    if (op === 'count') return same(result.count === Number(isDone) && [undefined, result.id].includes(state.answer?.id), state);
    if (result === undefined) return isDone ? null : { body, answer: null };
    if (result.mismatch) return same(isDone && state.body !== body, state);
    const { answer } = result;
    const isFirst = !isDone || (state.body === body && state.answer === null);
    return isFirst ? { body, answer } : same(state.body === body && state.answer.id === answer.id && state.answer.digest === answer.digest, state);
  },
  reads: ({ op }) => op === 'count',
  settles: (call, result) => result.mismatch === true,
};

/**
 * Secret that is delivered once (device login, authorization code, key of a pay session). State: whether it was allowed, whether it was
 * delivered. An open poll may have taken it. With `lags` the permission takes effect some time after its acknowledgement.
 */
const delivery = {
  init: () => ({ allowed: false, delivered: false }),
  step(state, { op, lags }, result) {
    const { allowed, delivered } = state;
    if (op === 'allow') return result?.late ? same(allowed, state) : { allowed: true, delivered };
    if (result === undefined || result.secret) return allowed && !delivered ? { allowed, delivered: true } : null;
    if (result.used) return same(delivered, state);
    return same(!allowed || (lags === true && !delivered), state);
  },
  settles: ({ op }, result) => op === 'poll' && !result.secret,
};

/** Deletion and restoration by the owner. State: whether the page is there. */
const deletion = {
  init: () => ({ there: true }),
  step(state, { op }, result) {
    if (op === 'read' || op === 'view') return same(result.there === state.there, state);
    // A page that is there can be restored again, which changes nothing.
    if (op === 'restore') return { there: true };
    if (result === undefined || result.done) return state.there ? { there: false } : null;
    return same(!state.there, state);
  },
  reads: ({ op }) => op === 'read' || op === 'view',
  settles: ({ op }, result) => op === 'delete' && !result.done,
  staleness: viewStaleness,
};

/**
 * Access by a password or a share token. State: the secret that opens the page; null for none. After an acknowledged change and the stated
 * staleness, the old secret opens nothing.
 */
const access = {
  init: () => ({ secret: null }),
  step(state, { op, secret }, result) {
    if (op === 'view') return same(result.entered === (state.secret !== null && state.secret === secret), state);
    if (result?.missing) return same(state.secret === null, state);
    return { secret };
  },
  reads: ({ op }) => op === 'view',
  staleness: viewStaleness,
};

/** Published page that is not changed any more. State: the digest of its bytes; null before it exists. */
const page = {
  init: () => ({ digest: null }),
  step(state, { op, digest }, result) {
    if (op !== 'publish') return same(result.digest === state.digest, state);
    return state.digest === null || state.digest === digest ? { digest } : null;
  },
  reads: ({ op }) => op !== 'publish',
  staleness: viewStaleness,
};

export const MODELS = { claim, burn, slug, idempotency, delivery, deletion, access, page, register, balance };
