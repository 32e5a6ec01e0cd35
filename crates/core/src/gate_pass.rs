//! The signed value that a browser stores after passing a gate: an expiry and a MAC, bound to one site and one version of its
//! gates. The server stores nothing: the MAC is verified on every view, and changing a gate invalidates it.

use crate::network;
use crate::secret::Keys;
use crate::site::{Site, Visibility};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::net::IpAddr;

/// How long a gate stays open once passed, in seconds.
pub const LIFE: i64 = 12 * 3600;
/// How long an owner who came from the dashboard may view the page, and how long a frame may load its files. The owner gets a new
/// pass with one click, the frame with a reload.
const OWNER_LIFE: i64 = 1800;
/// How long the root of a page's own host stays open to a browser that followed the page's link. The link itself never expires.
const ROOT_LIFE: i64 = 30 * 86_400;
/// How long a viewer who continued past a warning is not warned again.
const WARNING_LIFE: i64 = 1800;

const EXPIRY_BYTES: usize = 8;
const PROOF_BYTES: usize = 32;

/// Which gate was passed. A pass for one gate is not valid at another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatePassKind {
    Password,
    Email,
    /// All gates, for the page's owner.
    Owner,
    /// Only the preview of a burn-after-read page.
    Preview,
    /// Paths at the root of the page's own host, for browsers that followed the page's link.
    Root,
    /// What a sandboxed frame of the page loads. Scripts in the frame can read it, so it is bound to the viewer's network.
    Frame,
    /// The warning before a page for which a signal fired.
    Warning,
}

impl GatePassKind {
    /// How long a pass is valid, in seconds.
    pub const fn life(self) -> i64 {
        match self {
            Self::Password | Self::Email => LIFE,
            Self::Owner | Self::Preview | Self::Frame => OWNER_LIFE,
            Self::Root => ROOT_LIFE,
            Self::Warning => WARNING_LIFE,
        }
    }

    /// The purpose of the MAC key, and the format name inside the message.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Password => ("gate", "g1"),
            Self::Email => ("email_gate", "e1"),
            Self::Owner => ("owner_pass", "o1"),
            Self::Preview => ("owner_preview", "p1"),
            Self::Root => ("root_pass", "r1"),
            Self::Frame => ("frame_pass", "f1"),
            Self::Warning => ("warning_pass", "w1"),
        }
    }
}

/// The gate a pass is for.
#[derive(Debug, Clone, Copy)]
pub struct GatePass<'a> {
    pub kind: GatePassKind,
    pub site_id: &'a str,
    pub gate_version: i64,
    /// The only reader the pass is valid for; `None` for a pass that only the browser can read.
    pub reader: Option<&'a str>,
}

impl GatePass<'_> {
    /// Issues a pass that is valid for [`GatePassKind::life`] from now: base64url of the expiry and its MAC.
    pub fn issue(&self, keys: &Keys, now: i64) -> String {
        let expiry = u64::try_from(now.saturating_add(self.kind.life())).unwrap_or_default().to_be_bytes();
        let proof = keys.mac(self.kind.names().0, &self.message(expiry));
        URL_SAFE_NO_PAD.encode([expiry.as_slice(), &proof].concat())
    }

    /// Whether the value is an unexpired pass for exactly this gate.
    pub fn admits(&self, keys: &Keys, value: &str, now: i64) -> bool {
        let Some((expiry, proof)) = parse(value) else { return false };
        let fresh = i64::try_from(u64::from_be_bytes(expiry)).is_ok_and(|at| at > now);
        fresh && keys.verify(self.kind.names().0, &self.message(expiry), &proof)
    }

    fn message(&self, expiry: [u8; EXPIRY_BYTES]) -> Vec<u8> {
        let version = self.gate_version.to_string();
        let parts = [self.kind.names().1.as_bytes(), self.site_id.as_bytes(), version.as_bytes(), &expiry];
        parts.into_iter().chain(self.reader.map(str::as_bytes)).collect::<Vec<_>>().join(&0)
    }
}

/// The reader that a frame pass is bound to: the client's network, and whether the page is burn-after-read, so that a pass issued
/// before the page was set to burn is not valid afterwards.
pub fn frame_reader(site: &Site, ip: IpAddr) -> String {
    let burns = if site.visibility == Visibility::Burn { "burn" } else { "" };
    format!("{}\0{burns}", network::client_network(ip))
}

