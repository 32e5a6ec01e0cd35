//! Markdown pages: the expected elements are there, and nothing of it can run.

use std::fmt::Write;
use std::time::Duration;

use dropleaf_content::{Bundle, BundleKind};

use crate::support::{text_of, upload, zip_of, zip_of_bytes};

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
        (BundleKind::Markdown, "Hello", "index.html")
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
    let (bundle, _) = page(source);
    let html = body(source);
    let lower = html.to_lowercase();
    assert!(!lower.contains("<script") && !lower.contains("<iframe"));
    for tag in html.split('<').skip(1).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag) {
        let names = tag.split('"').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
        assert!(!names.contains(" on"), "{tag}");
        assert!(!tag.to_lowercase().contains("script:"), "{tag}");
        assert!(!tag.contains("data:"), "{tag}");
    }
    assert!(html.contains("<b>x</b>"), "what is harmless of raw HTML is kept");
    assert!(html.contains("https://ok.example/i.png"));
    assert_eq!(bundle.warnings.len(), 3, "{:?}", bundle.warnings);
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
        "<label class=\"task\"><input type=\"checkbox\" disabled checked>\nbuy <strong>milk</strong> and \
         <code>eggs</code></label>",
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
    assert!(html.contains("a<br>b  d"), "{html}");
    let (bundle, _) = page("<!-- a --> <script>x</script> -->\n");
    assert_eq!(bundle.warnings.len(), 1);
}

#[test]
fn html_of_readmes_is_shown_as_on_github() {
    let html = body(
        "<h1 align=\"center\">\n  <img src=\"logo.png\" width=\"120\" alt=\"Logo\"><br>\n  Orchard :apple:\n</h1>\n\n\
         <p align=\"center\">\n<a href=\"https://ci.example\"><img src=\"https://ci.example/badge.svg\" \
         height=\"20\"></a>\n</p>\n\n\
         <details>\n<summary>More <b>words</b></summary>\n\n- one `<x>`\n- **two**\n\n```js\nlet x;\n```\n\n</details>\n\n\
         Press <kbd>Ctrl</kbd>+<kbd>C</kbd>, H<sub>2</sub>O, <a name=\"here\"></a>[go](#here)\n\n\
         <table><tr><td>\n\n**bold**\n\n</td><td>x</td></tr></table>\n\n\
         <picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"dark.png\">\n<img src=\"light.png\">\n</picture>\n",
    );
    for part in [
        "<h1 id=\"orchard-\" align=\"center\">",
        "<img src=\"logo.png\" width=\"120\" alt=\"Logo\"><br>",
        "Orchard 🍎",
        "<a href=\"https://ci.example\"><img src=\"https://ci.example/badge.svg\" height=\"20\"></a>",
        "<details>\n<summary>More <b>words</b></summary>\n",
        "<li>one <code>&lt;x&gt;</code></li>",
        "</code></pre>\n</details>",
        "<kbd>Ctrl</kbd>+<kbd>C</kbd>, H<sub>2</sub>O",
        "<a name=\"user-content-here\"></a><a href=\"#user-content-here\">go</a>",
        "<table><tr><td>\n<p><strong>bold</strong></p>\n</td><td>x</td></tr></table>",
        "<source media=\"(prefers-color-scheme: dark)\" srcset=\"dark.png\">",
    ] {
        assert!(html.contains(part), "{part} is missing from {html}");
    }
    assert_eq!(page("<h1 align=center>Orchard</h1>\n\ntext\n").0.title, "Orchard");
}

#[test]
fn html_never_ends_what_markdown_has_opened() {
    for source in [
        "- a <b>\n- </ul></li> b\n\n> <div>\n\n| a </table></div> | <td> |\n|---|---|\n| <details> | b |\n",
        "<div title=\"\n\n```\n\" onmouseover=alert(1) x=\"\n```\n",
        "a <div>b\n\nc </div></main></body> d\n\n[x <b>](y) ![<i>](z)\n",
        "note[^1]\n\n<details>\n\n[^1]: <b>x</div></section>\n\n- [ ] <b>task\n",
        "text <script>alert(1)</script> more <svg>x *y*\n\n</svg>\n",
    ] {
        let html = body(source);
        assert!(
            !html.split('<').any(|part| part.split('>').next().is_some_and(|tag| tag.contains("onmouse"))),
            "{html}"
        );
        assert_balanced(&html);
    }
    assert!(!body("a <script>alert(1)</script> b").contains("alert"));
}

/// Asserts that every element is closed where it should be.
fn assert_balanced(html: &str) {
    let mut open = Vec::new();
    for tag in html.split('<').skip(1).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{html}");
        } else if !matches!(name, "br" | "hr" | "img" | "input" | "source" | "wbr" | "col") {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} is open: {html}");
}

