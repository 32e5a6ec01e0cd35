-- Custom domains of pages, and the certificates that the server obtains for its names.

CREATE TABLE custom_domains (
  -- Lower-case ASCII (IDNA). Several accounts may try to prove the same name; only one can have it verified.
  hostname        TEXT NOT NULL,
  account_id      TEXT NOT NULL,
  site_id         TEXT NOT NULL,
  status          TEXT NOT NULL,
  -- The URL of the site shows this name while it is verified.
  is_primary      BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  verified_at     BIGINT,
  last_checked_at BIGINT,
  last_error      TEXT,
  -- The first of the failing checks since the last success.
  failing_since   BIGINT,
  -- When the next automatic check is due; the largest number if none is.
  next_check_at   BIGINT NOT NULL,
  -- An email to the owner that was not sent yet: failing or lapsed.
  notice          TEXT,
  PRIMARY KEY (hostname, account_id)
);
CREATE UNIQUE INDEX custom_domains_verified ON custom_domains(hostname) WHERE status = 'verified';
CREATE INDEX custom_domains_by_account ON custom_domains(account_id, created_at);
CREATE INDEX custom_domains_by_site ON custom_domains(site_id);
CREATE INDEX custom_domains_due ON custom_domains(next_check_at);
CREATE INDEX custom_domains_notices ON custom_domains(hostname) WHERE notice IS NOT NULL;

-- The verified custom domain that the URL of the site shows.
ALTER TABLE sites ADD COLUMN primary_domain TEXT;

-- One certificate for each name: a host name, or a wildcard such as *.example.com.
CREATE TABLE certificates (
  name            TEXT PRIMARY KEY,
  -- The certificate chain and its key in PEM, encrypted. Null until the first one is issued.
  sealed          BYTEA,
  -- Changes with every new certificate, so that nodes notice.
  serial          TEXT,
  not_before      BIGINT,
  not_after       BIGINT,
  renew_at        BIGINT,
  -- When the authority is asked again when to renew (ARI).
  window_check_at BIGINT,
  -- Failed orders since the last success, and when the next one may be placed.
  failures        BIGINT NOT NULL,
  next_attempt_at BIGINT NOT NULL,
  -- Why the last order failed: for operators, and for the owner of the name.
  last_error      TEXT,
  owner_error     TEXT,
  -- When operators were last warned that it expires.
  warned_at       BIGINT,
  -- Since when the name needs no certificate any more; deleted some days later.
  unused_since  BIGINT,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL
);
CREATE INDEX certificates_by_end ON certificates(not_after);

-- The account at each certificate authority, encrypted.
CREATE TABLE acme_accounts (
  directory_url TEXT PRIMARY KEY,
  sealed        BYTEA NOT NULL,
  created_at    BIGINT NOT NULL
);

-- Challenges that a certificate authority may ask any node about.
CREATE TABLE acme_challenges (
  -- http-01: the token. tls-alpn-01: the host name.
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  sealed     BYTEA NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (kind, name)
);
CREATE INDEX acme_challenges_by_end ON acme_challenges(expires_at);

-- Counts changes, so that other nodes can tell with one read whether what they hold in memory is current. No row means zero:
-- a new database must be empty for `dropleaf restore`.
CREATE TABLE revisions (
  name  TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
