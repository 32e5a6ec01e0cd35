//! The names of the rules. Their weights and texts are in `weights.toml`; a test checks that both have the same rules.

macro_rules! rules {
    ($($rule:ident = $name:literal),+ $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Rule { $($rule),+ }

        impl Rule {
            pub(crate) const ALL: &'static [Rule] = &[$(Rule::$rule),+];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name),+ }
            }
        }
    };
}

rules! {
    PasswordField = "password-field",
    CardFields = "card-fields",
    CodeField = "code-field",
    IdentityFields = "identity-fields",
    RecoveryPhrase = "recovery-phrase",
    WifiKey = "wifi-key",
    MailPassword = "mail-password",
    SessionCookie = "session-cookie",
    ApiKeyField = "api-key-field",
    SignInStep = "sign-in-step",
    PersonalDetails = "personal-details",
    UnlabelledFields = "unlabelled-fields",
    ManySecrets = "many-secrets",
    SentToBot = "sent-to-bot",
    SentToRelay = "sent-to-relay",
    SentToAddress = "sent-to-address",
    SentToOtherSite = "sent-to-other-site",
    SentToServerScript = "sent-to-server-script",
    SentByMail = "sent-by-mail",
    SentByScript = "sent-by-script",
    PostedToTrap = "posted-to-trap",
    PostedToCommonName = "posted-to-common-name",
    PostedToMissing = "posted-to-missing",
    BrandInTitle = "brand-in-title",
    BrandDisguised = "brand-disguised",
    BrandAccount = "brand-account",
    BrandSignature = "brand-signature",
    BrandAssets = "brand-assets",
    BrandHeading = "brand-heading",
    BrandAsHeading = "brand-as-heading",
    BrandCopyright = "brand-copyright",
    BrandPicture = "brand-picture",
    BrandText = "brand-text",
    TitleAboutBrand = "title-about-brand",
    PaymentAssets = "payment-assets",
    SiteInTitle = "site-in-title",
    SiteAccount = "site-account",
    BrandElsewhere = "brand-elsewhere",
    MailProviders = "mail-providers",
    BankWords = "bank-words",
    CopiedPage = "copied-page",
    DeadLinks = "dead-links",
    PressureInTitle = "pressure-in-title",
    Pressure = "pressure",
    MuchPressure = "much-pressure",
    DocumentLure = "document-lure",
    RouterLure = "router-lure",
    PortalLure = "portal-lure",
    PortalSignIn = "portal-sign-in",
    WrongPassword = "wrong-password",
    WalletLure = "wallet-lure",
    CommandLure = "command-lure",
    CommandSteps = "command-steps",
    AlarmCall = "alarm-call",
    WalletDrain = "wallet-drain",
    ScanLure = "scan-lure",
    FramedLogin = "framed-login",
    OnlyRedirect = "only-redirect",
    SmuggledDownload = "smuggled-download",
    BlockedAddress = "blocked-address",
    HiddenForm = "hidden-form",
    BetweenSteps = "between-steps",
    BuiltMarkup = "built-markup",
    WordlessPage = "wordless-page",
    KitMarks = "kit-marks",
    GarbledNames = "garbled-names",
    VisitorLookup = "visitor-lookup",
    LockedPage = "locked-page",
    LongText = "long-text",
    QuotedCode = "quoted-code",
    Demo = "demo",
}

impl Rule {
    /// Rules that identify whose name a page carries. They are evidence of the same thing, so they do not add up.
    pub(crate) fn is_identity(self) -> bool {
        matches!(
            self,
            Self::BrandInTitle
                | Self::BrandDisguised
                | Self::BrandAccount
                | Self::BrandSignature
                | Self::BrandAssets
                | Self::BrandHeading
                | Self::BrandAsHeading
                | Self::BrandCopyright
                | Self::BrandPicture
                | Self::BrandText
                | Self::TitleAboutBrand
                | Self::PaymentAssets
                | Self::SiteInTitle
                | Self::SiteAccount
                | Self::BrandElsewhere
                | Self::MailProviders
                | Self::BankWords
        )
    }

    /// The rule under which it is weighed: weak evidence of a name is reported separately but weighed as one.
    pub(crate) fn kind(self) -> Self {
        match self {
            Self::TitleAboutBrand | Self::PaymentAssets | Self::SiteInTitle => Self::BrandText,
            rule => rule,
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phishing::rules::list_format::sections;

    #[test]
    fn every_rule_has_a_weight_a_meaning_and_a_remedy() {
        let list = sections(include_str!("../../../phishing/weights.toml"));
        for rule in Rule::ALL {
            let section = list.iter().find(|section| section.name == rule.name());
            let section = section.unwrap_or_else(|| panic!("{} has no weight", rule.name()));
            let weight: f64 = section.get("weight").and_then(|weight| weight.parse().ok()).unwrap();
            assert!(section.get("why").is_some_and(|why| !why.is_empty()), "{}", rule.name());
            assert!(weight < 0.0 || section.get("fix").is_some_and(|fix| !fix.is_empty()), "{}", rule.name());
        }
        for section in list.iter().filter(|section| section.name != "threshold") {
            assert!(Rule::parse(section.name).is_some(), "no rule is called {}", section.name);
        }
    }
}
