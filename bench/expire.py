"""Makes sites of a dropleaf SQLite store expire: expire.py DATABASE COUNT; or says how many are due: expire.py DATABASE"""

import sqlite3
import sys
import time

DUE = "state = 'live' AND expires_at < ?"


def main(database, count=None):
    db = sqlite3.connect(database, timeout=60)
    if count is None:
        print(db.execute(f"SELECT COUNT(*) FROM sites WHERE {DUE}", (int(time.time()),)).fetchone()[0])
        return
    with db:
        db.execute("UPDATE sites SET expires_at = 1 WHERE id IN (SELECT id FROM sites WHERE state = 'live' LIMIT ?)", (int(count),))


main(*sys.argv[1:])
