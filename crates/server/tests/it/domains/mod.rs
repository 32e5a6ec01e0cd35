//! Tests custom domains: pages at names of their owners.

mod served_gates;
mod served_hosts;
mod served_names;
mod served_nodes;
mod served_pages;
mod tls_allow;