#[test]
fn formulas_are_typeset_and_money_is_not() {
    let html =
        body("Let $x^2$ be.\n\n$$\\sum_{i=1}^n i$$\n\n```math\na+b\n```\n\n## The $y$ axis\n\n$\\nosuch$\n");
    for part in [
        "Let <math><msup><mi>x</mi><mn>2</mn></msup></math> be.",
        "<math display=\"block\"><munderover>",
        "<math display=\"block\"><mi>a</mi><mo>+</mo><mi>b</mi></math>",
        "<h2 id=\"the-y-axis\">The <math><mi>y</mi></math> axis",
        "<code>$\\nosuch$</code>",
    ] {
        assert!(html.contains(part), "{part} is missing from {html}");
    }
    for text in [
        "costs $5 and $10",
        "$5-$10 a day",
        "US$5, US$6",
        "it is $20,000 to $30,000",
        "a$b$c",
        "\\$x\\$",
        "`$x$`",
        "$5",
    ] {
        let html = body(text);
        assert!(!html.contains("<math") && html.contains('$'), "{html}");
    }
}

#[test]
fn diagrams_are_drawn_and_a_warning_names_each_that_is_not() {
    let drawn = "```mermaid\nflowchart TD\n  A[Pick] --> B[Press]\n```\n";
    let (bundle, html) =
        page(&format!("# Plan\n\n{drawn}\n```mermaid\nflowchart TD\n  subgraph Mill\n```\n"));
    assert!(
        html.contains("<svg role=\"img\" aria-label=\"Flowchart\"") && html.contains(">Press<"),
        "{html}"
    );
    assert_eq!(html.matches("<svg").count(), 1);
    assert_eq!(html.matches("<pre data-lang=\"mermaid\"").count(), 2, "both have their source");
    assert_eq!(
        bundle.warnings,
        ["The Mermaid diagram at line 10 is shown as source text: it could not be parsed."]
    );
    let bundle = upload("docs.zip", zip_of(&[("README.md", drawn), ("guide.md", drawn)])).unwrap();
    for page in ["index.html", "guide.html"] {
        assert!(text_of(&bundle, page).contains("<svg role=\"img\""), "{page}");
    }
}

#[test]
fn code_can_be_copied_by_a_script_that_only_pages_with_code_have() {
    let (_, html) = page("```\nx\n```\n");
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(html.ends_with("</script>\n</body>\n</html>\n"));
    assert!(!page("no code").1.contains("<script"));
}

#[test]
fn pictures_that_were_not_sent_are_warned_about_in_one_line() {
    let warnings =
        page("![a](a.png) ![b](b/c.png) <img src=\"https://x.example/d.png\"> <img src='e.png'>\n")
            .0
            .warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        warnings[0],
        "Missing from the upload: a.png, b/c.png and e.png (in notes.md). Publish a .zip with the document and its files."
    );
}

#[test]
fn pictures_are_judged_in_every_form_that_markdown_has() {
    for source in [
        "![p](/gone.png)",
        "<img src=\"/gone.png\">",
        "<img srcset=\"/gone.png 2x\" src=\"https://x.example/a.png\">",
        "<picture><source srcset=\"/gone.png\"><img src=\"https://x.example/a.png\"></picture>",
    ] {
        let (bundle, _) = page(source);
        assert!(
            bundle.warnings.len() == 1
                && bundle.warnings[0].starts_with("Missing from the upload: /gone.png (in notes.md)."),
            "{source}: {:?}",
            bundle.warnings
        );
        let files = [("README.md", source), ("p.png", "x")];
        let warnings = upload("a.zip", zip_of(&files)).unwrap().warnings;
        assert!(
            warnings.len() == 1
                && warnings[0].starts_with("Missing from the upload: /gone.png (in README.md)."),
            "{source}: {warnings:?}"
        );
        let sent = [("README.md", source), ("gone.png", "x")];
        let bundle = upload("a.zip", zip_of(&sent)).unwrap();
        assert!(
            bundle.warnings.is_empty() && bundle.addressing.root_paths,
            "{source}: {:?}",
            bundle.warnings
        );
    }
    assert_eq!(page("![p]({{ picture }}) ![q](https://x.example/q.png)").0.warnings, [""; 0]);
}

#[test]
fn an_archive_of_markdown_is_warned_about_once_for_each_cause() {
    let bad = "A <script>1</script> <custom-element>x</custom-element>\n\n[x](javascript:1) ![p](gone.png)\n";
    let files: Vec<(String, &str)> = (0..7).map(|n| (format!("docs/{n}.md"), bad)).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    files.push(("README.md", "# Start\n\n![p](first.png)\n"));
    assert_eq!(
        upload("a.zip", zip_of(&files)).unwrap().warnings,
        [
            "Missing from the upload: gone.png (in docs/0.md) and first.png (in README.md). Add the missing files to the \
             archive or correct the paths.",
            "Unsupported HTML was removed from docs/0.md, docs/1.md, docs/2.md, docs/3.md, docs/4.md \
             and 2 more: <custom-element> and <script>. Add an .html file to the archive to publish HTML unchanged.",
            "Links other than http, https, mailto and relative links were removed from docs/0.md, docs/1.md, docs/2.md, \
             docs/3.md, docs/4.md and 2 more.",
        ]
    );
}

