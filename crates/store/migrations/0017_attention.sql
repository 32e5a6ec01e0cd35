-- Signals after publishing that put a page before the operator: many reports, many views of a young page, many copies.

-- The signal, if the server itself put the page before the operator; null for a viewer's report.
ALTER TABLE reports ADD COLUMN signal TEXT;
-- Keyed hash of the page and the network of the sender, while the report is open.
ALTER TABLE reports ADD COLUMN network TEXT;
-- Since when viewers get a warning before the page.
ALTER TABLE sites ADD COLUMN warned_at BIGINT;

-- What may have reached a threshold. The sweep looks at it once; each change that counts makes it look again.
CREATE TABLE attention_checks (
  -- many_reports, many_views or many_copies.
  signal       TEXT NOT NULL,
  -- The site, or for copies the hash of their main document.
  subject      TEXT NOT NULL,
  -- The version of the site that was viewed; 0 for the other signals.
  version      BIGINT NOT NULL,
  -- Rises with each change, so that a change during a check is not missed.
  changes      BIGINT NOT NULL,
  noted_at     BIGINT NOT NULL,
  -- Later than noted_at after a check that failed.
  due_at       BIGINT NOT NULL,
  -- Null while it waits for a check.
  checked_at   BIGINT,
  -- When an operator dismissed the signal about this content.
  dismissed_at BIGINT,
  PRIMARY KEY (signal, subject)
);
CREATE INDEX attention_checks_waiting ON attention_checks(due_at) WHERE checked_at IS NULL;
CREATE INDEX attention_checks_done ON attention_checks(checked_at) WHERE checked_at IS NOT NULL AND dismissed_at IS NULL;
