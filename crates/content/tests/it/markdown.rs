//! Markdown pages: what readers expect is there, and nothing of it can run.

use std::fmt::Write;
use std::time::Duration;

use dropleaf_content::{Bundle, Kind};

use crate::support::{text_of, upload};

fn page(source: &str) -> (Bundle, String) {
    let bundle = upload("notes.md", source.to_owned()).unwrap();
    let html = text_of(&bundle, "index.html");
    (bundle, html)
}

/// The part of the page that the author wrote.
fn body(source: &str) -> String {
    let html = page(source).1;
    let start = html.find("<main>\n").unwrap() + 7;
    html[start..html.rfind("</main>").unwrap()].to_owned()
}

#[test]
fn a_page_and_its_source_are_kept() {
    let source = "# Hello\n\nworld\n";
    let (bundle, html) = page(source);
    assert_eq!(
        (bundle.kind, bundle.title.as_str(), bundle.entry.as_str()),
        (Kind::Markdown, "Hello", "index.html")
    );
    assert_eq!(text_of(&bundle, "_dropleaf/source.md"), source);
    assert_eq!(bundle.files[0].mime, "text/markdown; charset=utf-8");
    assert_eq!(bundle.files[1].mime, "text/html; charset=utf-8");
    assert_eq!(bundle.size_bytes, html.len() as u64, "the source is not for viewers");
    assert!(html.starts_with("<!doctype html>") && html.contains("<title>Hello</title>"));
    assert!(html.contains("prefers-color-scheme: dark"));
}

#[test]
fn the_title_is_the_first_heading_or_the_file_name() {
    assert_eq!(page("text\n\n## A *b* `c`\n\n# D").0.title, "A b c");
    assert_eq!(page("text").0.title, "notes");
    let (bundle, html) = page("# &lt;/title>&lt;script>alert(1)");
    assert_eq!(bundle.title, "</title><script>alert(1)");
    assert!(!html.contains("<script"));
}

