//! Test cards and what happens when they pay. The numbers are the processor's own, except the one that stalls.

use std::fmt;

use dropleaf_core::iso;

use super::decline::Decline;
use super::payment_method::UsedCard;

/// Completes the form without paying; the money arrives or fails to arrive in a later [`Step`](super::Step). The processor has
/// no such card: its delayed methods are bank debits.
pub const STALLED_CARD: &str = "4000000000008880";

/// A card for the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestCard {
    pub number: &'static str,
    /// What it does, for people.
    pub purpose: &'static str,
    /// The ready-made payment methods that stand for it, for granted tokens.
    pub payment_methods: &'static [&'static str],
    brand: &'static str,
    behaviour: Behaviour,
}

/// What a card does when it is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    Pays,
    Declines(Decline),
    /// The cardholder must confirm first.
    Authenticates,
    Stalls,
}

pub const TEST_CARDS: [TestCard; 10] = [
    card("4242424242424242", "pays", &["pm_card_visa"], "visa", Behaviour::Pays),
    card("5555555555554444", "pays", &["pm_card_mastercard"], "mastercard", Behaviour::Pays),
    card("378282246310005", "pays", &["pm_card_amex"], "amex", Behaviour::Pays),
    card(
        "4000000000000002",
        "is declined",
        &["pm_card_visa_chargeDeclined", "pm_card_chargeDeclined"],
        "visa",
        Behaviour::Declines(Decline::Generic),
    ),
    card(
        "4000000000009995",
        "has insufficient funds",
        &["pm_card_visa_chargeDeclinedInsufficientFunds", "pm_card_chargeDeclinedInsufficientFunds"],
        "visa",
        Behaviour::Declines(Decline::InsufficientFunds),
    ),
    card(
        "4000000000000069",
        "has expired",
        &["pm_card_chargeDeclinedExpiredCard"],
        "visa",
        Behaviour::Declines(Decline::ExpiredCard),
    ),
    card(
        "4000000000000127",
        "has another security code",
        &["pm_card_chargeDeclinedIncorrectCvc"],
        "visa",
        Behaviour::Declines(Decline::IncorrectCvc),
    ),
    card(
        "4000000000000119",
        "cannot be processed",
        &["pm_card_chargeDeclinedProcessingError"],
        "visa",
        Behaviour::Declines(Decline::ProcessingError),
    ),
    card(
        "4000002500003155",
        "asks for 3-D Secure",
        &["pm_card_authenticationRequired", "pm_card_authenticationRequiredOnSetup"],
        "visa",
        Behaviour::Authenticates,
    ),
    card(STALLED_CARD, "pays later", &["pm_card_stalled"], "visa", Behaviour::Stalls),
];

const fn card(
    number: &'static str,
    purpose: &'static str,
    payment_methods: &'static [&'static str],
    brand: &'static str,
    behaviour: Behaviour,
) -> TestCard {
    TestCard { number, purpose, payment_methods, brand, behaviour }
}

/// What a person typed into the payment form.
#[derive(Clone, Copy)]
pub struct CardDetails<'a> {
    /// Digits, with spaces or hyphens between them.
    pub number: &'a str,
    /// Month and year, as `MM/YY` or `MM/YYYY`.
    pub expiry: &'a str,
    pub cvc: &'a str,
}

/// What is wrong with the card that was typed: a code and a message for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvalidCard {
    pub(super) code: &'static str,
    pub(super) message: &'static str,
}

impl TestCard {
    pub(super) fn by_payment_method(name: &str) -> Option<&'static Self> {
        TEST_CARDS.iter().find(|card| card.payment_methods.contains(&name))
    }

    pub(super) const fn behaviour(&self) -> Behaviour {
        self.behaviour
    }

    pub(super) fn used(&self, exp_month: u8, exp_year: u16) -> UsedCard {
        let last4 = self.number.get(self.number.len().saturating_sub(4)..).unwrap_or(self.number);
        UsedCard { brand: self.brand.to_owned(), last4: last4.to_owned(), exp_month, exp_year }
    }
}

impl CardDetails<'_> {
    /// The test card with its expiry date; `None` for any other valid card, of which nothing is kept.
    pub(super) fn check(&self, now: i64) -> Result<Option<(&'static TestCard, UsedCard)>, InvalidCard> {
        let invalid = |code, message| InvalidCard { code, message };
        let number = digits(self.number, 19).filter(|number| number.len() >= 13 && passes_luhn(number));
        let number = number.ok_or(invalid("incorrect_number", "Your card number is not valid."))?;
        let (month, year) = parse_expiry(self.expiry)
            .ok_or(invalid("invalid_expiry_month", "Enter the expiry date as MM/YY."))?;
        if this_month(now).is_none_or(|this_month| (year, month) < this_month) {
            return Err(invalid("invalid_expiry_year", "Your card's expiry date is in the past."));
        }
        let card = TEST_CARDS.iter().find(|card| card.number == number);
        let cvc_len = if number.starts_with("34") || number.starts_with("37") { 4 } else { 3 };
        if digits(self.cvc, 4).is_none_or(|cvc| cvc.len() != cvc_len) {
            return Err(invalid("invalid_cvc", "Your card's security code is incomplete."));
        }
        Ok(card.map(|card| (card, card.used(month, year))))
    }
}

