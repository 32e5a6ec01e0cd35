-- Which response took the key of a payment: after an uncertain commit its sender can tell whether it was its own.
ALTER TABLE payments ADD COLUMN delivered_by TEXT;