#[test]
fn nothing_in_the_output_can_run() {
    let source = r#"
<script>alert(1)</script>

<img src=x onerror=alert(1)> <b onclick="alert(1)">x</b>

<iframe src="javascript:alert(1)"></iframe>

[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](&#106;avascript:alert(1)) [d](<java
script:alert(1)>) [e](data:text/html,x) [f](vbscript:x) [g]

<javascript:alert(1)> ![h](javascript:alert(1)) ![i](data:image/svg+xml,x)

[g]: javascript:alert(1)

[j](https://ok.example "t\" onmouseover=alert(1) x=\"") ![k" onerror="alert(1)](https://ok.example/i.png)

```"><script>alert(1)</script>
x
```

``` html
</code></pre><script>alert(1)</script>
```

# h <script>alert(1)</script>

[^1]: <script>alert(1)</script> [x](javascript:alert(1))

note[^1] [^"><script>]: x
"#;
    let (bundle, html) = page(source);
    let lower = html.to_lowercase();
    assert!(!lower.contains("<script") && !lower.contains("<iframe") && !lower.contains("<img src=x"));
    for tag in html.split('<').skip(1).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag) {
        let names = tag.split('"').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
        assert!(!names.contains(" on"), "{tag}");
        assert!(!tag.to_lowercase().contains("script:"), "{tag}");
        assert!(!tag.contains("data:"), "{tag}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "raw HTML is shown as text");
    assert!(html.contains("https://ok.example/i.png"));
    assert_eq!(bundle.warnings.len(), 2, "{:?}", bundle.warnings);
}

#[test]
fn github_flavour_is_spoken() {
    let html = body(
        "| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n\n~~gone~~ see https://a.example/x_y_z.\n\n\
         > [!WARNING]\n> careful\n\nnote[^n]\n\n[^n]: the `note`\n\n        code in the note\n\n## Same\n\n## Same\n",
    );
    for part in [
        "<div class=\"table\" role=\"group\" aria-label=\"a, b\" tabindex=\"0\"><table>",
        "<td style=\"text-align: right\">2</td>",
        "<label class=\"task\"><input type=\"checkbox\" disabled checked>\ndone</label>",
        "<del>gone</del>",
        "<a href=\"https://a.example/x_y_z\">https://a.example/x_y_z</a>.",
        "<blockquote class=\"markdown-alert-warning\">\n<p class=\"alert\">Warning</p>",
        "<sup class=\"fn\"><a href=\"#fn:1\" id=\"fnref:1\">1</a></sup>",
        "<section class=\"footnotes\">\n<ol>\n<li id=\"fn:1\" value=\"1\">",
        "<code>note</code>",
        "<pre tabindex=\"0\"><code>code in the note",
        "<h2 id=\"same\">",
        "<h2 id=\"same-1\">",
    ] {
        assert!(html.contains(part), "{part} is missing from {html}");
    }
    assert!(html.find("the <code>").unwrap() > html.find("Same").unwrap(), "notes come last");
}

#[test]
fn direction_follows_the_text_of_each_block() {
    let (_, html) = page(
        "# שלום\n\nפסקה ראשונה של המסמך.\n\nAn English paragraph.\n\n- אחת\n- two\n\n> ציטוט\n\n\
         | שם | Name |\n|---|---|\n| א | b |\n\n```js\nlet x;\n```\n\nהערה[^1]\n\n[^1]: הערת שוליים ארוכה\n",
    );
    for part in [
        "<html dir=\"rtl\">",
        "<p>פסקה",
        "<p dir=\"ltr\">An English",
        "<li>אחת",
        "<li dir=\"ltr\">two",
        "<blockquote>\n<p>ציטוט",
        "<th dir=\"ltr\">Name</th>",
        "<td>א</td><td dir=\"ltr\">b</td>",
        "<li id=\"fn:1\" value=\"1\">",
    ] {
        assert!(html.contains(part), "{part} is missing from {html}");
    }
    let (_, html) = page("# English\n\nMost of this is English.\n\n1. פריט\n\n> ציטוט\n");
    for part in [
        "<html dir=\"ltr\">",
        "<h1 id=\"english\">",
        "<li dir=\"rtl\">פריט",
        "<blockquote dir=\"rtl\">\n<p>ציטוט",
    ] {
        assert!(html.contains(part), "{part} is missing from {html}");
    }
}

#[test]
fn language_is_stated_by_the_front_matter_and_never_guessed() {
    assert!(page("---\nlang: he\n---\n\nשלום\n").1.contains("<html lang=\"he\" dir=\"rtl\">"));
    assert!(page("---\nlang: ar\ndir: rtl\n---\n\n2026\n").1.contains("<html lang=\"ar\" dir=\"rtl\">"));
    assert!(page("Bonjour tout le monde\n").1.contains("<html dir=\"ltr\">"));
    assert!(page("---\nlang: \"><script>\"\n---\n\nx\n").1.contains("<html dir=\"ltr\">"));
}

#[test]
fn task_boxes_are_named_by_the_text_of_their_task() {
    let html = body(
        "- [x] buy **milk** and `eggs`\n  - [ ] nested\n- [ ] <!-- nothing -->\n\n1. [ ] loose\n\n   more\n",
    );
    for part in [
        "<label class=\"task\"><input type=\"checkbox\" disabled checked>\nbuy <strong>milk</strong> and <code>eggs</code></label>",
        "<label class=\"task\"><input type=\"checkbox\" disabled>\nnested</label>",
        "<span class=\"unseen\">Task</span></label>",
        "<label class=\"task\"><input type=\"checkbox\" disabled>\nloose</label></p>\n<p>more</p>",
    ] {
        assert!(html.contains(part), "{part} is missing from {html}");
    }
    assert_eq!(html.matches("<label").count(), html.matches("</label>").count());
}

#[test]
fn tables_are_called_what_their_columns_are_called() {
    let html = body("| A \"b\" | `c` |\n|---|---|\n| 1 | 2 |\n\n|  |  |\n|---|---|\n| 1 | 2 |\n");
    assert!(
        html.contains("aria-label=\"A &quot;b&quot;, c\" tabindex=\"0\"><table><thead><tr><th>A"),
        "{html}"
    );
    assert!(html.contains("aria-label=\"Table\""), "{html}");
    let wide = body(&format!("|{}\n|{}\n", "column|".repeat(200), "-|".repeat(200)));
    assert!(wide.contains(", column…\"") || wide.contains("…\" tabindex"), "{wide:.400}");
}

#[test]
fn allowed_links_and_pictures_survive() {
    let html = body(
        "[a](https://x.example/?a=1&b=2) [b](other.html#x) <me@x.example> [c](mailto:me@x.example) [d](#top)\n\n\
         ![p](pic.png) ![q](data:image/png;base64,AAAA) [![r](r.png)](https://y.example)\n",
    );
    for part in [
        "href=\"https://x.example/?a=1&amp;b=2\"",
        "href=\"other.html#x\"",
        "href=\"mailto:me@x.example\">me@",
        "href=\"#top\"",
        "<img src=\"pic.png\" alt=\"p\"",
        "src=\"data:image/png;base64,AAAA\"",
        "<a href=\"https://y.example\"><img src=\"r.png\"",
    ] {
        assert!(html.contains(part), "{part} is missing from {html}");
    }
}

#[test]
fn code_is_coloured_and_labelled() {
    let html = body("```rust,ignore\nfn main() {}\n```\n\n    plain\n\n```\nbare\n```\n");
    assert!(html.contains("<pre data-lang=\"rust\" tabindex=\"0\"><code><span class=\"k\">fn"), "{html}");
    assert!(html.contains("<pre tabindex=\"0\"><code>plain\n</code></pre>"));
}

#[test]
fn front_matter_comments_and_line_breaks_do_not_show() {
    let html = body("---\ntitle: x\n---\n\n<!-- hidden -->\n\na<br>b <!-- c --> d\n");
    assert!(!html.contains("hidden") && !html.contains("title:") && !html.contains("c --"));
    assert!(html.contains("a<br />\nb  d"), "{html}");
    let (bundle, _) = page("<!-- a --> <script>x</script> -->\n");
    assert_eq!(bundle.warnings.len(), 1);
}

#[test]
fn utf16_and_byte_order_marks_are_understood() {
    let bytes: Vec<u8> = "\u{feff}# H\u{e9}".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(upload("a.md", bytes).unwrap().title, "H\u{e9}");
    assert_eq!(page("\u{feff}# T").0.title, "T");
}

#[test]
fn very_long_documents_are_shown_as_plain_text() {
    let source = "# Not a heading <b> & more \u{e9}\n".repeat(100_000);
    let (bundle, html) = page(&source);
    assert_eq!(bundle.title, "notes");
    assert!(bundle.warnings[0].contains("plain text"));
    assert!(html.contains("<pre class=\"plain\"># Not a heading &lt;b&gt; &amp; more \u{e9}\n"));
    assert_eq!(text_of(&bundle, "_dropleaf/source.md"), source);
}

/// Processor time of this thread so far. Unlike time on the clock it does not grow while other programs run.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
}

/// Each input is built to trip parsers that go back and forth; all must take seconds at worst,
/// even in a build without optimisation on a busy machine.
#[test]
fn hostile_nesting_takes_linear_time() {
    const SIZE: usize = 200_000;
    let footnotes = (0..SIZE / 20).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "[^{n}]: [^{n}]");
        text
    });
    let wide = format!("|{}\n|{}\n{}", "a|".repeat(1000), "-|".repeat(1000), "|b|\n".repeat(SIZE / 8));
    let nested_notes = (0..2000).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}[^{n}]: x", "    ".repeat(n % 100));
        text
    });
    let mut inputs = vec![footnotes, wide, nested_notes, "[^a]: ".repeat(SIZE / 6), "# a\n".repeat(SIZE / 4)];
    for unit in [
        ">",
        "- ",
        "*",
        "_a ",
        "[",
        "![",
        "](",
        "[a](",
        "<",
        "<a ",
        "`",
        "~~~\n",
        "```js\n",
        "&",
        "\\",
        "(",
        "*a_ ",
        "[^1]",
        "https://",
        "www.",
        "|",
        "1. ",
        "\ta",
        "<!--",
        "\u{0301}",
        "> [!NOTE]\n",
        "[a]: b\n",
    ] {
        inputs.push(unit.repeat(SIZE / unit.len()));
    }
    for input in inputs {
        let started = processor_time();
        upload("a.md", input.clone()).unwrap();
        let taken = processor_time().saturating_sub(started);
        assert!(taken < Duration::from_secs(20), "{:?}… took {taken:?}", &input[..20.min(input.len())]);
    }
}
