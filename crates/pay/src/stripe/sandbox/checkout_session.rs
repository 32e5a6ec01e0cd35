//! Checkout sessions: `/v1/checkout/sessions`. What a person does at the form of a session is in `form_submission`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::api_error::ApiError;
use super::null_members::with_nulls;
use super::parameters::{Metadata, Parameters, check_price};
use super::payment_method::no_billing_details;
use super::stored::{ObjectKind, Record};
use super::transaction::Transaction;
use crate::stripe::{Currency, Money};

const SHORTEST_LIFE: i64 = 30 * 60;
const LONGEST_LIFE: i64 = 24 * 60 * 60;

/// Members of a session that the sandbox has no use for; clients expect them all the same.
const NULL_MEMBERS: [&str; 28] = [
    "after_expiration",
    "allow_promotion_codes",
    "allowed_payment_method_types",
    "billing_address_collection",
    "client_secret",
    "collected_information",
    "consent",
    "consent_collection",
    "currency_conversion",
    "customer",
    "customer_account",
    "customer_email",
    "integration_identifier",
    "invoice",
    "locale",
    "managed_payments",
    "origin_context",
    "payment_link",
    "payment_method_configuration_details",
    "permissions",
    "recovered_from",
    "saved_payment_method_options",
    "setup_intent",
    "shipping_address_collection",
    "shipping_cost",
    "submit_type",
    "subscription",
    "wallet_options",
];

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CheckoutSession {
    pub(super) id: String,
    pub(super) created: i64,
    pub(super) expires_at: i64,
    pub(super) amount: u64,
    pub(super) currency: Currency,
    pub(super) product: String,
    pub(super) reference: Option<String>,
    pub(super) metadata: Metadata,
    pub(super) success_url: String,
    pub(super) cancel_url: Option<String>,
    /// The address of the form.
    pub(super) url: String,
    pub(super) status: SessionStatus,
    pub(super) is_paid: bool,
    /// Set by the first attempt to pay.
    pub(super) payment: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionStatus {
    Open,
    Complete,
    Expired,
}

/// The parameters of a new session: one line item, paid once by card.
#[derive(Debug, Clone)]
pub(super) struct NewSession {
    price: Money,
    product: String,
    reference: Option<String>,
    metadata: Metadata,
    success_url: String,
    cancel_url: Option<String>,
    expires_at: Option<i64>,
}

impl NewSession {
    pub(super) fn read(mut parameters: Parameters) -> Result<Self, ApiError> {
        let item = |name: &str| format!("line_items[0]{name}");
        if parameters.one_of("mode", &["payment"])?.is_none() {
            return Err(ApiError::missing("mode"));
        }
        parameters.one_of("payment_method_types[0]", &["card"])?;
        let unit = parameters.integer(&item("[price_data][unit_amount]"))?;
        let unit = unit.ok_or_else(|| ApiError::missing(&item("[price_data][unit_amount]")))?;
        let quantity = parameters.integer(&item("[quantity]"))?;
        let quantity = quantity.ok_or_else(|| ApiError::missing(&item("[quantity]")))?;
        let minor_units = unit.saturating_mul(quantity);
        check_price(minor_units).map_err(|error| error.at(&item("[price_data][unit_amount]")))?;
        let currency = parameters.currency(&item("[price_data][currency]"))?;
        let new = Self {
            price: Money { minor_units, currency },
            product: parameters.required(&item("[price_data][product_data][name]"), 250)?,
            reference: parameters.text("client_reference_id", 200)?,
            metadata: parameters.metadata("metadata")?,
            success_url: parameters.url("success_url")?.ok_or_else(|| ApiError::missing("success_url"))?,
            cancel_url: parameters.url("cancel_url")?,
            expires_at: parameters.time("expires_at")?,
        };
        parameters.finish()?;
        Ok(new)
    }

    pub(super) fn run(self, transaction: &mut Transaction<'_>) -> Result<Value, ApiError> {
        let now = transaction.now();
        let expires_at = self.expires_at.unwrap_or_else(|| now.saturating_add(LONGEST_LIFE));
        if expires_at < now.saturating_add(SHORTEST_LIFE) {
            let message = "The session must stay open for at least 30 minutes.";
            return Err(ApiError::invalid(None, message).at("expires_at"));
        }
        if expires_at > now.saturating_add(LONGEST_LIFE) {
            let message = "The session must expire within 24 hours.";
            return Err(ApiError::invalid(None, message).at("expires_at"));
        }
        let id = transaction.new_id("cs_test_a1", 56);
        let session = CheckoutSession {
            url: format!("{}/{id}", transaction.form_url()),
            id,
            created: now,
            expires_at,
            amount: self.price.minor_units,
            currency: self.price.currency,
            product: self.product,
            reference: self.reference,
            metadata: self.metadata,
            success_url: self.success_url,
            cancel_url: self.cancel_url,
            status: SessionStatus::Open,
            is_paid: false,
            payment: None,
        };
        transaction.save(&session)?;
        Ok(session.json())
    }
}

impl Record for CheckoutSession {
    const KIND: ObjectKind = ObjectKind::CheckoutSession;

    fn id(&self) -> &str {
        &self.id
    }
}

impl CheckoutSession {
    /// The session as it is now: an open one that is overdue expires first.
    pub(super) fn get(transaction: &mut Transaction<'_>, id: &str) -> Result<Self, ApiError> {
        let session: Option<Self> = transaction.load(id)?;
        let mut session = session.ok_or(ApiError::not_found("No such checkout.session."))?;
        if session.status == SessionStatus::Open && session.expires_at <= transaction.now() {
            session.close(transaction)?;
        }
        Ok(session)
    }

    /// `POST /v1/checkout/sessions/{id}/expire`
    pub(super) fn expire(transaction: &mut Transaction<'_>, id: &str) -> Result<Value, ApiError> {
        let mut session = Self::get(transaction, id)?;
        if session.status != SessionStatus::Open {
            return Err(ApiError::invalid(None, "Only a session that is open can be expired."));
        }
        session.close(transaction)?;
        Ok(session.json())
    }

    fn close(&mut self, transaction: &mut Transaction<'_>) -> Result<(), ApiError> {
        self.status = SessionStatus::Expired;
        transaction.save(self)?;
        transaction.emit("checkout.session.expired", &self.json());
        Ok(())
    }

    pub(super) fn price(&self) -> Money {
        Money { minor_units: self.amount, currency: self.currency }
    }

    /// Where the person goes after paying.
    pub(super) fn return_url(&self) -> String {
        self.success_url.replace("{CHECKOUT_SESSION_ID}", &self.id)
    }

    pub(super) fn json(&self) -> Value {
        let is_open = self.status == SessionStatus::Open;
        // The form has no field for an address; completing it still creates the (empty) details.
        let customer = (self.status == SessionStatus::Complete).then(no_billing_details);
        let members = json!({
            "id": self.id,
            "object": "checkout.session",
            "adaptive_pricing": { "enabled": false },
            "amount_subtotal": self.amount,
            "amount_total": self.amount,
            "automatic_tax": { "enabled": false, "liability": null, "provider": null, "status": null },
            "cancel_url": self.cancel_url,
            "client_reference_id": self.reference,
            "created": self.created,
            "currency": self.currency,
            "custom_fields": [],
            "custom_text": { "after_submit": null, "shipping_address": null, "submit": null, "terms_of_service_acceptance": null },
            "customer_creation": "if_required",
            "customer_details": customer,
            "discounts": [],
            "expires_at": self.expires_at,
            "invoice_creation": { "enabled": false },
            "livemode": false,
            "metadata": self.metadata,
            "mode": "payment",
            "payment_intent": self.payment,
            "payment_method_collection": "if_required",
            "payment_method_options": { "card": { "request_three_d_secure": "automatic" } },
            "payment_method_types": ["card"],
            "payment_status": if self.is_paid { "paid" } else { "unpaid" },
            "phone_number_collection": { "enabled": false },
            "shipping_options": [],
            "status": self.status,
            "success_url": self.success_url,
            "total_details": { "amount_discount": 0, "amount_shipping": 0, "amount_tax": 0 },
            "ui_mode": "hosted_page",
            "url": is_open.then_some(&self.url),
        });
        with_nulls(members, &NULL_MEMBERS)
    }
}
