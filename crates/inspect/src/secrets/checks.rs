//! Checksums that tell real numbers and keys from random ones.

/// Luhn: cards, Swedish personal identity numbers.
pub(crate) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let doubled = u32::from(*digit) * if place % 2 == 1 { 2 } else { 1 };
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Verhoeff: Aadhaar.
pub(crate) fn verhoeff(digits: &[u8]) -> bool {
    const TIMES: [[usize; 10]; 10] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
        [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
        [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
        [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
        [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
        [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
        [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
        [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    ];
    const TURN: [usize; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let mut sum = 0;
    for (place, digit) in digits.iter().rev().enumerate() {
        let mut turned = usize::from(*digit);
        for _ in 0..place % 8 {
            turned = TURN[turned];
        }
        sum = TIMES[sum][turned];
    }
    sum == 0
}

/// Modulo 97 over digits and letters: IBAN, with its first four characters moved to the end.
pub(crate) fn iban(account: &[u8]) -> bool {
    let (head, tail) = account.split_at(account.len().min(4));
    let mut rest = 0_u32;
    for byte in tail.iter().chain(head) {
        let value = match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'A'..=b'Z' => u32::from(byte - b'A') + 10,
            _ => return false,
        };
        rest = (rest * if value > 9 { 100 } else { 10 } + value) % 97;
    }
    rest == 1
}

/// The two check digits of a Brazilian CPF.
pub(crate) fn cpf(digits: &[u8]) -> bool {
    let check = |len: usize| {
        let sum: usize =
            digits[..len].iter().enumerate().map(|(at, digit)| usize::from(*digit) * (len + 1 - at)).sum();
        (sum * 10 % 11 % 10) == usize::from(digits[len])
    };
    digits.len() == 11 && digits.iter().any(|digit| *digit != digits[0]) && check(9) && check(10)
}

/// The check character of a Chinese identity number, a digit or X for ten.
pub(crate) fn resident(digits: &[u8], last: u8) -> bool {
    const WEIGHTS: [usize; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let sum: usize = digits.iter().zip(WEIGHTS).map(|(digit, weight)| usize::from(*digit) * weight).sum();
    digits.len() == 17 && usize::from(last) == (12 - sum % 11) % 11
}

/// GitHub-style tokens: the last six characters are the CRC-32 of the rest in base 62.
pub(crate) fn token(body: &[u8]) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let Some(split) = body.len().checked_sub(6) else { return false };
    let (random, sum) = body.split_at(split);
    let mut crc = u32::MAX;
    for byte in random {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let mut left = !crc as usize;
    let expected: Vec<u8> = (0..6)
        .map(|_| {
            let digit = DIGITS[left % 62];
            left /= 62;
            digit
        })
        .collect();
    sum.iter().rev().eq(expected.iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect()
    }

    #[test]
    fn sums_that_fit_and_sums_that_do_not() {
        assert!(luhn(&digits("4556737586899855")) && !luhn(&digits("4556737586899856")));
        assert!(verhoeff(&digits("2363")) && !verhoeff(&digits("2364")));
        assert!(iban(b"GB82WEST12345698765432") && !iban(b"GB82WEST12345698765433"));
        assert!(
            cpf(&digits("529.982.247-25"))
                && !cpf(&digits("529.982.247-26"))
                && !cpf(&digits("111.111.111-11"))
        );
        assert!(resident(&digits("11010519491231002"), 10) && !resident(&digits("11010519491231002"), 9));
        assert!(
            token(b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17") && !token(b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18")
        );
        assert!(!token(b"short"));
    }
}
