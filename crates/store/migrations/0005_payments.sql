-- Payments: what was paid and what for, the books, challenges for wallets, and the sandbox's own ledger.

ALTER TABLE accounts ADD COLUMN permanent_since BIGINT;
ALTER TABLE accounts ADD COLUMN higher_limits_until BIGINT;
ALTER TABLE accounts ADD COLUMN custom_domain_until BIGINT;

-- The payment that made the page, and the wallet that can prove it paid.
ALTER TABLE sites ADD COLUMN payment_id TEXT;
ALTER TABLE sites ADD COLUMN wallet TEXT;
CREATE INDEX sites_by_wallet ON sites(wallet) WHERE wallet IS NOT NULL;

-- One payment: reserved before it is settled, kept for good unless it was refused. The key is what a chain runs only once.
CREATE TABLE payments (
  id             TEXT PRIMARY KEY,
  payment_key    TEXT NOT NULL UNIQUE,
  item           TEXT NOT NULL,
  protocol       TEXT NOT NULL,
  generation     BIGINT NOT NULL,
  network        TEXT NOT NULL,
  asset          TEXT NOT NULL,
  payer          TEXT NOT NULL,
  pay_to         TEXT NOT NULL,
  amount         BIGINT NOT NULL,
  -- Whether the payer's own key signed.
  payer_is_eoa   BIGINT NOT NULL,
  sandbox        BIGINT NOT NULL,
  -- Hash of what was asked for: the same payment buys nothing else.
  request_hash   BYTEA NOT NULL,
  -- Keyed hash of the network it came from.
  client         TEXT NOT NULL,
  -- What the payer calls the request, hashed: an Idempotency-Key, a payment identifier, or one after the other.
  once_hash      BYTEA,
  state          TEXT NOT NULL,
  -- The bytes that the facilitator is asked with; gone when the payment is decided.
  ask            TEXT,
  fee_payer      TEXT,
  -- Everything that will be made, sealed; gone when it is no longer shown again.
  draft          BYTEA,
  -- The content that waits for the settlement; the page takes it over.
  bundle_id      TEXT,
  site_id        TEXT,
  account_id     TEXT,
  -- "transaction" is a word of SQL.
  tx_hash        TEXT,
  reason         TEXT,
  attempts       BIGINT NOT NULL,
  -- Whoever works on it has until then.
  held_until     BIGINT NOT NULL,
  valid_until    BIGINT NOT NULL,
  created_at     BIGINT NOT NULL,
  updated_at     BIGINT NOT NULL,
  fulfilled_at   BIGINT,
  delivered_at   BIGINT
);
CREATE INDEX payments_open ON payments(held_until) WHERE state IN ('verified', 'settling', 'settled', 'unknown');
CREATE INDEX payments_by_time ON payments(created_at, id);
CREATE INDEX payments_with_draft ON payments(fulfilled_at) WHERE draft IS NOT NULL AND fulfilled_at IS NOT NULL;
CREATE INDEX payments_refused ON payments(valid_until) WHERE state = 'refused';

-- The books: double entry, only ever added to. Debits are positive, credits negative; each transaction sums to zero.
CREATE TABLE ledger_accounts (
  id      TEXT PRIMARY KEY,
  unit    TEXT NOT NULL,
  kind    TEXT NOT NULL,
  -- The sum of its entries. Nobody spends more than they have.
  balance BIGINT NOT NULL CHECK (kind <> 'liability' OR balance <= 0)
);
CREATE TABLE ledger_txns (
  id          TEXT PRIMARY KEY,
  idem_key    TEXT NOT NULL UNIQUE,
  -- Hash of its entries: the same key with others is a mistake.
  fingerprint BYTEA NOT NULL,
  kind        TEXT NOT NULL,
  payment_id  TEXT,
  note        TEXT,
  created_at  BIGINT NOT NULL
);
CREATE INDEX ledger_txns_by_time ON ledger_txns(created_at, id);
CREATE TABLE ledger_entries (
  txn_id     TEXT NOT NULL REFERENCES ledger_txns(id),
  position   BIGINT NOT NULL,
  account_id TEXT NOT NULL REFERENCES ledger_accounts(id),
  amount     BIGINT NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (txn_id, position)
);
CREATE INDEX ledger_entries_by_account ON ledger_entries(account_id);

CREATE TABLE wallet_challenges (
  -- SHA-256 of the challenge.
  challenge_hash BYTEA PRIMARY KEY,
  wallet         TEXT NOT NULL,
  message        TEXT NOT NULL,
  expires_at     BIGINT NOT NULL,
  used_at        BIGINT
);
CREATE INDEX wallet_challenges_by_end ON wallet_challenges(expires_at);

-- What the sandbox settled: each key once, for good.
CREATE TABLE sandbox_transfers (
  payment_key TEXT PRIMARY KEY,
  network     TEXT NOT NULL,
  asset       TEXT NOT NULL,
  sender      TEXT NOT NULL,
  recipient   TEXT NOT NULL,
  amount      BIGINT NOT NULL,
  tx_hash     TEXT NOT NULL,
  created_at  BIGINT NOT NULL
);
