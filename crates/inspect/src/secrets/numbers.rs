//! Finds card, account and personal identification numbers by format and checksum. Well-known sample numbers are exempt.

use std::ops::Range;

use super::{checks, drawing};

/// Test card numbers that payment providers publish.
const TEST_CARDS: [&str; 14] = [
    "4242424242424242",
    "4111111111111111",
    "4012888888881881",
    "4000056655665556",
    "4000002500003155",
    "4000000000000002",
    "4000002760003184",
    "5555555555554444",
    "5105105105105100",
    "5200828282828210",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "3530111333300000",
];
/// The longest run of digits and separators that is one number, and the fewest characters of one.
const LONGEST: usize = 40;
const FEWEST: usize = 9;

pub(crate) fn find(text: &str) -> Vec<(usize, &'static str)> {
    let bytes = text.as_bytes();
    let mut found = accounts(bytes);
    let mut from = 0;
    while let Some(run) = next_run(bytes, from) {
        from = run.end;
        let before = run.start.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(run.end).copied();
        let inside = |byte: Option<u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'#'))
        };
        let after_letter =
            after.is_some_and(|byte| byte.is_ascii_alphanumeric() && !matches!(byte, b'X' | b'x'));
        if (FEWEST..=LONGEST).contains(&run.len()) && !inside(before) && !after_letter {
            let kind = kind_of(&bytes[run.clone()], after);
            found.extend(
                kind.filter(|_| !drawing::is_no_number(bytes, run.clone())).map(|kind| (run.start, kind)),
            );
        }
    }
    found
}

/// The next run of digits with single separators between them, if it has the fewest characters or nearly so. Most text has none,
/// so one byte in eight is examined: a longer run has one of these.
fn next_run(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let separates =
        |at: usize| matches!(bytes[at], b' ' | b'-' | b'.') && is_digit(at + 1) && at > 0 && is_digit(at - 1);
    let probe = (from.next_multiple_of(FEWEST - 1)..bytes.len())
        .step_by(FEWEST - 1)
        .find(|at| is_digit(*at) || separates(*at))?;
    let (mut start, mut end) = (probe, probe + 1);
    while start > from && (is_digit(start - 1) || separates(start - 1)) {
        start -= 1;
    }
    while end < bytes.len() && (is_digit(end) || separates(end)) {
        end += 1;
    }
    Some(start..end)
}

/// How many places are examined at once for the start of a bank account.
const AT_ONCE: usize = 32;

/// The bank accounts of a text.
fn accounts(bytes: &[u8]) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for from in (0..bytes.len()).step_by(AT_ONCE) {
        let starts = &bytes[from..bytes.len().min(from + AT_ONCE + 3)];
        if starts.first_chunk().is_none_or(may_begin_account) {
            let places = from..bytes.len().min(from + AT_ONCE);
            found.extend(places.filter(|at| is_account_at(bytes, *at)).map(|at| (at, "bank account")));
        }
    }
    found
}

/// Whether two capital letters and two digits begin at one of these places. Few texts have that, so it is written such that the
/// compiler examines many places with one instruction.
fn may_begin_account(starts: &[u8; AT_ONCE + 3]) -> bool {
    let is_capital = |byte: u8| u8::from(byte.is_ascii_uppercase());
    let is_digit = |byte: u8| u8::from(byte.is_ascii_digit());
    let mut some = 0;
    for at in 0..AT_ONCE {
        some |= is_capital(starts[at])
            & is_capital(starts[at + 1])
            & is_digit(starts[at + 2])
            & is_digit(starts[at + 3]);
    }
    some != 0
}

fn kind_of(run: &[u8], after: Option<u8>) -> Option<&'static str> {
    let (mut digits, mut shape) = ([0; LONGEST], [b'd'; LONGEST]);
    let mut count = 0;
    for (byte, shape) in run.iter().zip(&mut shape) {
        if byte.is_ascii_digit() {
            digits[count] = byte - b'0';
            count += 1;
        } else {
            *shape = *byte;
        }
    }
    let digits = &digits[..count];
    match &shape[..run.len()] {
        b"ddd-dd-dddd" => is_social_security(digits).then_some("social security number"),
        b"ddd.ddd.ddd-dd" => checks::cpf(digits).then_some("CPF number"),
        b"dddd dddd dddd" | b"dddd-dddd-dddd" => {
            (digits[0] > 1 && checks::verhoeff(digits)).then_some("Aadhaar number")
        }
        b"dddddd-dddd" | b"dddddddd-dddd" => {
            let short = &digits[digits.len() - 10..];
            (is_date(short[2], short[3], short[4], short[5]) && checks::luhn(short))
                .then_some("personal number")
        }
        _ if digits.len() == 17 && run.len() == 17 && matches!(after, Some(b'X' | b'x')) => {
            checks::resident(digits, 10).then_some("identity number")
        }
        _ if digits.len() == 18 && run.len() == 18 => {
            let born = is_date(digits[10], digits[11], digits[12], digits[13])
                && matches!(digits[6..8], [1, 9] | [2, 0]);
            (born && checks::resident(&digits[..17], digits[17])).then_some("identity number")
        }
        _ => is_card(run, digits).then_some("card number"),
    }
}

