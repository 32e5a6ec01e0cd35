//! A person submits the payment form of a checkout session. Showing the form is left to the caller.

use super::api_error::ApiError;
use super::card::{Behaviour, CardDetails};
use super::checkout_session::{CheckoutSession, SessionStatus};
use super::decline::Decline;
use super::parameters::Metadata;
use super::payment::Payment;
use super::payment_method::UsedCard;
use super::stored::{ObjectKey, ObjectKind};
use super::transaction::Transaction;
use super::webhook_event::WebhookEvent;
use super::{Context, StoredObject};
use crate::stripe::object_id::is_id;

/// A card for a checkout session.
#[derive(Debug, Clone, Copy)]
pub struct FormSubmission<'a> {
    pub session: &'a str,
    pub card: CardDetails<'a>,
    /// The result of 3-D Secure; `None` until the form has asked for it.
    pub authentication: Option<Authentication>,
}

/// What the cardholder said to the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    Approved,
    Failed,
}

/// What the form shows next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormOutcome {
    /// Paid: send the person to this address.
    Paid {
        return_url: String,
    },
    /// Complete, but the money will arrive later: send the person to this address.
    Processing {
        return_url: String,
    },
    /// Ask for 3-D Secure, then submit the same card with the result.
    AuthenticationRequired,
    /// The card was declined; another one may be tried.
    Declined {
        code: &'static str,
        message: &'static str,
    },
    /// The card data has a mistake; nothing was tried.
    InvalidCard {
        code: &'static str,
        message: &'static str,
    },
    /// The form was completed before.
    AlreadyComplete,
    /// The form can no longer be paid.
    Expired,
    NotFound,
    /// A stored object cannot be read.
    Fault,
}

/// The result of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    pub outcome: FormOutcome,
    pub writes: Vec<StoredObject>,
    pub events: Vec<WebhookEvent>,
}

impl FormSubmission<'_> {
    /// The objects that [`run`](Self::run) must be given, as far as they exist.
    pub fn needs(&self) -> Vec<ObjectKey> {
        if !is_id(self.session) {
            return Vec::new();
        }
        let payment = Payment::id_for_session(self.session);
        vec![
            ObjectKey::new(ObjectKind::CheckoutSession, self.session),
            ObjectKey::new(ObjectKind::Payment, &payment),
        ]
    }

    pub fn run(&self, found: &[StoredObject], context: &Context<'_>) -> Submitted {
        let mut transaction = Transaction::new(found, context);
        match self.submit(&mut transaction) {
            Ok(outcome) => Submitted { outcome, writes: transaction.writes, events: transaction.events },
            Err(error) => {
                let outcome = if error.status == 404 { FormOutcome::NotFound } else { FormOutcome::Fault };
                Submitted { outcome, writes: Vec::new(), events: Vec::new() }
            }
        }
    }

    fn submit(&self, transaction: &mut Transaction<'_>) -> Result<FormOutcome, ApiError> {
        let session = CheckoutSession::get(transaction, self.session)?;
        match session.status {
            SessionStatus::Open => {}
            SessionStatus::Complete => return Ok(FormOutcome::AlreadyComplete),
            SessionStatus::Expired => return Ok(FormOutcome::Expired),
        }
        match self.card.check(transaction.now()) {
            Ok(Some((card, used))) => self.pay(transaction, session, card.behaviour(), used),
            Ok(None) => Ok(declined(Decline::LiveCard)),
            Err(invalid) => Ok(FormOutcome::InvalidCard { code: invalid.code, message: invalid.message }),
        }
    }

    fn pay(
        &self,
        transaction: &mut Transaction<'_>,
        mut session: CheckoutSession,
        behaviour: Behaviour,
        card: UsedCard,
    ) -> Result<FormOutcome, ApiError> {
        let mut payment = start_payment(transaction, &mut session)?;
        payment.use_card(transaction, card);
        match (behaviour, self.authentication) {
            (Behaviour::Pays, _) | (Behaviour::Authenticates, Some(Authentication::Approved)) => {
                payment.succeed(transaction)?;
                session.is_paid = true;
                session.complete(transaction)?;
                Ok(FormOutcome::Paid { return_url: session.return_url() })
            }
            (Behaviour::Stalls, _) => {
                payment.stall(transaction)?;
                session.complete(transaction)?;
                Ok(FormOutcome::Processing { return_url: session.return_url() })
            }
            (Behaviour::Authenticates, None) => {
                payment.require_action(transaction)?;
                Ok(FormOutcome::AuthenticationRequired)
            }
            (Behaviour::Authenticates, Some(Authentication::Failed)) => {
                payment.decline(transaction, Decline::AuthenticationFailed)?;
                Ok(declined(Decline::AuthenticationFailed))
            }
            (Behaviour::Declines(decline), _) => {
                payment.decline(transaction, decline)?;
                Ok(declined(decline))
            }
        }
    }
}

impl CheckoutSession {
    fn complete(&mut self, transaction: &mut Transaction<'_>) -> Result<(), ApiError> {
        self.status = SessionStatus::Complete;
        transaction.save(self)?;
        transaction.emit("checkout.session.completed", &self.json());
        Ok(())
    }
}

/// The payment of a session: the one of an earlier attempt, or a new one.
fn start_payment(
    transaction: &mut Transaction<'_>,
    session: &mut CheckoutSession,
) -> Result<Payment, ApiError> {
    let id = Payment::id_for_session(&session.id);
    if let Some(payment) = transaction.load(&id)? {
        return Ok(payment);
    }
    let mut payment = Payment::new(id.clone(), session.price(), Metadata::new(), transaction.now());
    payment.session = Some(session.id.clone());
    session.payment = Some(id);
    transaction.save(session)?;
    Ok(payment)
}

fn declined(decline: Decline) -> FormOutcome {
    let code = decline.decline_code().unwrap_or(decline.code());
    FormOutcome::Declined { code, message: decline.message() }
}
