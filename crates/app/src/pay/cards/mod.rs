//! Payments by card, through a card processor.

mod card_payment;
mod card_refusal;
mod checkout;
mod mandate;
mod pay_session;
mod payment_row;
mod processor;
mod reversal;
mod sandbox_processor;
mod settings;
mod token_cancel;
mod token_charge;
mod webhook;

pub use card_payment::DeliveredKey;
pub(super) use card_refusal::{NOT_TAKEN, card_refused, not_taken};
pub use mandate::MandatePurchase;
pub(super) use pay_session::NO_PROCESSOR;
pub use pay_session::{CreatedPaySession, NewPaySession, PolledPaySession};
pub use processor::{CardProcessor, ProcessorReply};
pub use sandbox_processor::{SandboxProcessor, SandboxReply};
pub use settings::CardSettings;
pub use token_charge::TokenRequest;

use crate::app::App;
use dropleaf_store::Stmt;
use std::sync::Arc;

impl App {
    /// The processor of card payments; `None` if cards are not accepted.
    pub fn card_processor(&self) -> Option<&Arc<dyn CardProcessor>> {
        self.payments.processor.as_ref()
    }

    /// The same processor in sandbox mode, with its payment form and its test steps.
    pub fn sandbox_processor(&self) -> Option<&Arc<SandboxProcessor>> {
        self.payments.sandbox_processor.as_ref()
    }

    /// How cards are accepted; `None` if they are not.
    pub fn card_settings(&self) -> Option<&CardSettings> {
        self.settings.payments.as_ref()?.cards.as_ref()
    }

    /// Deletes old objects of the sandbox, also after the server left sandbox mode.
    pub(crate) fn delete_old_sandbox_objects(&self) -> Stmt {
        sandbox_processor::delete_old_objects(self.now())
    }
}
