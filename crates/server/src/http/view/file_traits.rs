//! What the headers of a page's file depend on, computed from the current row of every request, and the headers that most
//! files have, rendered in advance: they depend on nothing else, so they cannot be out of date.

use super::headers;
use super::page_address::PageAddress;
use dropleaf_app::{PageView, ServedFile};
use dropleaf_core::site::{State, Visibility};
use http::HeaderMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileTraits {
    /// At an address that other sites share.
    pub is_shared: bool,
    /// Caches may keep it.
    pub is_public: bool,
    pub is_live: bool,
    pub is_document: bool,
    /// Until the one view of the page is decided.
    pub is_unburnt: bool,
    /// With restricted access, or shown once.
    pub is_guarded: bool,
    /// Not to be embedded by sibling pages.
    pub is_own_only: bool,
    pub is_encrypted: bool,
    pub is_strict: bool,
    pub is_pdf: bool,
    /// A PDF for a browser, which does not show one in a sandbox.
    pub is_shown_pdf: bool,
}

/// Combinations of the first four traits.
const PLAIN_KINDS: usize = 1 << 4;

impl FileTraits {
    pub(super) fn of(address: PageAddress<'_>, page: &PageView, file: &ServedFile, is_browser: bool) -> Self {
        let burns = page.site.visibility == Visibility::Burn;
        let is_guarded = burns || page.access_rules.is_gated();
        let is_public_address = matches!(
            address,
            PageAddress::Slug { .. } | PageAddress::SharedSlug { .. } | PageAddress::Domain { .. }
        );
        let is_pdf = file.mime == "application/pdf";
        Self {
            is_shared: address.is_shared(),
            // A shared cache would show a page without its warning.
            is_public: page.site.visibility == Visibility::Public
                && page.site.warned_at.is_none()
                && is_public_address,
            is_live: page.site.live,
            is_document: file.is_document,
            is_unburnt: burns && page.site.state != State::Burnt,
            is_guarded,
            // What a cookie opens must not be embedded by sibling pages either, whose requests carry the cookie.
            is_own_only: is_guarded || matches!(address, PageAddress::Root { .. }),
            is_encrypted: page.site.e2e,
            is_strict: page.site.csp_strict,
            is_pdf,
            is_shown_pdf: is_pdf && is_browser,
        }
    }

    /// A file without any of the rarer traits.
    const fn plain(number: usize) -> Self {
        Self {
            is_shared: number & 1 != 0,
            is_public: number & 2 != 0,
            is_live: number & 4 != 0,
            is_document: number & 8 != 0,
            is_unburnt: false,
            is_guarded: false,
            is_own_only: false,
            is_encrypted: false,
            is_strict: false,
            is_pdf: false,
            is_shown_pdf: false,
        }
    }

    fn plain_number(self) -> Option<usize> {
        let bits = [self.is_shared, self.is_public, self.is_live, self.is_document];
        let number = bits.iter().rev().fold(0, |number, bit| number << 1 | usize::from(*bit));
        (Self::plain(number) == self).then_some(number)
    }
}

/// The header lines of plain files, as they are sent on HTTP/1.1.
#[derive(Debug)]
pub(in crate::http) struct PlainHeads([Vec<u8>; PLAIN_KINDS]);

impl Default for PlainHeads {
    fn default() -> Self {
        Self(std::array::from_fn(|number| {
            let mut headers = HeaderMap::with_capacity(headers::ROOM);
            headers::plain_file(&mut headers, FileTraits::plain(number));
            let mut lines = Vec::new();
            for (name, value) in &headers {
                lines.extend_from_slice(name.as_str().as_bytes());
                lines.extend_from_slice(b": ");
                lines.extend_from_slice(value.as_bytes());
                lines.extend_from_slice(b"\r\n");
            }
            lines
        }))
    }
}

impl PlainHeads {
    /// The header lines of a file with these traits; None if they depend on more than the traits.
    pub(super) fn find(&self, traits: FileTraits) -> Option<&[u8]> {
        traits.plain_number().map(|number| self.0[number].as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plain_kind_has_its_own_number() {
        for number in 0..PLAIN_KINDS {
            assert_eq!(FileTraits::plain(number).plain_number(), Some(number));
        }
    }

    #[test]
    fn files_with_a_rarer_trait_are_not_plain() {
        let plain = FileTraits::plain(PLAIN_KINDS - 1);
        let rare = [
            FileTraits { is_unburnt: true, ..plain },
            FileTraits { is_guarded: true, ..plain },
            FileTraits { is_own_only: true, ..plain },
            FileTraits { is_encrypted: true, ..plain },
            FileTraits { is_strict: true, ..plain },
            FileTraits { is_pdf: true, ..plain },
            FileTraits { is_shown_pdf: true, ..plain },
        ];
        let heads = PlainHeads::default();
        for traits in rare {
            assert_eq!(heads.find(traits), None, "{traits:?}");
        }
        assert!(heads.find(plain).is_some());
    }
}
