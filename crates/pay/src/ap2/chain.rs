//! A v0.2 mandate: a root signed by a trusted issuer, then delegations, each signed with the key that the one before it names.
//! The last link holds the closed mandate, all others hold open ones.

use super::closed_mandate::ClosedMandate;
use super::issuer::{Issuer, Issuers};
use super::mandate::MandateRequest;
use super::refusal::MandateRefusal;
use super::segment::Segment;
use super::{open_mandate, validity};

/// More links than any flow of the protocol has.
const LINKS: usize = 5;
/// In the whole chain.
const DISCLOSURES: usize = 128;

/// The type of a delegation that names a next key, and of one that does not.
const DELEGATING: &str = "kb+sd-jwt+kb";
const FINAL: &str = "kb+sd-jwt";

const OPEN_MANDATE: &str = "mandate.payment.open.1";
const CLOSED_MANDATE: &str = "mandate.payment.1";

/// A parsed chain, not yet verified.
#[derive(Clone, PartialEq)]
pub(crate) struct Chain {
    open: Vec<Segment>,
    closed: Segment,
}

impl Chain {
    /// Parses `<token>~<disclosure>~~<token>~<disclosure>~`: links are separated by `~~`, and the last one ends with `~`.
    pub(crate) fn parse(text: &str) -> Result<Self, MandateRefusal> {
        let links = text.strip_suffix('~').ok_or(MandateRefusal::MalformedToken)?;
        if links.split("~~").count() > LINKS {
            return Err(MandateRefusal::TooManyHops);
        }
        let disclosures: usize = links.split("~~").map(|link| link.matches('~').count()).sum();
        if disclosures > DISCLOSURES {
            return Err(MandateRefusal::TooManyDisclosures);
        }
        let mut open = links.split("~~").map(Segment::parse).collect::<Result<Vec<_>, _>>()?;
        let closed = open.pop().ok_or(MandateRefusal::MalformedToken)?;
        Ok(Self { open, closed })
    }

    /// The mandate of the last link, which may not be genuine.
    pub(crate) fn closed_mandate(&self) -> Result<ClosedMandate<'_>, MandateRefusal> {
        ClosedMandate::read(&self.closed.mandate)
    }

    /// The hash of the last link's token.
    pub(crate) fn reference(&self) -> &str {
        &self.closed.jwt.hash
    }

    /// Performs every check; returns the issuer that signed the root.
    pub(crate) fn verify<'a>(
        &self,
        issuers: &'a Issuers,
        request: &MandateRequest<'_>,
        now: i64,
    ) -> Result<&'a Issuer, MandateRefusal> {
        let issuer = self.check_signatures(issuers)?;
        self.check_kinds()?;
        self.check_times(now)?;
        self.closed.jwt.check_recipient(request.audience, request.nonce)?;
        let closed = self.closed_mandate()?;
        closed.answers(request, now)?;
        for segment in &self.open {
            open_mandate::check(&segment.mandate, &closed, request, now)?;
        }
        Ok(issuer)
    }

    /// Each link but the root, with the one before it.
    fn delegations(&self) -> impl Iterator<Item = (&Segment, &Segment)> {
        self.open.iter().zip(self.open.iter().skip(1).chain([&self.closed]))
    }

    fn check_signatures<'a>(&self, issuers: &'a Issuers) -> Result<&'a Issuer, MandateRefusal> {
        let root = self.open.first().unwrap_or(&self.closed);
        let issuer = root.jwt.kid().and_then(|kid| issuers.find(kid)).ok_or(MandateRefusal::UnknownIssuer)?;
        root.jwt.verify(&issuer.key)?;
        for (previous, segment) in self.delegations() {
            segment.jwt.verify(&previous.next_key()?)?;
            segment.follows(previous)?;
        }
        Ok(issuer)
    }

    /// Whether each link has the type and the mandate of its place. The type of a root is the issuer's choice, but it is not
    /// that of a delegation.
    fn check_kinds(&self) -> Result<(), MandateRefusal> {
        let root = self.open.first().unwrap_or(&self.closed);
        let delegations = self.open.iter().skip(1).all(|it| it.jwt.typ() == Some(DELEGATING));
        let last = self.open.is_empty() || self.closed.jwt.typ() == Some(FINAL);
        if [Some(DELEGATING), Some(FINAL)].contains(&root.jwt.typ()) || !delegations || !last {
            return Err(MandateRefusal::WrongHopType);
        }
        if self.closed.has_next_key() {
            return Err(MandateRefusal::UnexpectedKey);
        }
        self.open.iter().try_for_each(|segment| segment.check_type(OPEN_MANDATE))?;
        self.closed.check_type(CLOSED_MANDATE)
    }

    /// Delegations must say when they were made, and the last link when it ends: a payment without an end could be presented at
    /// any time, so it is refused although the protocol leaves `exp` optional.
    fn check_times(&self, now: i64) -> Result<(), MandateRefusal> {
        let links = self.open.iter().chain([&self.closed]);
        links.clone().try_for_each(|segment| segment.check_times(now))?;
        let claims = &self.closed.jwt.claims;
        let ends = [claims, &self.closed.mandate].iter().any(|it| validity::has(it, "exp"));
        if ends && links.skip(1).all(|segment| validity::has(&segment.jwt.claims, "iat")) {
            Ok(())
        } else {
            Err(MandateRefusal::TimesMissing)
        }
    }
}
