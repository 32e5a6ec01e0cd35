-- Who or what made a version: the kind of credential, and the ID and the name of the key or program at that time. Null for
-- versions made before this migration, or by an older program during an upgrade.
ALTER TABLE site_versions ADD COLUMN maker_kind TEXT;
ALTER TABLE site_versions ADD COLUMN maker_id TEXT;
ALTER TABLE site_versions ADD COLUMN maker_name TEXT;
