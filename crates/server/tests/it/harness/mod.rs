//! The test harness: a real server on a free port, a client, sample content, and separate databases.

mod ask;
mod checker;
mod cli;
mod database;
pub(crate) mod described;
mod facilitator;
mod in_force;
pub(crate) mod json_schema;
pub(crate) mod mcp;
pub(crate) mod mcp_line;
mod node;
pub(crate) mod oauth;
mod payments;
mod person;
mod phishing;
pub(crate) mod pipe;
mod port;
mod purse;
mod samples;
pub(crate) mod seed;
mod smtp;
mod still;
mod tab;
pub(crate) mod till;

pub(crate) use ask::{Answer, Ask, Form};
pub(crate) use checker::{FakeChecker, Says};
pub(crate) use cli::Dropleaf;
pub(crate) use database::{Database, s3_url};
pub(crate) use facilitator::{Call, FakeFacilitator, Fault};
pub(crate) use in_force::a_second_later;
pub(crate) use node::{NOW, Node, Setup, on_each_database, site_path};
pub(crate) use payments::payment;
pub(crate) use person::Person;
pub(crate) use phishing::{HARVEST, LEAK, harvest};
pub(crate) use port::ReservedPort;
pub(crate) use purse::{Purse, VALID_SECONDS};
pub(crate) use samples::{noise, page, pdf, zip};
pub(crate) use smtp::{MailServer, Mood, Seen, code_in};
pub(crate) use still::StillTime;
pub(crate) use tab::Tab;

pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 86_400;
