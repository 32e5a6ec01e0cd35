-- Emails to owners about comments and about pages that expire soon.

-- Which emails the account gets: off, instant or daily. Null for the default: instant if the address is confirmed.
ALTER TABLE accounts ADD COLUMN notify TEXT;
-- When a person first signed in with a code or link that was sent to the address.
ALTER TABLE accounts ADD COLUMN email_confirmed_at BIGINT;
-- The expiry that the owner was emailed about; a later change of the expiry is announced again.
ALTER TABLE sites ADD COLUMN expiry_emailed BIGINT;
CREATE INDEX sites_to_email ON sites(expires_at) WHERE state = 'live' AND expires_at IS NOT NULL AND account_id IS NOT NULL
  AND (expiry_emailed IS NULL OR expiry_emailed <> expires_at);

-- What waits to be emailed. A row is deleted before the email is sent, so that nothing is sent twice.
CREATE TABLE email_notices (
  id          TEXT PRIMARY KEY,
  account_id  TEXT NOT NULL,
  site_id     TEXT NOT NULL,
  -- There is a pause between two emails of one lane: the site for comments, the account for expiries.
  lane        TEXT NOT NULL,
  -- comment, reply, reopened or expiring.
  kind        TEXT NOT NULL,
  feedback_id TEXT,
  expires_at  BIGINT,
  created_at  BIGINT NOT NULL
);
CREATE INDEX email_notices_by_account ON email_notices(account_id, lane, created_at);
CREATE INDEX email_notices_by_age ON email_notices(created_at);

-- Lanes, and for digests accounts, that get no email until a time.
CREATE TABLE email_pauses (
  lane  TEXT PRIMARY KEY,
  until BIGINT NOT NULL
);
CREATE INDEX email_pauses_by_end ON email_pauses(until);
