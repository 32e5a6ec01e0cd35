//! The filters for an owner's list of pages.

use crate::feedback::string_enum;

string_enum!(Filter:
    All = "all", Public = "public", Unlisted = "unlisted", Protected = "protected", Burn = "burn",
    Expiring = "expiring", Ended = "ended");
