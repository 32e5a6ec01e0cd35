-- Whatever a program or a person at a prompt tries: what was booked stays booked.
CREATE TRIGGER ledger_txns_are_not_changed BEFORE UPDATE ON ledger_txns
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
CREATE TRIGGER ledger_txns_are_not_deleted BEFORE DELETE ON ledger_txns
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
-- REPLACE deletes what is in its way without asking the trigger above.
CREATE TRIGGER ledger_txns_are_not_replaced BEFORE INSERT ON ledger_txns
WHEN EXISTS (SELECT 1 FROM ledger_txns WHERE id = NEW.id OR idem_key = NEW.idem_key)
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
CREATE TRIGGER ledger_entries_are_not_replaced BEFORE INSERT ON ledger_entries
WHEN EXISTS (SELECT 1 FROM ledger_entries WHERE txn_id = NEW.txn_id AND position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
CREATE TRIGGER ledger_entries_are_not_changed BEFORE UPDATE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
CREATE TRIGGER ledger_entries_are_not_deleted BEFORE DELETE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
