-- Answers to MCP messages, kept for minutes so that a client whose connection was cut can fetch them from any node.

CREATE TABLE mcp_answers (
  -- Hash of the secret part of the event id that the client was given; the answer is encrypted with a key made from it.
  id_hash    BYTEA PRIMARY KEY,
  -- Without references: the program before this one deletes sessions and accounts and does not know this table.
  session_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  sealed     BYTEA NOT NULL,
  bytes      BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX mcp_answers_by_account ON mcp_answers(account_id, created_at, id_hash, bytes);
CREATE INDEX mcp_answers_by_time ON mcp_answers(created_at);
