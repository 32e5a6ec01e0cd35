-- Whatever a program or a person at a prompt tries: what was booked stays booked.
CREATE TRIGGER ledger_txns_are_not_changed BEFORE UPDATE ON ledger_txns
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
CREATE TRIGGER ledger_txns_are_not_deleted BEFORE DELETE ON ledger_txns
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
CREATE TRIGGER ledger_entries_are_not_changed BEFORE UPDATE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
CREATE TRIGGER ledger_entries_are_not_deleted BEFORE DELETE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
