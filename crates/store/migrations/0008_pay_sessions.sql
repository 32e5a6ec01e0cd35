-- Payments by card: pay sessions, events of the card processor, credit, refunds and disputes.

CREATE TABLE pay_sessions (
  id           TEXT PRIMARY KEY,
  -- SHA-256 of the code that its program polls with, and of the slug of its pay page.
  code_hash    BYTEA NOT NULL UNIQUE,
  slug_hash    BYTEA NOT NULL UNIQUE,
  feature      TEXT NOT NULL,
  amount_minor BIGINT NOT NULL,
  -- The price when it was created; the rest of the amount becomes credit.
  price_minor  BIGINT NOT NULL,
  sandbox      BIGINT NOT NULL,
  account_id   TEXT,
  state        TEXT NOT NULL,
  -- The payment form at the card processor.
  checkout_id  TEXT UNIQUE,
  payment_id   TEXT,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  -- When the processor was last asked about it.
  checked_at   BIGINT NOT NULL
);
CREATE INDEX pay_sessions_open ON pay_sessions(checked_at)
  WHERE checkout_id IS NOT NULL AND state IN ('pending', 'processing');
CREATE INDEX pay_sessions_by_end ON pay_sessions(expires_at);

-- Events that concern a payment that was not recorded yet, and marks (without an intent) of what has happened to disputes. Other
-- events are not stored: their effects are idempotent.
CREATE TABLE processor_events (
  id          TEXT PRIMARY KEY,
  -- The payment intent that the event waits for.
  intent      TEXT,
  body        TEXT,
  received_at BIGINT NOT NULL
);
CREATE INDEX processor_events_by_intent ON processor_events(intent) WHERE intent IS NOT NULL;
CREATE INDEX processor_events_by_time ON processor_events(received_at);

-- Prepaid with sandbox money, which never becomes real.
ALTER TABLE accounts ADD COLUMN sandbox_balance_minor BIGINT NOT NULL DEFAULT 0;

-- The part of the amount that became prepaid balance, and what went back to the cardholder.
ALTER TABLE payments ADD COLUMN credit_minor BIGINT NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN refunded_minor BIGINT NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN disputed_minor BIGINT NOT NULL DEFAULT 0;
CREATE INDEX payments_by_transaction ON payments(tx_hash) WHERE tx_hash IS NOT NULL;
