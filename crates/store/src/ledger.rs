//! Rows of the books: accounts with their balances, transactions and entries, only ever added to.
