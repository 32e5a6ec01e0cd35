//! How an owner narrows the list of their pages.

use crate::feedback::words;

words!(Filter:
    All = "all", Public = "public", Unlisted = "unlisted", Protected = "protected", Burn = "burn",
    Expiring = "expiring", Ended = "ended");
