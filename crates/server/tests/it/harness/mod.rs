//! The test harness: a real server on a free port, a client, sample content, and separate databases.

mod ask;
mod checker;
mod cli;
mod database;
pub(crate) mod described;
mod dns_server;
#[expect(dead_code, reason = "the tests of payment operations use the rest")]
#[path = "../../../../app/tests/it/harness/facilitator.rs"]
mod facilitator;
mod facilitator_server;
mod in_force;
mod in_time;
pub(crate) mod json_schema;
mod mandate_payer;
pub(crate) mod mcp;
pub(crate) mod mcp_line;
mod node;
pub(crate) mod oauth;
mod pay_link;
mod payments;
pub(crate) mod pebble;
mod person;
#[expect(dead_code, reason = "the tests of the store and of operations use the rest")]
#[path = "../../../../store/tests/it/pg_proxy.rs"]
mod pg_proxy;
#[path = "../../../../store/tests/it/pg_server.rs"]
mod pg_server;
#[path = "../../../../app/tests/it/harness/pg_template.rs"]
mod pg_template;
mod phishing;
pub(crate) mod pipe;
mod port;
mod proxy;
#[expect(dead_code, reason = "the tests of payment operations use the rest")]
#[path = "../../../../app/tests/it/harness/purse.rs"]
mod purse;
#[expect(dead_code, reason = "the tests of the store use the rest")]
#[path = "../../../../store/tests/it/released_store.rs"]
pub(crate) mod released_store;
#[path = "../../../../app/tests/it/harness/sample_payment.rs"]
mod sample_payment;
mod samples;
#[path = "../../../../app/tests/it/harness/seed.rs"]
pub(crate) mod seed;
#[path = "../../../../app/tests/it/harness/settings.rs"]
mod settings;
mod smtp;
mod still;
mod tab;
#[expect(dead_code, reason = "the tests of payment operations use the rest")]
#[path = "../../../../app/tests/it/harness/till.rs"]
pub(crate) mod till;
pub(crate) mod tls;
mod webhook_receiver;

pub(crate) use ask::{Answer, Ask, Form};
pub(crate) use checker::{FakeChecker, Says};
pub(crate) use cli::{Background, Dropleaf};
pub(crate) use database::{Database, s3_url};
pub(crate) use dns_server::{DnsFault, DnsServer};
pub(crate) use facilitator::{Call, FakeFacilitator, Fault};
pub(crate) use facilitator_server::FacilitatorServer;
pub(crate) use in_force::a_second_later;
pub(crate) use in_time::in_time;
pub(crate) use mandate_payer::MandateOffer;
pub(crate) use node::{NOW, Node, Setup, on_each_database, site_path};
pub(crate) use pay_link::{PayLink, VISA};
pub(crate) use person::Person;
pub(crate) use pg_proxy::{Link, PgProxy};
pub(crate) use pg_server::{PgServer, free_port};
pub(crate) use phishing::{HARVEST, LEAK, harvest};
pub(crate) use port::ReservedPort;
pub(crate) use proxy::{Habit, Proxy};
pub(crate) use purse::Purse;
pub(crate) use sample_payment::payment;
pub(crate) use samples::{noise, page, pdf, zip};
pub(crate) use smtp::{MailServer, Mood, Seen, code_in};
pub(crate) use still::StillTime;
pub(crate) use tab::Tab;
pub(crate) use webhook_receiver::{ReceivedMessage, WebhookReceiver};

pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 86_400;
