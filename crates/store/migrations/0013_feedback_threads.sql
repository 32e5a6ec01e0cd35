-- Threads: replies to comments, who resolved or reopened a comment, and who may read the replies.

-- An older program beside this one deletes comments without knowing of replies, so they go with their comment.
CREATE TABLE feedback_replies (
  id          TEXT PRIMARY KEY,
  feedback_id TEXT NOT NULL REFERENCES feedback(id) ON DELETE CASCADE,
  site_id     TEXT NOT NULL,
  -- viewer, owner or agent.
  author      TEXT NOT NULL,
  -- The name that a viewer chose.
  author_name TEXT,
  text        TEXT NOT NULL,
  -- The viewer reopened the comment with this reply.
  reopens     BIGINT NOT NULL,
  -- Its place in the thread, from 1: times are in seconds, and two replies can have the same.
  seq         BIGINT NOT NULL,
  created_at  BIGINT NOT NULL
);
CREATE INDEX feedback_replies_by_thread ON feedback_replies(feedback_id, seq);
CREATE INDEX feedback_replies_by_site ON feedback_replies(site_id, feedback_id);

-- The hash of the secret that the browser of the comment's author keeps.
ALTER TABLE feedback ADD COLUMN viewer_hash BYTEA;
ALTER TABLE feedback ADD COLUMN resolved_by TEXT;
-- A comment is reopened if it has this time and is not resolved again.
ALTER TABLE feedback ADD COLUMN reopened_at BIGINT;
ALTER TABLE feedback ADD COLUMN reopened_by TEXT;

-- Who sees replies and resolved comments: null for the author of the comment, or everyone.
ALTER TABLE sites ADD COLUMN feedback_visible TEXT;
