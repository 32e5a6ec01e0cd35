-- MCP: sessions of the protocol's older revisions, and which comments a program has read.

-- What a client said when it began, cut to what is needed, so that a restarted server, or another node, can go on with it.
CREATE TABLE mcp_sessions (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts(id),
  -- The key or the grant it was begun with. No other credential may use it.
  principal    TEXT NOT NULL,
  params       TEXT NOT NULL,
  -- What it watches, separated by spaces: SITE or SITE/content. Empty: it never said; "-": nothing any more.
  watched      TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL
);
CREATE INDEX mcp_sessions_by_account ON mcp_sessions(account_id, last_seen_at);
CREATE INDEX mcp_sessions_by_principal ON mcp_sessions(principal, last_seen_at);
CREATE INDEX mcp_sessions_by_last_seen ON mcp_sessions(last_seen_at);

-- When a program of the owner was first given the comment.
ALTER TABLE feedback ADD COLUMN read_at BIGINT;
CREATE INDEX feedback_unread ON feedback(site_id) WHERE read_at IS NULL AND resolved_at IS NULL;
