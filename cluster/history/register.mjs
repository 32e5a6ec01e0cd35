// The model of a page as a compare-and-set register: PUT with `expected_updated_at`, rollback, and reads of the row and of the bytes.

import { viewStaleness } from './staleness.mjs';

/**
 * State: `stamp` is the page's `updated_at`, null while no client has been told the stamp of the change that took effect last; `floor` is
 * a stamp that it must exceed. `bodies` are the digests of all versions, oldest first.
 */
const init = () => ({ stamp: null, floor: -1, bodies: [] });

/** The state with this stamp known, or null if it cannot be that one. */
function known(state, stamp) {
  if (state.stamp === null) return stamp > state.floor ? { ...state, stamp, floor: stamp } : null;
  return state.stamp === stamp ? state : null;
}

/** A new version. A stamp strictly exceeds the one before. */
function changed(state, body, stamp) {
  const next = { stamp: null, floor: state.floor, bodies: [...state.bodies, body] };
  return stamp === undefined ? next : known(next, stamp);
}

/** Rows: whether they name the current version and stamp. */
function readRow(state, { stamp, version }) {
  if (version !== state.bodies.length) return null;
  return known(state, stamp);
}

function put(state, { body, expected }, result) {
  if (result?.conflict) {
    // The stamp in the answer is the current one, and not the expected one.
    return result.stamp === expected ? null : known(state, result.stamp);
  }
  const before = expected === undefined ? state : known(state, expected);
  if (before === null) return null;
  if (result !== undefined && result.version !== before.bodies.length + 1) return null;
  return changed(before, body, result?.stamp);
}

function rollback(state, { version }, result) {
  const body = state.bodies[version - 1];
  if (body === undefined) return null;
  // The current version changes nothing.
  if (version === state.bodies.length) return result?.version === version ? known(state, result.stamp) : null;
  if (result !== undefined && result.version !== state.bodies.length + 1) return null;
  return changed(state, body, result?.stamp);
}

export const register = {
  init,
  step(state, call, result) {
    switch (call.op) {
      case 'create':
        if (state.bodies.length > 0) return null;
        return changed(state, call.body, result?.stamp);
      case 'put':
        return state.bodies.length === 0 ? null : put(state, call, result);
      case 'rollback':
        return rollback(state, call, result);
      case 'row':
        return readRow(state, result);
      // The bytes, from the API (`content`) or as viewers see them (`view`).
      default:
        return result.body === state.bodies.at(-1) ? state : null;
    }
  },
  reads: ({ op }) => ['row', 'content', 'view'].includes(op),
  settles: ({ op }, result) => op === 'put' && result.conflict === true,
  staleness: viewStaleness,
};
