"""Writes SQL that creates a store of an old schema on PostgreSQL: load_rows.py DATABASE MIGRATIONS | psql URL

DATABASE is the SQLite file of a store, MIGRATIONS the folder of the migrations. Only those that the file has are applied, so
that the result is what the program of that time left. It is one transaction.
"""

import pathlib
import re
import sqlite3
import sys

ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
BOOKKEEPING = (
    "CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL);"
)


def field(value):
    """A value in the text format of COPY."""
    if value is None:
        return "\\N"
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    return str(value).translate(ESCAPES)


def migrations(folder, schema):
    """The texts of the migrations for PostgreSQL, in order."""
    for path in sorted(pathlib.Path(folder).glob("*.sql")):
        number = int(path.name.split("_")[0])
        if number <= schema and not path.name.endswith(".sqlite.sql"):
            # What both databases run comes before what only one runs.
            yield number, path.name.endswith(".postgres.sql"), path.read_text(encoding="utf-8")


def main(database, folder):
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    schema = db.execute("SELECT MAX(version) FROM schema_migrations").fetchone()[0]
    out = sys.stdout
    out.write(f"\\set ON_ERROR_STOP 1\nSET client_min_messages = warning;\nBEGIN;\n{BOOKKEEPING}\n")
    tables = ["schema_migrations"]
    for _, _, sql in sorted(migrations(folder, schema), key=lambda step: step[:2]):
        out.write(sql + "\n")
        tables += re.findall(r"^CREATE TABLE (\w+)", sql, re.MULTILINE)
    for table in tables:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        out.write(f"COPY {table} ({', '.join(columns)}) FROM STDIN;\n")
        for row in db.execute(f"SELECT {', '.join(columns)} FROM {table}"):
            out.write("\t".join(map(field, row)) + "\n")
        out.write("\\.\n")
    out.write("COMMIT;\n")


main(sys.argv[1], sys.argv[2])