#[test]
fn elements_that_are_left_out_are_counted() {
    let source = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| format!("<x-{n}>a</x-{n}> ")).concat();
    let warnings = page(&source).0.warnings;
    assert!(warnings[0].contains("<x-0>, <x-1>, <x-2>, <x-3>, <x-4> and 3 more."), "{warnings:?}");
}

#[test]
fn a_readme_opens_before_a_page_of_another_name() {
    for page in ["docs/demo.html", "docs/index.html", "report.html"] {
        let archive = zip_of(&[("README.md", "# Start"), (page, "<title>x</title>")]);
        let bundle = upload("a.zip", archive).unwrap();
        assert_eq!((bundle.title.as_str(), bundle.entry.as_str()), ("Start", "index.html"), "{page}");
        let line =
            format!("README.md is the start page. To use {page} instead, put it at the root as index.html.");
        assert_eq!(bundle.warnings, [line]);
    }
}

#[test]
fn an_archive_of_markdown_becomes_pages_that_link_to_each_other() {
    let archive = zip_of(&[
        (
            "repository-main/README.md",
            "# Start\n\n[guide](docs/guide.md#part) [x](none.md) ![p](p.png) ![q](missing.png)\n",
        ),
        ("repository-main/docs/guide.md", "# Guide\n\n[back](../README.md)\n"),
        ("repository-main/p.png", "x"),
    ]);
    let bundle = upload("a.zip", archive).unwrap();
    assert_eq!((bundle.title.as_str(), bundle.entry.as_str()), ("Start", "index.html"));
    let index = text_of(&bundle, "index.html");
    assert!(
        index.contains("<a href=\"docs/guide.html#part\">guide</a> <a href=\"none.md\">x</a>"),
        "{index}"
    );
    assert!(text_of(&bundle, "docs/guide.html").contains("<a href=\"../index.html\">back</a>"));
    assert!(text_of(&bundle, "docs/guide.md").starts_with("# Guide"), "the documents stay");
    assert_eq!(bundle.warnings.len(), 1, "{:?}", bundle.warnings);
    assert!(bundle.warnings[0].contains("missing.png"));
    let with_page = upload("a.zip", zip_of(&[("index.html", "<p>x"), ("README.md", "# R")])).unwrap();
    assert_eq!(with_page.files.len(), 2, "an archive with a page of its own is left as it is");
    assert!(upload("a.zip", zip_of_bytes(&[("README.md", b"caf\xe9")])).is_err());
}

#[test]
fn the_front_matter_may_state_the_title() {
    assert_eq!(page("---\ntitle: The harvest\n---\n\n# Another\n").0.title, "The harvest");
}

#[test]
fn long_pages_have_a_table_of_contents_before_their_first_section() {
    let sections = |count: usize| {
        (1..=count).fold("# Title\n\nIntroduction\n\n".to_owned(), |mut text, n| {
            let _ = writeln!(text, "## Part {n}\n\n{}\n\n### Detail <{n}\n", "Many words. ".repeat(150));
            text
        })
    };
    let html = body(&sections(4));
    let at = html.find("<details class=\"contents\">").expect(&html);
    assert!(html.find("Introduction").unwrap() < at && at < html.find("<h2 id=\"part-1\">").unwrap());
    assert!(html.contains(
        "<li><a href=\"#part-2\">Part 2</a></li>\n<li class=\"part\"><a href=\"#detail-2\">Detail \
                           &lt;2</a></li>"
    ));
    assert!(!body(&sections(1)).contains("class=\"contents\""), "a short page has none");
    assert!(
        !body(&format!("{}\n## Contents\n", sections(4))).contains("class=\"contents\""),
        "one is enough"
    );
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

/// CPU time of this thread so far. Unlike wall-clock time, it does not grow while other programs run.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
}

/// Each input is built to make backtracking parsers slow; all must take seconds at worst, even in a debug build on a
/// busy machine.
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

/// Five kilobytes of a table with five hundred columns, which would render to nine megabytes.
fn wide_table() -> String {
    let row = "|b".repeat(512);
    format!("{row}|\n{}|\n{}", "|:-:".repeat(512), "|b\n".repeat(500))
}

#[test]
fn small_documents_do_not_become_large_pages() {
    let table = wide_table();
    let page = upload("a.md", table.clone()).unwrap();
    assert!(page.size_bytes < 2 << 20, "{}", page.size_bytes);
    let documents: Vec<(String, String)> =
        (0..100).map(|n| (format!("{n}.md"), format!("{table}\n\n{}", "text ".repeat(10_000)))).collect();
    let mut files: Vec<(&str, &str)> =
        documents.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.push(("README.md", "# All"));
    let archive = upload("a.zip", crate::support::zip_of(&files)).unwrap();
    assert!(archive.size_bytes < 50 << 20, "{}", archive.size_bytes);
    let output = serde_json::json!({"data": {"text/markdown": table}});
    let cell = serde_json::json!({"cell_type": "code", "source": "", "outputs": vec![output; 60]});
    let notebook = serde_json::json!({"cells": [cell]}).to_string();
    let page = upload("a.ipynb", notebook).unwrap();
    assert!(page.size_bytes < 16 << 20, "{}", page.size_bytes);
}
