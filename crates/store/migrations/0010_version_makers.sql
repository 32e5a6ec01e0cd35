-- Who or what made a version: the kind of credential, and the ID and the name of the key or program at that time. Null for
-- versions made before this migration, or by an older program during an upgrade.
ALTER TABLE site_versions ADD COLUMN maker_kind TEXT;
ALTER TABLE site_versions ADD COLUMN maker_id TEXT;
ALTER TABLE site_versions ADD COLUMN maker_name TEXT;

-- The first version whose text viewers may compare with later ones; null if the owner does not show changes.
ALTER TABLE sites ADD COLUMN changes_since BIGINT;
