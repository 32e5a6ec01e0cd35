//! What a payment will make, decided when it is reserved and kept sealed until it is made and told.
