//! Owner tickets: created by the dashboard, valid once and for a minute, and exchanged on the page's own host for an owner's pass
//! (`gate_pass::GatePassKind::Owner`). Also adds a ticket to a URL and removes it from a query.

use crate::share_token::{self, QuerySecret};
use crate::site;

/// The prefix of every ticket; it is followed by 22 random characters, almost 132 bits.
pub const PREFIX: &str = "own_";
/// The query parameter with the start of its value.
const SIGN: &str = "owner=own_";
const PARAMETER: &str = "owner=";

/// How long a ticket is valid, in seconds: long enough for a redirect on a slow connection.
pub const LIFE: i64 = 60;
/// The maximum number of open tickets per account.
pub const MOST: i64 = 20;

/// Whether the text has the form of a ticket.
pub fn is_ticket(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(site::is_token)
}

/// The ticket in a query, and the query without it.
pub fn in_query(query: Option<&str>) -> Option<QuerySecret<'_>> {
    share_token::secret_in_query(query.filter(|query| query.contains(SIGN))?, PARAMETER, is_ticket)
}

/// The page's URL with the ticket.
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
