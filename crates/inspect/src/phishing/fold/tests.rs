//! Tests that different spellings of the same visible word fold to the same text.

use super::*;

#[test]
fn readers_see_the_same_word() {
    for text in [
        "PayPal",
        "P\u{430}yP\u{430}l",
        "Ρ\u{430}уР\u{430}l",
        "Pay\u{200b}Pal",
        "P&#97;yPal",
        "&#80aypal",
        "Pay&shy;P&#0000000097;l",
        "ｐａｙｐａｌ",
        "𝐏𝐚𝐲𝐏𝐚𝐥",
        "PayPaI",
        "P&alpha;yP&acy;l",
        "&Rho;ayPal",
        "paypa1",
        "PÁYPÀL",
        "&zwnj;paypal",
        "&Popf;&aopf;&yopf;&Pfr;&afr;&lfr;",
        "&#80&#97&#121&#80&#97&#108",
        "&#x50&#x61&#x79Pal",
    ] {
        assert_eq!(fold(text), "paypal", "{text}");
    }
}

#[test]
fn space_is_single_and_other_scripts_stay() {
    assert_eq!(fold(" a\n\t b&nbsp;&nbsp;c\u{3000}d "), "a b c d");
    assert_eq!(fold("密码 비밀번호 كلمة"), "密码 비밀번호 كلمة");
    assert_eq!(fold("sign&hyphen;in"), "sign-in");
    assert_eq!(fold("AT&T &amp; &copy 2024 &bogus; 10 h1 x"), "at&t & © 2024 &bogus; 10 hl x");
}

#[test]
fn it_does_not_matter_where_a_word_begins() {
    let text = "PayPaI and micr0soft  are\n names, of [Acorn]\u{200b}s; AT&amp;T too, 10 & 1 I";
    let folded = fold(text);
    assert_eq!(folded, "paypal and microsoft are names of [acorn]s; at&t too 10 & 1 i");
    for before in 1..40 {
        let lead = "y".repeat(before);
        assert_eq!(fold(&format!("{lead} {text} ")), format!("{lead} {folded}"), "{before}");
        assert_eq!(fold(&format!("{lead}\n {text}")), format!("{lead} {folded}"), "{before}");
    }
}

#[test]
fn imitations_are_remembered_by_place() {
    let mut folded = Folded::default();
    folded.add("ok P\u{430}ypal");
    assert!(folded.is_imitated(3, 9));
    assert!(!folded.is_imitated(0, 2));
    assert!(!folded.is_imitated(5, 9));
}
