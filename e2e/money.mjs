// Payments and books written beside a running server, for pages that show them.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const RUN = 'import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], timeout=10)\ndb.executescript(sys.argv[2])\ndb.close()';
const PAYER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const PAY_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const BASE = 'eip155:8453';

const now = () => Math.floor(Date.now() / 1000);

function payment({ id, item, state, amount, network = BASE, transaction = null, reason = null, ago, valid = 0 }) {
  const text = (value) => (value === null ? 'NULL' : `'${value}'`);
  const at = now() - ago;
  return `INSERT INTO payments (id, payment_key, item, protocol, generation, network, asset, payer, pay_to, amount, payer_is_eoa, sandbox,
    request_hash, client, state, tx_hash, reason, attempts, held_until, valid_until, created_at, updated_at, fulfilled_at)
    VALUES ('${id}', 'key of ${id}', '${item}', 'x402', 2, '${network}', 'USDC', '${PAYER}', '${PAY_TO}', ${amount}, 1, 0,
    zeroblob(32), '', '${state}', ${text(transaction)}, ${text(reason)}, 3, ${now() + 3600}, ${at + valid}, ${at}, ${at},
    ${state === 'fulfilled' ? at : 'NULL'});`;
}

function income({ id, item, amount, network = BASE, ago }) {
  const add = (book, kind, sum) => `INSERT INTO ledger_accounts VALUES ('${book}', 'usdc6', '${kind}', ${sum})
    ON CONFLICT (id) DO UPDATE SET balance = balance + excluded.balance;`;
  const [asset, revenue] = [`asset:x402:${network}`, `revenue:${item}:usdc6`];
  return `INSERT INTO ledger_txns VALUES ('txn ${id}', 'x402:key of ${id}', zeroblob(32), 'income', '${id}', NULL, ${now() - ago});
    ${add(asset, 'asset', amount)} ${add(revenue, 'revenue', -amount)}
    INSERT INTO ledger_entries VALUES ('txn ${id}', 0, '${asset}', ${amount}), ('txn ${id}', 1, '${revenue}', ${-amount});`;
}

/** Runs SQL on the database of a running server. */
export async function runSql(server, sql) {
  const file = path.join(server.dataDir, 'dropleaf.db');
  await promisify(execFile)('python3', ['-c', RUN, file, `BEGIN; ${sql} COMMIT;`]);
}

/** Writes payments; those that are fulfilled are booked too. */
export async function writePayments(server, payments) {
  await runSql(server, payments.map((one) => payment(one) + (one.state === 'fulfilled' ? income(one) : '')).join('\n'));
}
