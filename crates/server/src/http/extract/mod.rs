//! Extractors: who calls and what the body holds. A handler that takes `Owner` cannot be reached without a credential.

mod budget;
mod caller;
mod fields;
mod form;
mod json_body;
mod json_length;
mod once;
mod pace;
mod spool;
mod ticket;
mod upload;

pub(super) use budget::{Budget, Share};
pub(super) use caller::{
    Appellant, Asker, KeyReader, Maker, Owner, Publisher, Reader, Remover, SiteWriter, bearer, bearer_text,
    client_ip, insufficient,
};
pub(super) use fields::Fields;
pub(super) use form::Form;
pub(super) use json_body::{JsonLimit, check_values, json_object};
pub(super) use once::{key as idempotency_key, once};
pub(super) use ticket::TicketHolder;
pub(super) use upload::{Incoming, check_size, name_shapes, too_large};
