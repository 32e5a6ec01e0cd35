//! Custom domains: host names of owners that show one of their sites. Spec §1.6.

mod addresses;
mod check;
mod commit;
mod dns;
mod due;
mod manage;
mod notices;
pub(crate) mod served;
mod verify;
mod view;

pub use dns::{DnsFailure, DnsLookup};
pub use manage::{DomainChange, NewDomain};
pub use view::DomainView;
