-- Whatever a program or a person at a prompt tries: what was booked stays booked.
CREATE OR REPLACE FUNCTION refuse_change_of_books() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the books are only added to'; END $$;
CREATE TRIGGER ledger_txns_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_txns
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_books();
CREATE TRIGGER ledger_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_books();
