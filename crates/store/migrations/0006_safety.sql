-- Safety of content: suspended accounts, what became of reports, sealed evidence, unwanted content, appeals.

ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;
ALTER TABLE accounts ADD COLUMN suspended_reason TEXT;

-- How a report was closed: taken_down or dismissed.
ALTER TABLE reports ADD COLUMN outcome TEXT;
-- The version that stood when it was made: kept while the report is open.
ALTER TABLE reports ADD COLUMN version BIGINT;
CREATE INDEX reports_closed ON reports(closed_at, created_at, id) WHERE closed_at IS NOT NULL;
CREATE INDEX reports_waiting ON reports(site_id, created_at) WHERE closed_at IS NULL;
-- Whether operators were written to about it: 0 no, 1 in a letter that may not have left yet, 2 yes.
ALTER TABLE reports ADD COLUMN told BIGINT NOT NULL DEFAULT 0;
CREATE INDEX reports_untold ON reports(told) WHERE closed_at IS NULL AND told < 2;

-- Rises from line to line, so that those of one second have an order too.
ALTER TABLE audit ADD COLUMN seq BIGINT NOT NULL DEFAULT 0;
DROP INDEX audit_by_time;
CREATE INDEX audit_by_order ON audit(seq, at, id);
CREATE INDEX audit_by_subject ON audit(subject, seq);

-- What is kept of a page that was taken down: one sealed archive, for a while.
CREATE TABLE evidence (
  site_id     TEXT PRIMARY KEY,
  -- The bundle that holds the archive; gone when it is erased.
  bundle_id   TEXT,
  size_bytes  BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  erase_after BIGINT NOT NULL,
  erased_at   BIGINT
);
CREATE INDEX evidence_to_erase ON evidence(erase_after) WHERE bundle_id IS NOT NULL;
-- Pages that are hidden but whose content is not sealed yet.
CREATE INDEX sites_to_seal ON sites(ended_at) WHERE state = 'taken_down' AND purged_at IS NULL;

-- Content that was taken down and is not wanted again. Kept when the page itself is forgotten.
CREATE TABLE unwanted (
  id         TEXT PRIMARY KEY,
  site_id    TEXT NOT NULL,
  reason     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- When an operator let it be published again; the row stays, so that it is not noted once more.
  forgotten_at BIGINT
);
CREATE UNIQUE INDEX unwanted_by_site ON unwanted(site_id);
-- What it is recognised by: a hash of all of it, or hashes and a sketch of one page.
CREATE TABLE unwanted_marks (
  unwanted_id TEXT NOT NULL REFERENCES unwanted(id),
  position    BIGINT NOT NULL,
  kind        TEXT NOT NULL,
  mark        BYTEA NOT NULL,
  -- The page it is of; none for all of the content.
  path        TEXT,
  PRIMARY KEY (unwanted_id, position)
);
-- Pages that an operator named when the content was taken down, until it is noted.
CREATE TABLE unwanted_named (
  site_id TEXT NOT NULL,
  path    TEXT NOT NULL,
  PRIMARY KEY (site_id, path)
);
-- When the sealing of a page was last tried in vain.
CREATE TABLE sealing_tries (
  site_id  TEXT PRIMARY KEY,
  tried_at BIGINT NOT NULL
);

-- Rises with every change of something that processes keep in memory as a whole.
CREATE TABLE generations (
  name  TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);

-- Content that an operator allowed, whatever the check says.
CREATE TABLE allowed_content (
  digest     BYTEA PRIMARY KEY,
  appeal_id  TEXT,
  reason     TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- A publisher asks the operator to look at a page that was refused.
CREATE TABLE appeals (
  id           TEXT PRIMARY KEY,
  -- SHA-256 of the word that shows the publisher how it stands.
  token_hash   BYTEA NOT NULL UNIQUE,
  account_id   TEXT,
  -- Keyed hash of the network it came from.
  client       TEXT NOT NULL,
  digest       BYTEA NOT NULL,
  -- The content, until it is decided.
  bundle_id    TEXT,
  size_bytes   BIGINT NOT NULL,
  -- The page that was taken down and that it is like, if that is why it was refused.
  like_site    TEXT,
  title        TEXT NOT NULL,
  -- What the check said, as JSON.
  reasons      TEXT NOT NULL,
  comment      TEXT,
  contact      TEXT,
  state        TEXT NOT NULL,
  answer       TEXT,
  created_at   BIGINT NOT NULL,
  decided_at   BIGINT,
  -- As for reports.
  told         BIGINT NOT NULL DEFAULT 0,
  -- When its sender is to be written to about the decision; none when there is nothing to send.
  letter_at    BIGINT,
  letter_tries BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX appeals_letters ON appeals(letter_at) WHERE letter_at IS NOT NULL;
CREATE INDEX appeals_open ON appeals(created_at, id) WHERE state = 'open';
CREATE UNIQUE INDEX appeals_once ON appeals(digest) WHERE state = 'open';
CREATE INDEX appeals_of_content ON appeals(digest, created_at);
-- Others who sent content that was waiting already, each with a word of their own.
CREATE TABLE appeal_senders (
  token_hash BYTEA PRIMARY KEY,
  appeal_id  TEXT NOT NULL,
  account_id TEXT,
  comment    TEXT,
  contact    TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX appeal_senders_of ON appeal_senders(appeal_id, created_at);
