//! Tests that sanitized untrusted HTML is always balanced, consists of allowed elements only, and takes linear time.

use std::fmt::Write;
use std::time::Duration;

use super::*;

const VECTORS: &str = include_str!("../../tests/xss/vectors.txt");

/// The attack vectors used by the tests here and in a browser.
fn vectors() -> impl Iterator<Item = &'static str> {
    VECTORS.split("\n%%\n").map(|vector| vector.trim_end_matches('\n'))
}

/// Parses sanitized HTML strictly: anything that the sanitizer would not have written is a failure.
fn check(html: &str) {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find(['<', '>']) {
        assert!(rest[at..].starts_with('<'), "a stray bracket: {html}");
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap_or_else(|| panic!("an open tag: {html}"));
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{html}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let element = elements::find(name).unwrap_or_else(|| panic!("<{name}>: {html}"));
        if element.form != Form::Void {
            open.push(name);
        }
        let parts: Vec<&str> = attributes.split('"').collect();
        assert!(parts.len() % 2 == 1 && parts.last() == Some(&""), "{tag}");
        for pair in parts.chunks_exact(2) {
            let key = pair[0].trim_start().trim_end_matches('=');
            assert!(key.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{tag}");
            assert!(!key.starts_with("on") && !matches!(key, "style" | "class"), "{tag}");
            let value = pair[1].to_ascii_lowercase();
            if matches!(key, "href" | "src" | "srcset" | "cite") {
                assert!(!value.contains("script:") && !value.contains("data:text"), "{tag}");
            }
        }
    }
    assert!(open.is_empty(), "{open:?} left open: {html}");
}

#[test]
fn known_attacks_leave_nothing_that_runs() {
    assert!(vectors().count() >= 60, "{}", vectors().count());
    for vector in vectors() {
        check(&sanitize(vector));
        // Sanitizing is idempotent: a browser parses exactly what was written.
        let once = sanitize(vector);
        assert_eq!(sanitize(&once), once, "{vector}");
    }
}

#[test]
fn known_attacks_stay_harmless_when_they_are_cut_or_joined() {
    let all = vectors().collect::<Vec<_>>().join(" ");
    check(&sanitize(&all));
    for vector in vectors() {
        for end in (0..vector.len()).filter(|end| vector.is_char_boundary(*end)) {
            check(&sanitize(&vector[..end]));
            check(&sanitize(&vector[end..]));
        }
    }
}

#[test]
fn elements_are_nested_as_browsers_nest_them() {
    for (input, expected) in [
        ("<p>a<p>b", "<p>a</p><p>b</p>"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>d"),
        ("<b><i>x</b>y</i>", "<b><i>x</i></b>y"),
        (
            "<table><tr><td>a<td>b<tr><th>c</table>",
            "<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>",
        ),
        ("<td>a</td>", "a"),
        ("<div><table><td></div>x</table>", "<div><table><td>x</td></table></div>"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"),
        ("<a href=x>a<a href=y>b", "<a href=\"x\">a</a><a href=\"y\">b</a>"),
        ("</div></p>x", "x"),
        ("<CENTER>x</center>", "<div align=\"center\">x</div>"),
        ("<script>x</script>y<svg><p>z</p></svg><style>q</style>", "y"),
        ("<form action=x><input><button>Go</button></form>", "Go"),
        ("<p>a<div>b</div>", "<p>a</p><div>b</div>"),
        ("a < b && c &lt;d&gt; &copy;", "a &lt; b &amp;&amp; c &lt;d&gt; ©"),
        ("<!-- x -->y<!--z", "y"),
    ] {
        assert_eq!(sanitize(input), expected, "{input}");
    }
}

#[test]
fn pieces_share_their_open_elements_within_the_trusted_element_around_them() {
    let mut sanitizer = Sanitizer::new(unchanged);
    assert_eq!(sanitizer.write("<details><summary>S</summary>"), "<details><summary>S</summary>");
    sanitizer.enter();
    assert_eq!(sanitizer.write("<b>"), "<b>");
    assert_eq!(sanitizer.write("</details>"), "", "an element inside cannot end one outside");
    assert_eq!(sanitizer.leave(), "</b>");
    assert_eq!(sanitizer.write("</details>"), "</details>");
    assert_eq!(sanitizer.close_all(), "");
}

/// CPU time of this thread so far. Unlike wall-clock time it does not grow while other programs run.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
}

#[test]
fn hostile_nesting_takes_linear_time_and_room() {
    const SIZE: usize = 1 << 20;
    for unit in [
        "<div>",
        "<b>",
        "<b id=x>",
        "<a href=x>",
        "<p>",
        "<table>",
        "<table><tr><td>",
        "<li>",
        "</div>",
        "<b><p>",
        "<svg>",
        "<math><mi>",
        "<template>",
        "<!--",
        "<![CDATA[",
        "<script>",
        "<title>",
        "<a ",
        "<a b=",
        "<a b='",
        "&",
        "&#",
        "<",
        "</",
        "<details><summary>",
        "<picture><source>",
        "<q></p>",
        "<ruby><rt>",
        "<h1>",
    ] {
        let input = unit.repeat(SIZE / unit.len());
        let started = processor_time();
        let made = sanitize(&input);
        let taken = processor_time().saturating_sub(started);
        assert!(taken < Duration::from_secs(10), "{unit} took {taken:?}");
        assert!(made.len() <= input.len() * 6, "{unit} became {} bytes", made.len());
    }
    let formatting = (0..20_000).fold(String::new(), |mut text, n| {
        let _ = write!(text, "<b title={n}>");
        text
    });
    assert!(sanitize(&format!("{formatting}{}", "<p>x".repeat(20_000))).len() < 1 << 20);
}
