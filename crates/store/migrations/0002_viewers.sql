-- What viewers meet: share links, codes of the e-mail gate, burnt pages, feedback, reports.

-- The token itself is found by its hash, and shown to its owner from the sealed copy.
CREATE TABLE share_tokens (
  id                TEXT PRIMARY KEY,
  site_id           TEXT NOT NULL REFERENCES sites(id),
  token_hash        BYTEA NOT NULL UNIQUE,
  sealed            BYTEA NOT NULL,
  note              TEXT,
  bypass_email_gate BIGINT NOT NULL,
  max_uses          BIGINT,
  uses              BIGINT NOT NULL,
  created_at        BIGINT NOT NULL,
  expires_at        BIGINT,
  last_used_at      BIGINT
);
CREATE INDEX share_tokens_by_site ON share_tokens(site_id, created_at, id);

-- What lets an owner into a page of their own from the dashboard: once, within a minute, while its gates stay as they are.
CREATE TABLE owner_tickets (
  ticket_hash  BYTEA PRIMARY KEY,
  site_id      TEXT NOT NULL,
  account_id   TEXT NOT NULL,
  gate_version BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL
);
CREATE INDEX owner_tickets_by_account ON owner_tickets(account_id, expires_at);
CREATE INDEX owner_tickets_by_expiry ON owner_tickets(expires_at);

-- One open code for each site and address. Neither the address nor the code is kept, only what proves them.
CREATE TABLE email_codes (
  site_id      TEXT NOT NULL REFERENCES sites(id),
  address_hash BYTEA NOT NULL,
  code_mac     BYTEA NOT NULL,
  tries_left   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  PRIMARY KEY (site_id, address_hash)
);
CREATE INDEX email_codes_by_expiry ON email_codes(expires_at);

-- Who has burnt a page: the holder of the secret may look again until the bytes are erased.
CREATE TABLE burns (
  site_id     TEXT PRIMARY KEY REFERENCES sites(id),
  secret_hash BYTEA NOT NULL,
  erase_at    BIGINT NOT NULL
);
CREATE INDEX burns_by_erasure ON burns(erase_at);

-- The CSP sources of the inline scripts of a bundle's pages; null until a page with a strict policy uses the bundle.
ALTER TABLE bundles ADD COLUMN script_sources TEXT;

CREATE TABLE feedback (
  id            TEXT PRIMARY KEY,
  site_id       TEXT NOT NULL REFERENCES sites(id),
  comment       TEXT NOT NULL,
  element       TEXT,
  element_path  TEXT,
  selected_text TEXT,
  page_url      TEXT,
  intent        TEXT,
  severity      TEXT,
  created_at    BIGINT NOT NULL,
  resolved_at   BIGINT,
  resolved_note TEXT
);
CREATE INDEX feedback_by_site ON feedback(site_id, created_at, id);

CREATE TABLE reports (
  id         TEXT PRIMARY KEY,
  site_id    TEXT NOT NULL REFERENCES sites(id),
  reason     TEXT NOT NULL,
  comment    TEXT,
  contact    TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX reports_by_site ON reports(site_id, created_at);
