//! Draws a link as a QR code: as SVG for pages, and as text for terminals. Both include the empty margin that readers need.

use qrcode::render::unicode::Dense1x2;
use qrcode::{Color, EcLevel, QrCode};
use std::fmt::Write as _;

/// The margin, in modules.
const MARGIN: usize = 4;

/// An SVG element of the class `qr`: black on white in every colour scheme, because readers expect dark modules on a light
/// ground. Empty if the link is too long for a code.
pub fn svg(link: &str) -> String {
    let Ok(code) = QrCode::with_error_correction_level(link, EcLevel::M) else {
        return String::new();
    };
    let width = code.width();
    let side = width + 2 * MARGIN;
    let mut path = String::new();
    for (y, row) in code.to_colors().chunks(width).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|left, right| left == right) {
            if run.first() == Some(&Color::Dark) {
                // Writing into a String cannot fail.
                let _ = write!(path, "M{} {}h{len}v1h-{len}z", x + MARGIN, y + MARGIN, len = run.len());
            }
            x += run.len();
        }
    }
    format!(
        "<svg class=\"qr\" viewBox=\"0 0 {side} {side}\" role=\"img\" aria-label=\"QR code of the link\" \
         shape-rendering=\"crispEdges\"><rect width=\"{side}\" height=\"{side}\" fill=\"#fff\"/><path d=\"{path}\" \
         fill=\"#000\"/></svg>"
    )
}

/// Lines of half blocks, two modules in a character. The blocks are the light modules, so that the code is right on a dark
/// terminal. The lowest error correction keeps it small. Empty if the link is too long for a code.
pub fn terminal(link: &str) -> String {
    let Ok(code) = QrCode::with_error_correction_level(link, EcLevel::L) else {
        return String::new();
    };
    code.render::<Dense1x2>()
        .dark_color(Dense1x2::Light)
        .light_color(Dense1x2::Dark)
        .quiet_zone(true)
        .module_dimensions(1, 1)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "https://dropleaf.example.org/pay/7Kq2mX9bRt4vW1zYc3";

    /// Draws the path of an SVG code on a grid.
    fn drawn(svg: &str, side: usize) -> Vec<Vec<bool>> {
        let mut grid = vec![vec![false; side]; side];
        let path = svg.split(" d=\"").nth(1).unwrap().split('"').next().unwrap();
        for run in path.split('M').skip(1) {
            let (place, rest) = run.split_once('h').unwrap();
            let (x, y) = place.split_once(' ').unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            let len: usize = rest.split('v').next().unwrap().parse().unwrap();
            assert_eq!(rest, format!("{len}v1h-{len}z"));
            grid[y][x..x + len].fill(true);
        }
        grid
    }

    #[test]
    fn the_svg_has_every_dark_module_inside_a_margin() {
        let code = QrCode::with_error_correction_level(LINK, EcLevel::M).unwrap();
        let (width, colors) = (code.width(), code.to_colors());
        let side = width + 8;
        let svg = svg(LINK);
        assert!(svg.contains(&format!("viewBox=\"0 0 {side} {side}\"")), "{svg}");
        assert!(svg.contains("role=\"img\" aria-label=\"QR code of the link\""));
        assert!(svg.contains("fill=\"#fff\"") && svg.contains("fill=\"#000\"") && !svg.contains("style"));
        let grid = drawn(&svg, side);
        for (y, row) in grid.iter().enumerate() {
            for (x, is_dark) in row.iter().enumerate() {
                let is_inside = (4..4 + width).contains(&x) && (4..4 + width).contains(&y);
                let expected = is_inside && colors[(y - 4) * width + x - 4] == Color::Dark;
                assert_eq!(*is_dark, expected, "{x} {y}");
            }
        }
    }

    #[test]
    fn a_terminal_of_eighty_columns_has_room_for_the_code() {
        let text = terminal(LINK);
        let lines: Vec<&str> = text.lines().collect();
        // 29 modules with a margin of 4 on each side, two modules in the height of a line.
        assert_eq!(lines.len(), 19);
        assert!(lines.iter().all(|line| line.chars().count() == 37), "{text}");
        assert!(text.chars().all(|c| " \u{2580}\u{2584}\u{2588}\n".contains(c)));
        assert_eq!(lines[0], "\u{2588}".repeat(37), "the margin is light");
        assert!(
            lines
                .iter()
                .all(|line| line.starts_with("\u{2588}\u{2588}\u{2588}\u{2588}") || *line == lines[18])
        );
    }

    #[test]
    fn a_link_that_is_too_long_has_no_code() {
        let long = "x".repeat(5000);
        assert_eq!((svg(&long), terminal(&long)), (String::new(), String::new()));
    }
}