/// Keeps card data out of logs.
impl fmt::Debug for CardDetails<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CardDetails(hidden)")
    }
}

/// At most so many digits, without the spaces and hyphens between them.
fn digits(text: &str, most: usize) -> Option<String> {
    if text.len() > 64 {
        return None;
    }
    let digits: String = text.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    (digits.len() <= most && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

/// The check digit of card numbers.
fn passes_luhn(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, u32::from(digit.saturating_sub(b'0'))) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => 2 * digit - 9,
            (_, digit) => 2 * digit,
        })
        .sum();
    sum.is_multiple_of(10)
}

fn parse_expiry(text: &str) -> Option<(u8, u16)> {
    let (month, year) = text.split_once('/')?;
    let (month, year) = (month.trim(), year.trim());
    let is_plain = |text: &str| (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !is_plain(month) || !is_plain(year) {
        return None;
    }
    let month: u8 = month.parse().ok().filter(|month| (1..=12).contains(month))?;
    match year.len() {
        2 => Some((month, 2000 + year.parse::<u16>().ok()?)),
        4 => Some((month, year.parse().ok()?)),
        _ => None,
    }
}

/// Year and month.
fn this_month(now: i64) -> Option<(u16, u8)> {
    let today = iso::format(now);
    let (year, rest) = today.split_once('-')?;
    let (month, _) = rest.split_once('-')?;
    Some((year.parse().ok()?, month.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_767_225_600; // 2026-01-01

    fn check(number: &str, expiry: &str, cvc: &str) -> Result<Option<&'static str>, &'static str> {
        let card = CardDetails { number, expiry, cvc }.check(NOW);
        card.map(|card| card.map(|(card, _)| card.purpose)).map_err(|invalid| invalid.code)
    }

    #[test]
    fn every_test_card_has_a_valid_number_of_its_own() {
        for card in TEST_CARDS {
            assert!(passes_luhn(card.number), "{}", card.number);
            assert_eq!(TEST_CARDS.iter().filter(|other| other.number == card.number).count(), 1);
            for method in card.payment_methods {
                assert_eq!(TestCard::by_payment_method(method).unwrap().number, card.number);
            }
        }
    }

    #[test]
    fn cards_are_read_as_people_type_them() {
        assert_eq!(check("4242 4242 4242 4242", "12/34", "123"), Ok(Some("pays")));
        assert_eq!(check("4242-4242-4242-4242", "01 / 2026", "000"), Ok(Some("pays")));
        assert_eq!(check("378282246310005", "1/26", "1234"), Ok(Some("pays")));
        assert_eq!(check("4000000000000002", "12/34", "123"), Ok(Some("is declined")));
        assert_eq!(check("4111111111111111", "12/34", "123"), Ok(None));
    }

    #[test]
    fn mistakes_are_told_apart() {
        for number in
            ["", "4242", "4242424242424241", "42424242424242424242", "4242x4242424242424", "４２４２"]
        {
            assert_eq!(check(number, "12/34", "123"), Err("incorrect_number"), "{number}");
        }
        for expiry in ["", "12", "13/34", "0/34", "12/345", "12/", "a/b", "-1/34", "12/34/56"] {
            assert_eq!(check("4242424242424242", expiry, "123"), Err("invalid_expiry_month"), "{expiry}");
        }
        for expiry in ["12/25", "12/2025", "01/0000"] {
            assert_eq!(check("4242424242424242", expiry, "123"), Err("invalid_expiry_year"), "{expiry}");
        }
        for cvc in ["", "12", "1234", "abc"] {
            assert_eq!(check("4242424242424242", "12/34", cvc), Err("invalid_cvc"), "{cvc}");
        }
        assert_eq!(check("378282246310005", "12/34", "123"), Err("invalid_cvc"));
    }

    #[test]
    fn card_data_is_not_logged() {
        let card = CardDetails { number: "4242424242424242", expiry: "12/34", cvc: "987" };
        let shown = format!("{card:?}");
        assert!(!shown.contains("4242") && !shown.contains("987"));
    }
}
