//! Who or what made a version of a site. Only the owner learns of it; viewers never do.

/// The kind of credential or interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MakerKind {
    ApiKey,
    /// A program with an OAuth grant.
    Program,
    /// A person in the dashboard.
    Dashboard,
    ClaimToken,
    /// The wallet that paid for the page.
    Wallet,
    /// An upload without a credential.
    Anonymous,
    /// A paid upload without an account.
    Purchase,
    /// The import of an account.
    Import,
}

impl MakerKind {
    pub const ALL: [Self; 8] = [
        Self::ApiKey,
        Self::Program,
        Self::Dashboard,
        Self::ClaimToken,
        Self::Wallet,
        Self::Anonymous,
        Self::Purchase,
        Self::Import,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Program => "program",
            Self::Dashboard => "dashboard",
            Self::ClaimToken => "claim_token",
            Self::Wallet => "wallet",
            Self::Anonymous => "anonymous",
            Self::Purchase => "purchase",
            Self::Import => "import",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// For people, in the list of versions.
    pub const fn label(self) -> &'static str {
        match self {
            Self::ApiKey => "API key",
            Self::Program => "Program",
            Self::Dashboard => "Dashboard",
            Self::ClaimToken => "Claim token",
            Self::Wallet => "Wallet",
            Self::Anonymous => "Anonymous upload",
            Self::Purchase => "Paid upload",
            Self::Import => "Import",
        }
    }
}

/// Who made a version, as known at that time: a key may be renamed or revoked later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionMaker {
    pub kind: MakerKind,
    /// The ID of the key or grant.
    pub id: Option<String>,
    /// The name of the key or program.
    pub name: Option<String>,
}

impl VersionMaker {
    /// A maker that has no name.
    pub const fn unnamed(kind: MakerKind) -> Self {
        Self { kind, id: None, name: None }
    }

    pub fn api_key(id: &str, name: &str) -> Self {
        Self { kind: MakerKind::ApiKey, id: Some(id.to_owned()), name: Some(name.to_owned()) }
    }

    pub fn program(grant_id: &str, name: &str) -> Self {
        Self { kind: MakerKind::Program, id: Some(grant_id.to_owned()), name: Some(name.to_owned()) }
    }

    /// The name, for a reader that acts for the account with this grant, or for the account itself. A program does not learn
    /// the names of keys and of other programs.
    pub fn name_for(&self, grant_id: Option<&str>) -> Option<&str> {
        self.name.as_deref().filter(|_| grant_id.is_none() || self.id.as_deref() == grant_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_parse_back() {
        for kind in MakerKind::ALL {
            assert_eq!(MakerKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(MakerKind::parse("robot"), None);
    }

    #[test]
    fn a_program_learns_its_own_name_only() {
        let (key, program) =
            (VersionMaker::api_key("key_1", "laptop"), VersionMaker::program("grt_1", "Editor"));
        assert_eq!((key.name_for(None), program.name_for(None)), (Some("laptop"), Some("Editor")));
        assert_eq!((key.name_for(Some("grt_1")), program.name_for(Some("grt_1"))), (None, Some("Editor")));
        assert_eq!(program.name_for(Some("grt_2")), None);
        assert_eq!(VersionMaker::unnamed(MakerKind::Dashboard).name_for(Some("grt_1")), None);
    }
}
