-- People: how they sign in, what they let programs do in their name, and what operators did.

-- An open sign-in: one for each browser that asked, found by what its cookie or the link in the letter proves.
CREATE TABLE sign_ins (
  visit_hash BYTEA PRIMARY KEY,
  link_hash  BYTEA NOT NULL UNIQUE,
  email      TEXT NOT NULL,
  -- Bound to the address and the visit. For whoever may not have an account, a proof that no code gives.
  code_mac   BYTEA NOT NULL,
  tries_left BIGINT NOT NULL,
  -- Where the person was going: a path on this host.
  return_to  TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX sign_ins_by_expiry ON sign_ins(expires_at);

CREATE TABLE sessions (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts(id),
  secret_hash  BYTEA NOT NULL UNIQUE,
  -- What the browser calls itself, in a few words.
  device       TEXT NOT NULL,
  -- code, link or passkey
  method       TEXT NOT NULL,
  -- When the person last proved who they are.
  proved_at    BIGINT NOT NULL,
  created_at   BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL
);
CREATE INDEX sessions_by_account ON sessions(account_id, last_seen_at);
CREATE INDEX sessions_by_expiry ON sessions(expires_at);

CREATE TABLE passkeys (
  id            TEXT PRIMARY KEY,
  account_id    TEXT NOT NULL REFERENCES accounts(id),
  credential_id BYTEA NOT NULL UNIQUE,
  -- What the device calls the account: random, and the same for all passkeys of one.
  user_handle   BYTEA NOT NULL,
  -- The public key and its counter, as the library writes them.
  credential    TEXT NOT NULL,
  name          TEXT NOT NULL,
  created_at    BIGINT NOT NULL,
  last_used_at  BIGINT
);
CREATE INDEX passkeys_by_account ON passkeys(account_id, created_at);

-- A passkey ceremony that waits for the browser's answer; it can be finished once.
CREATE TABLE passkey_ceremonies (
  visit_hash BYTEA PRIMARY KEY,
  account_id TEXT,
  state      TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_ceremonies_by_expiry ON passkey_ceremonies(expires_at);

-- A program that may ask people for access. The id of one that describes itself at an address is that address.
CREATE TABLE oauth_clients (
  id            TEXT PRIMARY KEY,
  -- Null for public clients.
  secret_hash   BYTEA,
  name          TEXT NOT NULL,
  uri           TEXT,
  -- One on each line.
  redirect_uris TEXT NOT NULL,
  auth_method   TEXT NOT NULL,
  scopes        TEXT NOT NULL,
  device_codes  BIGINT NOT NULL,
  created_at    BIGINT NOT NULL,
  -- When a person last let it in.
  last_used_at  BIGINT
);
CREATE INDEX oauth_clients_unused ON oauth_clients(created_at) WHERE last_used_at IS NULL;

-- A consent page that waits for an answer; it can be answered once, in the session it was shown to.
CREATE TABLE oauth_requests (
  id_hash      BYTEA PRIMARY KEY,
  session_id   TEXT NOT NULL,
  client_id    TEXT NOT NULL,
  client_name  TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  resource     TEXT NOT NULL,
  challenge    TEXT NOT NULL,
  state        TEXT,
  expires_at   BIGINT NOT NULL
);
CREATE INDEX oauth_requests_by_expiry ON oauth_requests(expires_at);
CREATE INDEX oauth_requests_by_session ON oauth_requests(session_id, expires_at);

-- What a person allowed a program. Everything issued from it dies with it.
CREATE TABLE oauth_grants (
  id           TEXT PRIMARY KEY,
  client_id    TEXT NOT NULL,
  client_name  TEXT NOT NULL,
  account_id   TEXT NOT NULL REFERENCES accounts(id),
  -- Separated by spaces.
  scopes       TEXT NOT NULL,
  resource     TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  last_used_at BIGINT,
  -- No refresh reaches beyond this.
  ends_at      BIGINT NOT NULL,
  revoked_at   BIGINT
);
CREATE INDEX oauth_grants_by_account ON oauth_grants(account_id, created_at);
CREATE INDEX oauth_grants_by_end ON oauth_grants(ends_at);
CREATE INDEX oauth_grants_by_client ON oauth_grants(client_id);
CREATE INDEX oauth_grants_revoked ON oauth_grants(revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX oauth_grants_unused ON oauth_grants(created_at) WHERE last_used_at IS NULL;

CREATE TABLE oauth_codes (
  code_hash    BYTEA PRIMARY KEY,
  grant_id     TEXT NOT NULL REFERENCES oauth_grants(id),
  redirect_uri TEXT NOT NULL,
  challenge    TEXT NOT NULL,
  expires_at   BIGINT NOT NULL,
  used_at      BIGINT
);
CREATE INDEX oauth_codes_by_grant ON oauth_codes(grant_id);
CREATE INDEX oauth_codes_by_expiry ON oauth_codes(expires_at);

CREATE TABLE oauth_tokens (
  token_hash  BYTEA PRIMARY KEY,
  grant_id    TEXT NOT NULL REFERENCES oauth_grants(id),
  -- access or refresh
  kind        TEXT NOT NULL,
  scopes      TEXT NOT NULL,
  issued_at   BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL,
  -- When a refresh token was traded in (seen again after that, it was stolen), or an access token first used.
  used_at     BIGINT,
  -- The refresh token it was traded for.
  parent_hash BYTEA,
  -- When it was given up for lost and others were given instead. Shown after that, it was stolen.
  replaced_at BIGINT
);
CREATE INDEX oauth_tokens_by_parent ON oauth_tokens(parent_hash) WHERE parent_hash IS NOT NULL;
CREATE INDEX oauth_tokens_by_grant ON oauth_tokens(grant_id);
CREATE INDEX oauth_tokens_by_expiry ON oauth_tokens(expires_at);

-- A key that a program made for itself goes when its grant goes.
ALTER TABLE api_keys ADD COLUMN grant_id TEXT;
-- What the token allowed with which the key was made; null: everything.
ALTER TABLE api_keys ADD COLUMN scopes TEXT;
CREATE INDEX api_keys_by_grant ON api_keys(grant_id) WHERE grant_id IS NOT NULL;

-- A device that waits for a person to type its code elsewhere.
CREATE TABLE device_logins (
  device_hash  BYTEA PRIMARY KEY,
  user_code    TEXT NOT NULL UNIQUE,
  client_id    TEXT NOT NULL,
  client_name  TEXT NOT NULL,
  -- What it will get: tokens or key
  kind         TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  resource     TEXT NOT NULL,
  -- pending, allowed, denied or done
  state        TEXT NOT NULL,
  account_id   TEXT,
  poll_seconds BIGINT NOT NULL,
  polled_at    BIGINT,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL
);
CREATE INDEX device_logins_by_expiry ON device_logins(expires_at);

-- What operators did; rows are only ever added.
CREATE TABLE audit (
  id      TEXT PRIMARY KEY,
  at      BIGINT NOT NULL,
  actor   TEXT NOT NULL,
  act     TEXT NOT NULL,
  subject TEXT NOT NULL,
  reason  TEXT
);
CREATE INDEX audit_by_time ON audit(at, id);

-- Reports that an operator has dealt with stay, as long as their page does.
ALTER TABLE reports ADD COLUMN closed_at BIGINT;
CREATE INDEX reports_open ON reports(created_at, id) WHERE closed_at IS NULL;

CREATE INDEX accounts_by_age ON accounts(created_at, id);

-- What the service holds, counted now and then in small steps: nobody waits for a count of all pages.
CREATE TABLE figures (
  name  TEXT PRIMARY KEY,
  value BIGINT NOT NULL,
  at    BIGINT NOT NULL
);
