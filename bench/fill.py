"""Fills a dropleaf SQLite store with copies of its sites: fill.py DATABASE TOTAL TOKENS IDS ALL

Every site already there serves as a model; a copy gets an id, a token, a host label and times of its own and points at
its model's bundle, so that it can be viewed, updated and listed. As many blobs and bundles that no site shows are added,
so that those tables are large as well. A sample of tokens (as paths) and ids is written to two files, every token to a third.
"""

import random
import secrets
import sqlite3
import sys

SAMPLE = 20_000
CHUNK = 20_000


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def rows(db, table, where="1=1"):
    names = columns(db, table)
    return [dict(zip(names, row)) for row in db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where}")]


def insert(db, table, records):
    names = columns(db, table)
    marks = ", ".join("?" * len(names))
    db.executemany(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})",
        ([record[name] for name in names] for record in records),
    )


def like(model, rng):
    """A random text of the same length and alphabet class as the model; separators stay where they are."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567" if model.islower() or not model.isalnum() else (
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    )
    drawn = iter(rng.choices(alphabet, k=len(model)))
    return "".join(c if c in "-_" else next(drawn) for c in model)


def main(database, total, token_file, id_file, all_file):
    db = sqlite3.connect(database, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=OFF", "cache_size=-1000000", "foreign_keys=OFF", "temp_store=MEMORY"):
        db.execute(f"PRAGMA {pragma}")
    models = rows(db, "sites", "state = 'live'")
    versions = {(row["site_id"], row["version"]): row for row in rows(db, "site_versions")}
    file_of = {row["bundle_id"]: row for row in rows(db, "bundle_files")}
    bundle_of = {row["id"]: row for row in rows(db, "bundles")}
    blob = rows(db, "blobs", "body IS NOT NULL")[0]
    rng = random.Random(1)
    now = models[0]["created_at"]
    prefix = models[0]["id"].partition("_")[0] + "_"
    made = 0
    missing = total - len(models)
    while made < missing:
        count = min(CHUNK, missing - made)
        sites, site_versions, bundles, files, blobs = [], [], [], [], []
        for n in range(count):
            model = models[(made + n) % len(models)]
            at = now - rng.randrange(30 * 86_400)
            site = dict(model)
            site["id"] = prefix + like(model["id"][len(prefix):], rng)
            site["token"] = secrets.token_urlsafe(16)
            site["host_label"] = like(model["host_label"], rng)
            site["created_at"] = at
            site["updated_at"] = at
            sites.append(site)
            version = dict(versions[(model["id"], model["version"])])
            version.update(site_id=site["id"], created_at=at)
            site_versions.append(version)
            body = rng.randbytes(120)
            blob_hash, bundle_id = rng.randbytes(32), "bun_" + like(model["bundle_id"][4:], rng)
            blobs.append({**blob, "hash": blob_hash, "body": body, "size_bytes": 120, "stored_bytes": 120})
            bundles.append({**bundle_of[model["bundle_id"]], "id": bundle_id})
            files.append({**file_of[model["bundle_id"]], "bundle_id": bundle_id, "blob_hash": blob_hash})
        db.execute("BEGIN")
        for table, records in (("blobs", blobs), ("bundles", bundles), ("bundle_files", files), ("sites", sites), ("site_versions", site_versions)):
            insert(db, table, records)
        db.execute("COMMIT")
        made += count
    db.execute("UPDATE accounts SET active_pages = (SELECT count(*) FROM sites WHERE account_id = accounts.id AND state = 'live')")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sample = db.execute("SELECT token, id FROM sites WHERE state = 'live' ORDER BY random() LIMIT ?", (SAMPLE,)).fetchall()
    with open(token_file, "w", encoding="ascii") as out:
        out.writelines(f"/p/{token}/\n" for token, _ in sample)
    with open(id_file, "w", encoding="ascii") as out:
        out.writelines(f"{site_id}\n" for _, site_id in sample)
    with open(all_file, "w", encoding="ascii") as out:
        out.writelines(f"/p/{token}/\n" for (token,) in db.execute("SELECT token FROM sites WHERE state = 'live'"))
    db.close()


main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
