//! The interval in which a proportion lies with 95 % certainty (Wilson's score interval): few pages prove little.

const Z: f64 = 1.96;

/// The bounds in percent, for `part` of `whole`.
pub(crate) fn interval(part: u32, whole: u32) -> (f64, f64) {
    if whole == 0 {
        return (0.0, 100.0);
    }
    let (n, p) = (f64::from(whole), f64::from(part) / f64::from(whole));
    let scale = 1.0 + Z * Z / n;
    let middle = (p + Z * Z / (2.0 * n)) / scale;
    let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    (100.0 * (middle - reach).max(0.0), 100.0 * (middle + reach).min(1.0))
}

/// `12 of 300    4.0 % (2.3–6.9)`
pub(crate) fn line(part: u32, whole: u32) -> String {
    let (low, high) = interval(part, whole);
    let percent = 100.0 * f64::from(part) / f64::from(whole.max(1));
    format!("{part:>5} of {whole:<5} {percent:>6.2} % ({low:.1}–{high:.1})")
}
