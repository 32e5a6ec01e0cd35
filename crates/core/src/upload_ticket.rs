//! Upload tickets: the holder may upload one file, for a limited time, on behalf of the account that requested it. A ticket is
//! self-contained, so nothing is stored until the file arrives. Sealing it and checking that its issuer still has access is left
//! to `app`.

use crate::options::UploadOptions;
use crate::{Error, Result, number};

/// How long a ticket is valid, in seconds: enough to run a command, too short to be worth stealing.
pub const LIFE: i64 = 15 * 60;
/// Distinguishes tickets from other secrets, for people and for secret scanners.
pub const PREFIX: &str = "upl_";
/// The format version of [`UploadTicket::to_bytes`].
const FORMAT: &str = "1";
/// The number of fields before the options.
const HEAD: usize = 7;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadTicket {
    /// Random; identifies the ticket, to detect a second use.
    pub nonce: String,
    pub account_id: String,
    /// The API key or grant that requested it: the ticket becomes invalid with it.
    pub principal: String,
    /// The OAuth grant of the client that requested it, if any.
    pub grant_id: Option<String>,
    /// The page whose content the file replaces; `None` for a new page.
    pub site_id: Option<String>,
    pub expires_at: i64,
    /// The options of the upload, as form fields.
    pub fields: Vec<(String, String)>,
}

impl UploadTicket {
    pub const fn is_expired(&self, now: i64) -> bool {
        self.expires_at <= now
    }

    pub fn options(&self) -> Result<UploadOptions> {
        UploadOptions::parse(self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Checks everything that can be refused before the file is uploaded.
    pub fn check(&self) -> Result<()> {
        let options = self.options()?;
        match &self.site_id {
            None if options.expected_updated_at.is_some() => Err(Error::field(
                "expected_updated_at",
                "is for an upload that replaces a page; name the `site`",
            )),
            None => options.check_new(),
            Some(_) => Ok(()),
        }
    }

    /// Serializes with a length prefix for each text, so that different tickets never have the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let expires_at = self.expires_at.to_string();
        let head = [
            FORMAT,
            &self.nonce,
            &self.account_id,
            &self.principal,
            self.grant_id.as_deref().unwrap_or_default(),
            self.site_id.as_deref().unwrap_or_default(),
            &expires_at,
        ];
        let options = self.fields.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let mut bytes = Vec::new();
        for text in head.into_iter().chain(options) {
            bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }

    /// Parses what [`UploadTicket::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let texts = texts(bytes)?;
        let (head, options) = texts.split_first_chunk::<HEAD>()?;
        let [format, nonce, account_id, principal, grant_id, site_id, expires_at] = *head;
        let (pairs, rest) = options.as_chunks::<2>();
        if format != FORMAT || !rest.is_empty() {
            return None;
        }
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Some(Self {
            nonce: nonce.to_owned(),
            account_id: account_id.to_owned(),
            principal: principal.to_owned(),
            grant_id: some(grant_id),
            site_id: some(site_id),
            expires_at: number::integer(expires_at)?,
            fields: pairs.iter().map(|[name, value]| ((*name).to_owned(), (*value).to_owned())).collect(),
        })
    }
}

fn texts(mut bytes: &[u8]) -> Option<Vec<&str>> {
    let mut texts = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
        texts.push(std::str::from_utf8(text).ok()?);
        bytes = rest;
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use proptest::prelude::*;

    fn ticket(site_id: Option<&str>, fields: &[(&str, &str)]) -> UploadTicket {
        UploadTicket {
            nonce: "n".into(),
            account_id: "acct_1".into(),
            principal: "key_1".into(),
            grant_id: None,
            site_id: site_id.map(str::to_owned),
            expires_at: 1000,
            fields: fields.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        }
    }

    #[test]
    fn it_ends_at_its_moment() {
        assert!(!ticket(None, &[]).is_expired(999));
        assert!(ticket(None, &[]).is_expired(1000));
    }

    #[test]
    fn what_could_never_be_published_is_refused_before_a_file_is_sent() {
        for (site, fields, code) in [
            (None, [("visibility", "public")], Code::SlugRequired),
            (None, [("slug", "!")], Code::InvalidSlug),
            (None, [("expected_updated_at", "5")], Code::InvalidField),
            (Some("site_1"), [("expires_in_hours", "soon")], Code::InvalidField),
        ] {
            assert_eq!(ticket(site, &fields).check().unwrap_err().code, code, "{fields:?}");
        }
        assert!(ticket(Some("site_1"), &[("expected_updated_at", "5")]).check().is_ok());
        assert!(ticket(None, &[("title", "A"), ("colour", "red")]).check().is_ok());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            nonce in ".{0,50}", grant in proptest::option::of(".{1,20}"), site in proptest::option::of(".{1,20}"),
            expires_at: i64, fields in proptest::collection::vec((".{0,20}", ".{0,200}"), 0..5),
        ) {
            let ticket = UploadTicket { nonce, grant_id: grant, site_id: site, expires_at, fields, ..ticket(None, &[]) };
            prop_assert_eq!(UploadTicket::from_bytes(&ticket.to_bytes()), Some(ticket));
        }

        #[test]
        fn bytes_of_any_kind_are_only_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(UploadTicket::from_bytes(&bytes).is_none_or(|ticket| ticket.to_bytes() == bytes));
        }
    }
}
