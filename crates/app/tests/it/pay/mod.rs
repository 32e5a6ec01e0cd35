//! Tests the operations of payments: buying, settling, recovery, replays, decisions of operators, and the ledger.

mod card_events;
mod card_faults;
mod card_recovery;
mod card_sandbox;
mod ledger_run;
mod mandate_faults;
mod mandate_recovery;
mod mandates;
mod pay_after_refusal;
mod pay_faults;
mod pay_front_run;
mod pay_modes;
mod pay_recovery;
mod pay_replay;
mod pay_resolve;
mod pay_sender;
mod pay_unclear;
mod revenue;
mod token_faults;
mod token_settings;
