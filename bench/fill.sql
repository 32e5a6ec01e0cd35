-- Fills a dropleaf database on PostgreSQL with copies of its pages: psql -v from=1 -v to=10000 -v body=120 -f fill.sql URL
--
-- Like fill.py: a copy has its own names and times and shows the bundle of its model; as many bodies and bundles that no page
-- shows are added, so that those tables are large as well. The models are the live pages at the first call.
SET session_replication_role = replica;
SET synchronous_commit = off;
CREATE TABLE IF NOT EXISTS bench_models AS
  SELECT row_number() OVER (ORDER BY id) - 1 AS nr, id, COUNT(*) OVER () AS models FROM sites WHERE state = 'live';

-- Copies rows with some columns replaced, whatever columns the table has.
CREATE OR REPLACE FUNCTION bench_copy(target TEXT, source TEXT, replaced JSONB, first BIGINT, last BIGINT) RETURNS VOID AS $$
DECLARE names TEXT; fields TEXT;
BEGIN
  SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position),
         string_agg(COALESCE(replaced ->> column_name, 'row.' || quote_ident(column_name)), ', ' ORDER BY ordinal_position)
    INTO names, fields FROM information_schema.columns WHERE table_name = target AND table_schema = current_schema();
  EXECUTE format('INSERT INTO %I (%s) SELECT %s FROM generate_series(%s, %s) AS n
                  JOIN bench_models AS model ON model.nr = n %% model.models JOIN sites AS page ON page.id = model.id %s',
                 target, names, fields, first, last, source);
END $$ LANGUAGE plpgsql;

SELECT bench_copy('sites', 'JOIN sites AS row ON row.id = model.id', jsonb_build_object(
    'id', $$'site_' || substr(md5('id' || n), 1, 20)$$,
    'token', $$substr(translate(encode(sha256(('token' || n)::bytea), 'base64'), '+/=', '-_x'), 1, 22)$$,
    'host_label', $$substr(md5('host' || n), 1, 26)$$,
    'created_at', 'row.created_at - n % 2592000', 'updated_at', 'row.updated_at - n % 2592000',
    'expires_at', 'row.updated_at + 2592000 + n % 2592000'), :from, :to);
SELECT bench_copy('site_versions', 'JOIN site_versions AS row ON row.site_id = model.id AND row.version = page.version',
    jsonb_build_object('site_id', $$'site_' || substr(md5('id' || n), 1, 20)$$), :from, :to);
SELECT bench_copy('bundles', 'JOIN bundles AS row ON row.id = page.bundle_id',
    jsonb_build_object('id', $$'bun_' || substr(md5('bundle' || n), 1, 20)$$), :from, :to);
SELECT bench_copy('bundle_files', 'JOIN bundle_files AS row ON row.bundle_id = page.bundle_id', jsonb_build_object(
    'bundle_id', $$'bun_' || substr(md5('bundle' || n), 1, 20)$$, 'blob_hash', $$sha256(('body' || n)::bytea)$$), :from, :to);
SELECT bench_copy('blobs', 'JOIN bundle_files AS file ON file.bundle_id = page.bundle_id JOIN blobs AS row ON row.hash = file.blob_hash',
    jsonb_build_object('hash', $$sha256(('body' || n)::bytea)$$, 'object_key', 'NULL',
    'body', format($$decode(repeat(md5('text' || n), %s), 'hex')$$, GREATEST(1, :body / 16))), :from, :to);
UPDATE accounts SET active_pages = (SELECT COUNT(*) FROM sites WHERE account_id = accounts.id AND state = 'live');
