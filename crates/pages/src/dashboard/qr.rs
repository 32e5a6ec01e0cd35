//! A link as a QR code: one SVG path of squares.

use qrcode::{Color, EcLevel, QrCode};
use std::fmt::Write as _;

/// Readers need this much empty space around the code.
const MARGIN: usize = 4;

#[derive(Debug, Clone)]
pub(super) struct Qr {
    /// The side length of the drawing, margin included.
    pub side: usize,
    /// The dark squares.
    pub path: String,
}

/// `None` if the link is too long for a code.
pub(super) fn qr(link: &str) -> Option<Qr> {
    let code = QrCode::with_error_correction_level(link, EcLevel::M).ok()?;
    let width = code.width();
    let mut path = String::new();
    for (at, color) in code.to_colors().into_iter().enumerate() {
        if color == Color::Dark {
            // Writing into a String cannot fail.
            let _ = write!(path, "M{} {}h1v1h-1z", at % width + MARGIN, at / width + MARGIN);
        }
    }
    Some(Qr { side: width + 2 * MARGIN, path })
}

#[cfg(test)]
mod tests {
    use super::qr;

    #[test]
    fn a_link_becomes_squares_and_nothing_else() {
        let code = qr("http://localhost:8080/p/0Qm1Yv2nT3uW4xZ5aB6cD7/").unwrap();
        assert!(code.side > 30 && code.path.starts_with("M4 4h1v1h-1z"));
        assert!(code.path.chars().all(|c| c.is_ascii_digit() || "Mhvz -".contains(c)));
        assert!(qr(&"x".repeat(5000)).is_none());
    }
}
