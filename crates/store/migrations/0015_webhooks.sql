-- Webhooks: endpoints of owners, and the events for them, which are written in the transaction of the change they tell of.

CREATE TABLE webhook_endpoints (
  id              TEXT PRIMARY KEY,
  account_id      TEXT NOT NULL,
  -- The OAuth grant of the program that created it.
  grant_id        TEXT,
  -- Only events of this page; null for all pages.
  site_id         TEXT,
  -- url: the server sends to it. listen: a program fetches.
  kind            TEXT NOT NULL,
  url             TEXT,
  description     TEXT NOT NULL,
  -- '*', or the names of event types, each between commas.
  events          TEXT NOT NULL,
  -- Signing keys, encrypted. The previous one signs too until its end.
  secret          BYTEA NOT NULL,
  previous_secret BYTEA,
  previous_until  BIGINT,
  state           TEXT NOT NULL,
  -- The last event that was written for it, and its position.
  last_event      TEXT NOT NULL,
  last_seq        BIGINT NOT NULL,
  -- Deliveries that wait, and events that were left out because too many waited.
  waiting         BIGINT NOT NULL,
  missed          BIGINT NOT NULL,
  failing_since   BIGINT,
  last_success_at BIGINT,
  created_at      BIGINT NOT NULL,
  -- When the endpoint of a listening program ends.
  expires_at      BIGINT
);
CREATE INDEX webhook_endpoints_by_account ON webhook_endpoints(account_id, created_at);
CREATE INDEX webhook_endpoints_enabled ON webhook_endpoints(account_id) WHERE state = 'enabled';
CREATE INDEX webhook_endpoints_by_site ON webhook_endpoints(site_id) WHERE site_id IS NOT NULL;
CREATE INDEX webhook_endpoints_by_grant ON webhook_endpoints(grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX webhook_endpoints_by_end ON webhook_endpoints(expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE webhook_deliveries (
  endpoint_id     TEXT NOT NULL,
  -- The id of the message; the same for every endpoint and every attempt.
  id              TEXT NOT NULL,
  account_id      TEXT NOT NULL,
  site_id         TEXT,
  -- Deliveries of one lane are sent one after another: the site, or for other events the event itself.
  lane            TEXT NOT NULL,
  seq             BIGINT NOT NULL,
  event_type      TEXT NOT NULL,
  body            TEXT NOT NULL,
  state           TEXT NOT NULL,
  attempts        BIGINT NOT NULL,
  -- 1 while a node sends it. If that node dies, it is sent again at next_attempt_at.
  claimed         BIGINT NOT NULL,
  -- The largest number while an earlier delivery of its lane waits.
  next_attempt_at BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  last_attempt_at BIGINT,
  status          BIGINT,
  error           TEXT,
  PRIMARY KEY (endpoint_id, id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries(next_attempt_at) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_lanes ON webhook_deliveries(endpoint_id, lane, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries(endpoint_id, seq);
CREATE INDEX webhook_deliveries_by_account ON webhook_deliveries(account_id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries(created_at) WHERE state <> 'waiting';

-- The expiry that its owner was warned of; a later change of the expiry is announced again.
ALTER TABLE sites ADD COLUMN expiry_announced BIGINT;
-- Finds the pages that expire soon of one account.
CREATE INDEX sites_expiring ON sites(account_id, expires_at)
  WHERE state = 'live' AND expires_at IS NOT NULL AND account_id IS NOT NULL;
