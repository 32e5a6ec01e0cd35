//! The audit log of operator actions: one entry per action, kept forever.

/// An action that is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditAction {
    TakeDown,
    DismissReports,
    SetPlan,
    CreditAccount,
    ResolvePayment,
    SuspendAccount,
    LiftSuspension,
    OpenEvidence,
    EraseEvidence,
    UnblockContent,
    AllowContent,
    UpholdRefusal,
    EndAppeal,
    DisallowContent,
    RenewCertificate,
    ExportAccount,
    ImportAccount,
    EraseAccount,
}

impl AuditAction {
    pub const ALL: [Self; 18] = [
        Self::TakeDown,
        Self::DismissReports,
        Self::SetPlan,
        Self::CreditAccount,
        Self::ResolvePayment,
        Self::SuspendAccount,
        Self::LiftSuspension,
        Self::OpenEvidence,
        Self::EraseEvidence,
        Self::UnblockContent,
        Self::AllowContent,
        Self::UpholdRefusal,
        Self::EndAppeal,
        Self::DisallowContent,
        Self::RenewCertificate,
        Self::ExportAccount,
        Self::ImportAccount,
        Self::EraseAccount,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TakeDown => "take_down",
            Self::DismissReports => "dismiss_reports",
            Self::SetPlan => "set_plan",
            Self::CreditAccount => "credit_account",
            Self::ResolvePayment => "resolve_payment",
            Self::SuspendAccount => "suspend_account",
            Self::LiftSuspension => "lift_suspension",
            Self::OpenEvidence => "open_evidence",
            Self::EraseEvidence => "erase_evidence",
            Self::UnblockContent => "forget_unwanted",
            Self::AllowContent => "allow_content",
            Self::UpholdRefusal => "uphold_refusal",
            Self::EndAppeal => "end_appeal",
            Self::DisallowContent => "disallow_content",
            Self::RenewCertificate => "renew_certificate",
            Self::ExportAccount => "export_account",
            Self::ImportAccount => "import_account",
            Self::EraseAccount => "erase_account",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.as_str() == text)
    }

    /// The action as a verb phrase for people, followed by the subject.
    pub const fn description(self) -> &'static str {
        match self {
            Self::TakeDown => "took down",
            Self::DismissReports => "dismissed the reports about",
            Self::SetPlan => "changed the plan of",
            Self::CreditAccount => "changed the balance of",
            Self::ResolvePayment => "resolved the payment",
            Self::SuspendAccount => "suspended",
            Self::LiftSuspension => "lifted the suspension of",
            Self::OpenEvidence => "opened the evidence of",
            Self::EraseEvidence => "erased the evidence of",
            Self::UnblockContent => "unblocked the content of",
            Self::AllowContent => "allowed the content of the appeal",
            Self::UpholdRefusal => "upheld the refusal in the appeal",
            Self::EndAppeal => "closed the undecided appeal",
            Self::DisallowContent => "stopped allowing the content of the appeal",
            Self::RenewCertificate => "requested the renewal of the certificate for",
            Self::ExportAccount => "exported",
            Self::ImportAccount => "imported pages into",
            Self::EraseAccount => "deleted the account",
        }
    }
}

/// One entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: String,
    pub at: i64,
    /// The operator's email address, or the channel through which the action came.
    pub actor: String,
    pub action: AuditAction,
    /// The id of the page, account or payment.
    pub subject: String,
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_act_reads_back() {
        for act in AuditAction::ALL {
            assert_eq!(AuditAction::parse(act.as_str()), Some(act));
        }
        assert_eq!(AuditAction::parse("other"), None);
    }
}
