// Reads, compacts and examines the SQLite file of a server, with Python's own library: Node has none in the versions we support.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const RUN = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
row = db.execute(sys.argv[2]).fetchone()
print(row[0] if row else '')
`;

/** The first column of the first row. */
export async function query(server, sql) {
  const file = path.join(server.dataDir, 'dropleaf.db');
  return (await promisify(execFile)('python3', ['-c', RUN, file, sql])).stdout.trim();
}

const UNFILLED = `
import sqlite3, sys
db = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True)
for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'leases' ORDER BY name").fetchall():
    for column in db.execute(f'PRAGMA table_info({table})').fetchall():
        if not db.execute(f'SELECT COUNT({column[1]}) FROM {table}').fetchone()[0]:
            print(f'{table}.{column[1]}')
`;

/** The columns that are null in every row, all of a table that has none. A backup has no leases. */
export async function unfilled(file) {
  const { stdout } = await promisify(execFile)('python3', ['-c', UNFILLED, file]);
  return stdout.split('\n').filter(Boolean);
}

/** Removes what deleted rows left in the file. */
export const vacuum = (server) => query(server, 'VACUUM');
