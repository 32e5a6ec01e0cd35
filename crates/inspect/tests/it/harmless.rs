//! The quick proof that a page is harmless never contradicts the check.

use std::sync::LazyLock;

use dropleaf_inspect::phishing::{File, Rules, check, is_harmless};
use proptest::prelude::*;

use crate::support::fixtures;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::builtin);

/// Parts of pages: text to read, lures and ways to hide them, and what makes a page more than something to read.
const PARTS: [&str; 50] = [
    "<p>The figures of the quarter grew by 12 % in the north and by 18 % in the south.</p>",
    "<li>Sales of 1800 units at 4.50 each",
    "<h2>Your computer has been blocked</h2>",
    "<p>Virus detected. Do not turn off this device.",
    "<p>Trojan detected, spyware detected",
    "<div>Call support immediately</div>",
    "your computer is infected ",
    "1-800-555-0199 ",
    "+1 (888) 555-0142",
    "8<b>0</b>0 555 0199 44",
    "8&#48;0 555 0199 44",
    "&#56;00 555 0199 44",
    "８０0 555 0199 44",
    "8\u{ad}00\u{200b} 555 0199 44",
    "800,  555,\n\n\t 0199, 44",
    "8",
    "88",
    "0",
    "<b>",
    "</b>",
    "<td>",
    "<a href=tel:+18005550199>Call</a>",
    "<a href=https://acorn.example/>More</a>",
    "<img alt='1-800-555-0199' src=a.png>",
    "<img src=a.png>",
    "<meta property=og:title content='Call 1-855-555-0199'>",
    "<title>Warning: PayPal</title>",
    "<h1>I am not a robot</h1>",
    "<p>Press Windows + R, press Ctrl + V and press Enter to verify you are human.",
    "<p>Scan the QR code with PayPal to verify your account, it was suspended.",
    "<div hidden>",
    "<dialog>",
    "<canvas>",
    "<p hidden>",
    "<style>p.x{display:none}</style>",
    "<map><area href=\"javascript:location='https://acorn.example'\"></map>",
    "<svg><a xlink:href=\"javascript:location='https://acorn.example'\">",
    "<div class=x>",
    "</div>",
    "<style>.x{display:none}</style>",
    "<style>p{margin:0}</style>",
    "<svg><style>",
    "<svg><title>",
    "</svg>",
    "<span style='font-size:0'>",
    "</span>",
    "<input type=password>",
    "<script>location='https://acorn.example'</script>",
    "<!-- saved from url=(0022)https://acorn.example/ -->",
    "<template>",
];

/// Parts of a number, and what may be between them.
const PIECES: [&str; 26] = [
    "800", "855", "88", "8", "0", "555", "0199", "5550199", "44", " ", "  ", "-", "--", "(", ")", ".", ",",
    "\n", "&nbsp;", "&shy;", "&#1;", "&#56;", "\u{200b}", "<b>", "</b>", "<!---->",
];

fn parts(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PARTS[..]), 0..most).prop_map(|parts| parts.concat())
}

fn is_proven_and_refused(page: &str) -> (bool, bool) {
    let files = [File { path: "index.html", text: page }];
    (is_harmless(&files, &RULES), check(&files, &RULES).refused)
}

#[test]
fn no_harvest_page_is_proven() {
    for (name, files) in fixtures("harvest") {
        let files: Vec<File<'_>> = files.iter().map(|(path, text)| File { path, text }).collect();
        assert!(!is_harmless(&files, &RULES), "{name}");
    }
}

#[test]
fn an_alarm_with_a_number_is_refused_and_not_proven() {
    let text = PARTS[0].repeat(25);
    let alarms = PARTS[2..6].concat();
    for number in &PARTS[7..15] {
        let page = format!("{text}{alarms}<p>{number}</p>");
        assert_eq!(is_proven_and_refused(&page), (false, true), "{number}");
    }
    assert_eq!(is_proven_and_refused(&format!("{text}{alarms}")), (true, false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_number_beside_alarms_is_overlooked(number in prop::collection::vec(prop::sample::select(&PIECES[..]), 1..14)) {
        let page = format!("{}{}<p>Call {}.</p>", PARTS[0].repeat(25), PARTS[2..6].concat(), number.concat());
        prop_assert_ne!(is_proven_and_refused(&page), (true, true), "{}", page);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_page_is_proven_and_refused(start in parts(6), text in 0..30_usize, inside in parts(9), more in 0..60_usize, end in parts(6)) {
        let page = format!("{start}{}{inside}{}{end}", PARTS[0].repeat(text), PARTS[1].repeat(more));
        prop_assert_ne!(is_proven_and_refused(&page), (true, true), "{}", page);
    }
}
