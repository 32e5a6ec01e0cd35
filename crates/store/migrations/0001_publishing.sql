-- The publishing core. One text for SQLite and PostgreSQL: TEXT, BIGINT and BYTEA only, times as epoch seconds,
-- booleans as 0/1, ids made by the program.

CREATE TABLE accounts (
  id            TEXT PRIMARY KEY,
  email         TEXT UNIQUE,
  plan          TEXT NOT NULL,
  is_operator   BIGINT NOT NULL,
  balance_minor BIGINT NOT NULL,
  -- Live pages that count against the plan; moved only by guarded statements, never counted.
  active_pages  BIGINT NOT NULL,
  created_at    BIGINT NOT NULL
);

CREATE TABLE api_keys (
  id         TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  name       TEXT NOT NULL,
  prefix     TEXT NOT NULL,
  key_hash   BYTEA NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  last_used  BIGINT
);
CREATE INDEX api_keys_by_account ON api_keys(account_id, created_at);

-- A body, addressed by the BLAKE3 of its bytes as uploaded. Exactly one of body and object_key is set.
CREATE TABLE blobs (
  hash         BYTEA PRIMARY KEY,
  encoding     TEXT NOT NULL,
  size_bytes   BIGINT NOT NULL,
  stored_bytes BIGINT NOT NULL,
  -- How many bundles hold it, moved in the transaction that makes or removes one. An index from bodies to bundles
  -- would say the same, at the price of one more page written at random with every publish.
  refs         BIGINT NOT NULL,
  touched_at   BIGINT NOT NULL,
  object_key   TEXT,
  body         BYTEA
);
CREATE INDEX blobs_unused ON blobs(touched_at) WHERE refs = 0;

-- An immutable set of files. Its id sorts by time, so that new rows go to the end of every tree.
CREATE TABLE bundles (
  id         TEXT PRIMARY KEY,
  kind       TEXT NOT NULL,
  entry      TEXT NOT NULL,
  -- The name a single file was uploaded under; it answers there too.
  file_name  TEXT,
  -- What the files expect of the address they are shown at, found at upload.
  root_paths    BIGINT NOT NULL,
  client_routes BIGINT NOT NULL,
  spa           BIGINT NOT NULL,
  sandboxed_frames BIGINT NOT NULL,
  -- How many versions of sites show it.
  refs       BIGINT NOT NULL,
  touched_at BIGINT NOT NULL
);
CREATE INDEX bundles_unused ON bundles(touched_at) WHERE refs = 0;

-- blob_hash is no declared reference: without an index from bodies to files, checking it would read them all.
CREATE TABLE bundle_files (
  bundle_id  TEXT NOT NULL REFERENCES bundles(id),
  path       TEXT NOT NULL,
  mime       TEXT NOT NULL,
  blob_hash  BYTEA NOT NULL,
  size_bytes BIGINT NOT NULL,
  PRIMARY KEY (bundle_id, path)
);

CREATE TABLE sites (
  id                TEXT PRIMARY KEY,
  token             TEXT NOT NULL UNIQUE,
  host_label        TEXT NOT NULL,
  account_id        TEXT REFERENCES accounts(id),
  slug              TEXT,
  visibility        TEXT NOT NULL,
  state             TEXT NOT NULL,
  title             TEXT NOT NULL,
  -- What a search is compared with: title and slug in small letters without accents.
  search_text       TEXT NOT NULL DEFAULT '',
  version           BIGINT NOT NULL,
  bundle_id         TEXT,
  byte_size         BIGINT NOT NULL,
  created_at        BIGINT NOT NULL,
  updated_at        BIGINT NOT NULL,
  expires_at        BIGINT,
  agentation        BIGINT NOT NULL,
  csp_strict        BIGINT NOT NULL,
  e2e               BIGINT NOT NULL,
  -- As in the bundle that is shown now.
  spa               BIGINT NOT NULL DEFAULT 0,
  password_hash     TEXT,
  email_gate_domain TEXT,
  gate_version      BIGINT NOT NULL,
  claim_hash        BYTEA,
  claimed_at        BIGINT,
  -- Whether the page counts against its account's plan.
  counted           BIGINT NOT NULL,
  ended_at          BIGINT,
  purged_at         BIGINT,
  view_count        BIGINT NOT NULL,
  last_viewed_at    BIGINT
);
CREATE INDEX sites_by_account ON sites(account_id, state, updated_at, id);
CREATE INDEX sites_by_expiry ON sites(expires_at) WHERE state = 'live' AND expires_at IS NOT NULL;
CREATE INDEX sites_by_end ON sites(ended_at) WHERE ended_at IS NOT NULL AND purged_at IS NULL;
CREATE INDEX sites_by_purge ON sites(purged_at) WHERE purged_at IS NOT NULL;

CREATE TABLE site_versions (
  site_id     TEXT NOT NULL REFERENCES sites(id),
  version     BIGINT NOT NULL,
  bundle_id   TEXT NOT NULL,
  title       TEXT NOT NULL,
  byte_size   BIGINT NOT NULL,
  file_count  BIGINT NOT NULL,
  e2e         BIGINT NOT NULL,
  -- The version that this one brought back, when it was made by a rollback.
  restored_from BIGINT,
  created_at  BIGINT NOT NULL,
  PRIMARY KEY (site_id, version)
);

-- Who holds a public name. held_until is null while a live site uses it; afterwards the name waits for its last owner.
CREATE TABLE slugs (
  slug       TEXT PRIMARY KEY,
  site_id    TEXT NOT NULL,
  account_id TEXT NOT NULL,
  held_until BIGINT
);
CREATE INDEX slugs_by_site ON slugs(site_id);

-- Counters that must hold on every node: publishes of an address or an account in a window.
CREATE TABLE counters (
  key       TEXT PRIMARY KEY,
  window_at BIGINT NOT NULL,
  used      BIGINT NOT NULL,
  ends_at   BIGINT NOT NULL
);
CREATE INDEX counters_by_end ON counters(ends_at);

-- What a page without an account counts towards the totals below; the networks are keyed hashes: of the IPv4 address or the
-- IPv6 /64, and of the IPv4 address again or the IPv6 /48.
CREATE TABLE anonymous_sites (
  site_id TEXT PRIMARY KEY,
  network TEXT NOT NULL,
  wide    TEXT NOT NULL,
  bytes   BIGINT NOT NULL
);
CREATE INDEX anonymous_sites_by_network ON anonymous_sites(network);
CREATE INDEX anonymous_sites_by_wide ON anonymous_sites(wide);

-- What such pages take: of one network, of one wide network, and under 'all' of all together.
CREATE TABLE anonymous_usage (
  key   TEXT PRIMARY KEY,
  bytes BIGINT NOT NULL
);

-- The answer to a request that carried an Idempotency-Key, sealed, written with its effect.
CREATE TABLE idempotency (
  scope        TEXT NOT NULL,
  key_hash     BYTEA NOT NULL,
  request_hash BYTEA NOT NULL,
  status       BIGINT NOT NULL,
  sealed       BYTEA NOT NULL,
  created_at   BIGINT NOT NULL,
  PRIMARY KEY (scope, key_hash)
);
CREATE INDEX idempotency_by_age ON idempotency(created_at);

-- Work that one process at a time may do: the sweep, a backup that holds the sweep back.
CREATE TABLE leases (
  name   TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until  BIGINT NOT NULL
);
