//! Rows of `wallet_challenges`: what a wallet is asked to sign, good for one request.