fn parse(value: &str) -> Option<([u8; EXPIRY_BYTES], [u8; PROOF_BYTES])> {
    // Longer than any pass: do not decode it.
    if value.len() > 64 {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(value).ok()?;
    let (expiry, proof) = bytes.split_first_chunk::<EXPIRY_BYTES>()?;
    Some((*expiry, proof.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GATE: GatePass<'static> =
        GatePass { kind: GatePassKind::Password, site_id: "site_a", gate_version: 3, reader: None };

    fn keys() -> Keys {
        Keys::new([7; 32])
    }

    #[test]
    fn a_pass_opens_its_own_gate_for_12_hours() {
        let pass = GATE.issue(&keys(), 1000);
        assert_eq!(pass.len(), 54);
        assert!(GATE.admits(&keys(), &pass, 1000));
        assert!(GATE.admits(&keys(), &pass, 1000 + LIFE - 1));
        assert!(!GATE.admits(&keys(), &pass, 1000 + LIFE));
    }

    #[test]
    fn a_pass_opens_no_other_gate() {
        let pass = GATE.issue(&keys(), 1000);
        for other in [
            GatePass { kind: GatePassKind::Email, ..GATE },
            GatePass { kind: GatePassKind::Owner, ..GATE },
            GatePass { kind: GatePassKind::Preview, ..GATE },
            GatePass { kind: GatePassKind::Root, ..GATE },
            GatePass { kind: GatePassKind::Frame, ..GATE },
            GatePass { kind: GatePassKind::Warning, ..GATE },
            GatePass { reader: Some("192.0.2.1"), ..GATE },
            GatePass { site_id: "site_b", ..GATE },
            GatePass { gate_version: 4, ..GATE },
        ] {
            assert!(!other.admits(&keys(), &pass, 1000), "{other:?}");
        }
        assert!(!GATE.admits(&Keys::new([8; 32]), &pass, 1000));
    }

    #[test]
    fn a_pass_of_the_owner_is_good_for_half_an_hour_and_one_for_the_preview_opens_no_gate() {
        let owner = GatePass { kind: GatePassKind::Owner, ..GATE };
        let pass = owner.issue(&keys(), 1000);
        assert!(owner.admits(&keys(), &pass, 2799) && !owner.admits(&keys(), &pass, 2800));
        let preview = GatePass { kind: GatePassKind::Preview, ..GATE }.issue(&keys(), 1000);
        assert!(!owner.admits(&keys(), &preview, 1000) && !GATE.admits(&keys(), &preview, 1000));
    }

    #[test]
    fn a_pass_for_the_root_of_a_host_is_good_for_30_days_and_opens_no_gate() {
        let root = GatePass { kind: GatePassKind::Root, ..GATE };
        let pass = root.issue(&keys(), 1000);
        assert!(root.admits(&keys(), &pass, 1000 + ROOT_LIFE - 1));
        assert!(!root.admits(&keys(), &pass, 1000 + ROOT_LIFE));
        assert!(!GatePass { gate_version: 4, ..root }.admits(&keys(), &pass, 1000));
        for kind in [GatePassKind::Password, GatePassKind::Email, GatePassKind::Owner, GatePassKind::Preview]
        {
            assert!(!GatePass { kind, ..GATE }.admits(&keys(), &pass, 1000), "{kind:?}");
        }
    }

    #[test]
    fn a_pass_beyond_the_warning_is_good_for_half_an_hour_and_opens_no_gate() {
        let warning = GatePass { kind: GatePassKind::Warning, ..GATE };
        let pass = warning.issue(&keys(), 1000);
        assert!(warning.admits(&keys(), &pass, 1000 + WARNING_LIFE - 1));
        assert!(!warning.admits(&keys(), &pass, 1000 + WARNING_LIFE));
        assert!(!GATE.admits(&keys(), &pass, 1000));
    }

    #[test]
    fn a_pass_for_a_frame_is_good_for_one_reader_and_half_an_hour() {
        let here = GatePass { kind: GatePassKind::Frame, reader: Some("192.0.2.1"), ..GATE };
        let pass = here.issue(&keys(), 1000);
        assert!(here.admits(&keys(), &pass, 1000));
        assert!(!here.admits(&keys(), &pass, 1000 + OWNER_LIFE));
        for reader in [None, Some(""), Some("192.0.2.2")] {
            assert!(!GatePass { reader, ..here }.admits(&keys(), &pass, 1000), "{reader:?}");
        }
    }

    #[test]
    fn the_format_is_the_documented_one() {
        let bytes = URL_SAFE_NO_PAD.decode(GATE.issue(&keys(), 1000)).unwrap();
        let expiry = 44_200_u64.to_be_bytes();
        assert_eq!(bytes[..8], expiry);
        let message = [b"g1\0site_a\x003\0".as_slice(), &expiry].concat();
        assert_eq!(bytes[8..], keys().mac("gate", &message));
    }

    proptest! {
        #[test]
        fn nothing_made_up_is_admitted(value in "[A-Za-z0-9_-]{0,70}|.{0,70}") {
            prop_assert!(!GATE.admits(&keys(), &value, 1000));
        }

        #[test]
        fn one_changed_bit_closes_the_gate(at in 0_usize..40, bit in 0_u8..8) {
            let mut bytes = URL_SAFE_NO_PAD.decode(GATE.issue(&keys(), 1000)).unwrap();
            bytes[at] ^= 1 << bit;
            prop_assert!(!GATE.admits(&keys(), &URL_SAFE_NO_PAD.encode(bytes), 1000));
        }

        #[test]
        fn bytes_of_any_length_are_only_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(!GATE.admits(&keys(), &URL_SAFE_NO_PAD.encode(bytes), 1000));
        }
    }
}
