//! Amounts as people read them.

/// Micro-dollars in a dollar: prices are in the smallest unit of a token with 6 decimals.
const MICROS: u64 = 1_000_000;

/// In dollars, with two decimals or as many as it takes.
pub(in crate::http) fn dollars(micros: u64) -> String {
    let part = format!("{:06}", micros % MICROS);
    let part = part.trim_end_matches('0');
    format!("{}.{part:0<2}", micros / MICROS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_are_always_shown_and_less_only_when_there_is_less() {
        for (micros, text) in [
            (500_000, "0.50"),
            (1_000_000, "1.00"),
            (25_000_000, "25.00"),
            (1, "0.000001"),
            (1_234_500, "1.2345"),
            (20_000, "0.02"),
        ] {
            assert_eq!(dollars(micros), text);
        }
    }
}