/// Thirteen to nineteen digits of a known issuer, in groups or in one piece.
fn is_card(run: &[u8], digits: &[u8]) -> bool {
    let issuer = match digits {
        [4, ..] => matches!(digits.len(), 13 | 16 | 19),
        [5, 1..=5, ..] | [2, 2..=7, ..] | [6, 0 | 4 | 5, ..] => digits.len() == 16,
        [3, 4 | 7, ..] => digits.len() == 15,
        _ => false,
    };
    let separates = |byte: &u8| matches!(byte, b' ' | b'-');
    let grouped = run.iter().any(separates);
    let groups_fit = || run.split(separates).all(|group| (4..=6).contains(&group.len()) || group.len() == 3);
    let varied = || digits.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 6;
    let is_test = || TEST_CARDS.iter().any(|card| card.bytes().eq(digits.iter().map(|digit| b'0' + digit)));
    issuer
        && !run.contains(&b'.')
        && (!grouped || groups_fit())
        && varied()
        && checks::luhn(digits)
        && !is_test()
}

fn is_social_security(digits: &[u8]) -> bool {
    let number = |range: &[u8]| range.iter().fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    let (area, group, serial) = (number(&digits[..3]), number(&digits[3..5]), number(&digits[5..]));
    // 078-05-1120 and 219-09-9999 were printed in advertisements; 123-45-6789 is in every manual.
    let known = matches!((area, group, serial), (78, 5, 1120) | (219, 9, 9999) | (123, 45, 6789));
    area != 0 && area != 666 && area < 900 && group != 0 && serial != 0 && !known
}

fn is_date(tens: u8, month: u8, day_tens: u8, day: u8) -> bool {
    (1..=12).contains(&(tens * 10 + month)) && (1..=31).contains(&(day_tens * 10 + day))
}

/// IBAN: two capital letters, two digits, then up to thirty characters in groups of four or in one piece.
fn is_account_at(bytes: &[u8], at: usize) -> bool {
    let begins = bytes[at..].len() > 14
        && bytes[at].is_ascii_uppercase()
        && bytes[at + 1].is_ascii_uppercase()
        && bytes[at + 2].is_ascii_digit()
        && bytes[at + 3].is_ascii_digit();
    if !begins || (at > 0 && bytes[at - 1].is_ascii_alphanumeric()) {
        return false;
    }
    let mut account = Vec::with_capacity(35);
    for byte in &bytes[at..] {
        let spaces = *byte == b' ' && account.len() % 4 == 0;
        if account.len() == 35 || !(is_account(*byte) || spaces) {
            break;
        }
        if !spaces {
            account.push(*byte);
        }
    }
    let digits = account.iter().filter(|byte| byte.is_ascii_digit()).count();
    (15..=34).contains(&account.len())
        && digits * 2 >= account.len()
        && account[4..].iter().any(|byte| *byte != b'0')
        && checks::iban(&account)
}

fn is_account(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().map(|(_, kind)| kind).collect()
    }

    #[test]
    fn numbers_are_known_by_shape_and_sum() {
        for (text, kind) in [
            ("pay with 4556-7375-8689-9855 now", "card number"),
            ("4556737586899855", "card number"),
            ("SSN: 536-22-8726.", "social security number"),
            ("CPF 529.982.247-25", "CPF number"),
            ("id 11010519491231002X", "identity number"),
            ("born 811228-9874", "personal number"),
            ("IBAN GB82 WEST 1234 5698 7654 32", "bank account"),
            ("GB82WEST12345698765432", "bank account"),
        ] {
            assert_eq!(kinds(text), [kind], "{text}");
        }
    }

    #[test]
    fn numbers_are_found_at_any_place() {
        let kinds_in = |before: usize, number: &str| {
            let text = format!("{}{number}{}", "x ".repeat(before), " 12 y".repeat(9));
            kinds(&text[before..])
        };
        for before in 0..40 {
            assert_eq!(kinds_in(before, "536-22-8726 y"), ["social security number"], "{before}");
            assert_eq!(kinds_in(before, "4556 7375 8689 9855 y"), ["card number"], "{before}");
            assert_eq!(kinds_in(before, "GB82WEST12345698765432 y"), ["bank account"], "{before}");
        }
        assert_eq!(kinds("536-22-8726"), ["social security number"]);
        assert_eq!(kinds("y GB82WEST12345698765432"), ["bank account"]);
        // Neither is a separator where two are side by side.
        assert_eq!(kinds("1 - 536-22-8726 - 1 y"), ["social security number"]);
    }

    #[test]
    fn other_numbers_are_left_alone() {
        for text in [
            "4242 4242 4242 4242",
            "4111111111111111",
            "1234567812345678",
            "4556737586899856",
            "a4556737586899855",
            "0.4556737586899855",
            "123-45-6789",
            "000-12-3456",
            "+1 800 555 0100 200",
            "2024-01-31 12:30:00",
            "GB00WEST12345698765432",
            "DE00 0000 0000 0000 0000 00",
            "1700000000000",
            "<path d=\"M 4556 7375 8689 9855 Z\"/>",
        ] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }
}
