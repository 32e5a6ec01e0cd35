//! An owner's ticket to a page of their own: made by the dashboard, good once and for a minute, and exchanged on the page's
//! own host for a pass (`gate_pass::Kind::Owner`). Also how it travels in an address, and how it is taken out again.

use crate::share_token::{self, InQuery};
use crate::site;

/// What every ticket begins with; the 22 characters after it are random, and worth almost 132 bits.
pub const PREFIX: &str = "own_";
/// The parameter that carries it, with what its value begins with.
const SIGN: &str = "owner=own_";
const PARAMETER: &str = "owner=";

/// How long it is good, in seconds: long enough for a redirect on a slow line.
pub const LIFE: i64 = 60;
/// As many may be open for one account.
pub const MOST: i64 = 20;

/// Whether the text has the shape of a ticket.
pub fn is_ticket(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(site::is_token)
}

/// A query that carries a ticket, and what is left without it.
pub fn in_query(query: Option<&str>) -> Option<InQuery<'_>> {
    share_token::secret_in_query(query.filter(|query| query.contains(SIGN))?, PARAMETER, is_ticket)
}

/// The address with the ticket in it.
pub fn address(page: &str, ticket: &str) -> String {
    format!("{page}?{PARAMETER}{ticket}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Minter;

    #[test]
    fn a_ticket_leaves_the_query_and_the_rest_stays() {
        let ticket = Minter::seeded(1).owner_ticket();
        let sent = address("/p/x/", &ticket);
        let found = in_query(sent.split_once('?').map(|(_, query)| query)).unwrap();
        assert_eq!((found.token, found.rest), (ticket.as_str(), None));
        let query = format!("a=1&owner={ticket}&owner=me&t=2");
        assert_eq!(in_query(Some(&query)).unwrap().rest.as_deref(), Some("a=1&owner=me&t=2"));
    }

    #[test]
    fn what_is_no_ticket_belongs_to_the_page() {
        for query in [
            "",
            "owner=",
            "owner=me",
            "owner=own_short",
            "owner=shr_AAAAAAAAAAAAAAAAAAAAAA",
            "t=own_AAAAAAAAAAAAAAAAAAAAAA",
        ] {
            assert_eq!(in_query(Some(query)), None, "{query}");
        }
        assert_eq!(in_query(None), None);
    }
}
