// The staleness that the service states for what viewers see.

/** Nanoseconds: a node uses a cached row for at most this long (`ROW_TTL` in crates/app/src/infra/row_cache.rs). */
export const ROW_STALENESS = 900e6;

/** Views of pages come from cached rows, the API does not. */
export const viewStaleness = ({ op }) => (op === 'view' ? ROW_STALENESS : 0);
