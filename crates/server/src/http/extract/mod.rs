//! Extractors: who calls and what the body holds. A handler that takes `Owner` cannot be reached without a credential.

mod caller;
mod document;
mod fields;
mod form;
mod hours;
mod idempotency;
mod json_body;
mod json_length;
mod pace;
mod size_limit;
mod spool;
mod struct_fields;
mod ticket;
mod upload;
mod upload_arguments;

pub(super) use caller::{
    AnyCaller, Appellant, Buyer, KeyReader, Maker, Owner, Publisher, Reader, Remover, SiteWriter, bearer,
    bearer_text, client_ip, require_scope,
};
pub(super) use document::Document;
pub(super) use fields::{Fields, agreed, nullable};
pub(super) use form::Form;
pub(super) use hours::Hours;
pub(super) use idempotency::{idempotent_request, key as idempotency_key};
pub(super) use json_body::{JsonLimit, check_values, json_object};
pub(super) use size_limit::{check_size, too_large};
pub(super) use ticket::TicketHolder;
pub(super) use upload::{Incoming, name_shapes};
pub(super) use upload_arguments::{
    UploadArguments, hours as hours_schema, parse_options, parse_pii_check, pii_check as pii_check_schema,
    visibility as visibility_schema, words as words_schema,
};
