//! Custom domains: names of their owners at which pages are served.

pub(crate) mod served;
