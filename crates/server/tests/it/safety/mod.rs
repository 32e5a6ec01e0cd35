//! Tests automatic checks of published content: phishing, personal data, executable files and external checkers.

mod brand_in_address;
mod check;
mod executables;
mod hostile_archives;
mod outside_check;
mod phishing_again;
mod phishing_endpoints;
mod pii_check;
