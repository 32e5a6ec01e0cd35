//! The closed mandate of a v0.2 chain: consent to one payment. Amounts are whole minor units.

use serde_json::Value;

use super::json_member::{self, Object};
use super::mandate::{Instrument, InstrumentKind, MandateRequest};
use super::refusal::MandateRefusal;
use super::{moment, validity};

/// The members that say what is paid, to whom and with what.
#[derive(Clone, Copy)]
pub(crate) struct ClosedMandate<'a> {
    members: &'a Object,
    pub(crate) transaction_id: &'a str,
    pub(crate) payee_id: &'a str,
    pub(crate) amount: Money<'a>,
    pub(crate) instrument: NamedInstrument<'a>,
}

/// An amount in minor units.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Money<'a> {
    pub(crate) minor: u64,
    pub(crate) currency: &'a str,
}

/// A payment instrument as mandates name it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamedInstrument<'a> {
    kind: &'a str,
    id: &'a str,
}

impl<'a> ClosedMandate<'a> {
    pub(crate) fn read(members: &'a Object) -> Result<Self, MandateRefusal> {
        Ok(Self {
            members,
            transaction_id: json_member::text(members, "transaction_id")?,
            payee_id: json_member::text(json_member::object(members, "payee")?, "id")?,
            amount: Money::read(json_member::object(members, "payment_amount")?)?,
            instrument: NamedInstrument::read(json_member::object(members, "payment_instrument")?)?,
        })
    }

    /// Whether it is consent to exactly what we requested, now.
    pub(crate) fn answers(&self, request: &MandateRequest<'_>, now: i64) -> Result<(), MandateRefusal> {
        if self.transaction_id != request.transaction_id {
            return Err(MandateRefusal::TransactionMismatch);
        }
        // Names are for display; only the id identifies a payee.
        if self.payee_id != request.payee_id {
            return Err(MandateRefusal::PayeeMismatch);
        }
        if self.amount.currency != request.currency {
            return Err(MandateRefusal::CurrencyMismatch);
        }
        if self.amount.minor != request.amount_minor {
            return Err(MandateRefusal::AmountMismatch);
        }
        self.is_due(now)
    }

    /// We charge at once, so a mandate for another day is refused. Without a date it means now.
    fn is_due(&self, now: i64) -> Result<(), MandateRefusal> {
        let Some(date) = self.member("execution_date") else { return Ok(()) };
        let period = date.as_str().and_then(moment::parse).ok_or(MandateRefusal::MalformedMember)?;
        let starts = period.start().saturating_sub(validity::SKEW_SECONDS) <= now;
        let ends = period.end().saturating_add(validity::SKEW_SECONDS) >= now;
        if starts && ends { Ok(()) } else { Err(MandateRefusal::DateNotAllowed) }
    }

    pub(crate) fn member(&self, name: &str) -> Option<&'a Value> {
        json_member::optional(self.members, name)
    }

    pub(crate) fn chargeable_instrument(&self) -> Result<Instrument, MandateRefusal> {
        let kind =
            InstrumentKind::parse(self.instrument.kind).ok_or(MandateRefusal::UnsupportedInstrument)?;
        Ok(Instrument { kind, id: self.instrument.id.to_owned() })
    }
}

impl<'a> Money<'a> {
    pub(crate) fn read(members: &'a Object) -> Result<Self, MandateRefusal> {
        let minor = json_member::whole_number(members, "amount")?;
        Ok(Self { minor, currency: json_member::text(members, "currency")? })
    }
}

impl<'a> NamedInstrument<'a> {
    pub(crate) fn read(members: &'a Object) -> Result<Self, MandateRefusal> {
        Ok(Self { kind: json_member::text(members, "type")?, id: json_member::text(members, "id")? })
    }
}
