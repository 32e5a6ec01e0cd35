//! Changes that a publisher could make to a page that was refused, to get it accepted. Each is applied to every page that
//! the check refuses; the share that is accepted then says what the change is worth.

use std::fmt::Write;

use dropleaf_inspect::phishing::Rules;

use crate::Sample;
use crate::interval;

type Change = fn(&str) -> String;

const CHANGES: [(&str, Change); 28] = [
    ("title: \" clone (tutorial)\" added", |page| {
        in_title(page, |title| format!("{title} clone (tutorial)"))
    }),
    ("title: \" dashboard\" added", |page| in_title(page, |title| format!("{title} dashboard"))),
    ("title replaced", |page| in_title(page, |_| "Welcome".to_owned())),
    ("title emptied", |page| in_title(page, |_| String::new())),
    ("8 KB of prose, display: none", |page| hidden(page, "<div style=\"display:none\">")),
    ("8 KB of prose, hidden by a class", |page| {
        hidden(page, "<style>.x1{position:absolute;left:-9999px}</style><div class=\"x1\">")
    }),
    ("8 KB of prose, hidden attribute", |page| hidden(page, "<section hidden>")),
    ("8 KB of prose, white on white", |page| hidden(page, "<div style=\"color:#fff;background:#fff\">")),
    ("8 KB of prose, one pixel high", |page| {
        hidden(page, "<div style=\"height:1px;overflow:hidden;font-size:1px\">")
    }),
    ("8 KB of prose, in a canvas", |page| hidden(page, "<canvas>")),
    ("8 KB of prose, in a video", |page| hidden(page, "<video>")),
    ("8 KB of prose, in an audio element", |page| hidden(page, "<audio>")),
    ("8 KB of prose, in a closed dialog", |page| hidden(page, "<dialog>")),
    ("8 KB of prose, in an object", |page| hidden(page, "<object data=\"a.svg\">")),
    ("8 KB of prose, hidden by a selector", |page| {
        hidden(page, "<style>main p.x1,p.x1{display:none}</style><p class=\"x1\">")
    }),
    ("8 KB of prose, style with a comment", |page| hidden(page, "<div style=\"display:/**/none\">")),
    ("8 KB of prose, visible", |page| hidden(page, "<div>")),
    ("demo note, prose, no form action", |page| {
        let note = "<p>This is a demo for educational purposes. Nothing is sent.</p>";
        without_actions(&at_end(page, &format!("{note}<div>{}</div>", prose())))
    }),
    ("demo note, hidden", |page| {
        at_end(page, "<p hidden>Demo template for a tutorial, for training purposes, not a real page.</p>")
    }),
    ("training note as a heading", |page| {
        at_start(page, "<h2>Security awareness training: example of a phishing page (tutorial)</h2>")
    }),
    ("no form action", without_actions),
    ("zero-width characters in words", |page| {
        in_texts(page, |text| letters(text, |c| format!("{c}\u{200b}")))
    }),
    ("Cyrillic letters", |page| in_texts(page, |text| letters(text, look_alike))),
    ("character references", |page| in_texts(page, |text| letters(text, |c| format!("&#{};", u32::from(c))))),
    ("headings split by tags", |page| in_texts(page, |text| letters(text, |c| format!("<b>{c}</b>")))),
    ("password fields as text", |page| {
        replace(
            &replace(page, "type=\"password\"", "type=\"text\" style=\"-webkit-text-security:disc\""),
            "type=password",
            "type=text",
        )
    }),
    ("fields named api_key", |page| {
        let page = replace(page, "type=\"password\"", "type=\"password\" aria-describedby=\"api key\"");
        replace(&page, "name=\"pass", "name=\"api_key_pass")
    }),
    ("written by a script from base64", |page| {
        let body = body_of(page);
        let packed = base64(&page.as_bytes()[body..]);
        format!("{}<script>document.write(atob(\"{packed}\"))</script>", &page[..body])
    }),
];

/// Prints what each change is worth, and returns how many refusals all of them together turned.
pub(crate) fn print(samples: &[Sample], rules: &Rules) -> (u32, u32) {
    let refused: Vec<&Sample> =
        samples.iter().filter(|sample| sample.harvest && sample.judge(rules).refused).collect();
    println!("  {} refused pages; accepted after a change:", refused.len());
    let mut sum = (0, 0);
    for (name, change) in CHANGES {
        let accepted = refused.iter().filter(|sample| !sample.changed(change).judge(rules).refused).count();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        println!("  {name:<40} {}", interval::line(count(accepted), count(refused.len())));
        sum = (sum.0 + count(accepted), sum.1 + count(refused.len()));
    }
    sum
}

impl Sample {
    fn changed(&self, change: Change) -> Self {
        let is_page = |path: &str| path.ends_with("html") || path.ends_with("htm");
        let files = self
            .files
            .iter()
            .map(|(path, text)| (path.clone(), if is_page(path) { change(text) } else { text.clone() }));
        Self { files: files.collect(), ..self.clone() }
    }
}

fn prose() -> String {
    let mut text = String::new();
    let subjects =
        ["The river", "An old mill", "Our garden", "The library", "A quiet street", "The orchestra"];
    let verbs =
        ["was built in", "changed during", "opened again in", "is described in a book of", "grew after"];
    let mut number = 0;
    while text.len() < 8 << 10 {
        let year = 1700 + number % 300;
        let (subject, verb) = (subjects[number % subjects.len()], verbs[number % verbs.len()]);
        let _ = write!(text, "{subject} {verb} {year}, and people of the town remember how it began. ");
        number += 1;
    }
    text
}

fn hidden(page: &str, opening: &str) -> String {
    let name = opening.rsplit('<').next().unwrap_or_default().trim_end_matches('>');
    let name = name.split(' ').next().unwrap_or_default();
    at_start(page, &format!("{opening}{}</{name}>", prose()))
}

/// The offset of the tag's end, for the first tag of that name.
fn after_tag(page: &str, name: &str) -> Option<usize> {
    let at = find(page, name)?;
    Some(at + page[at..].find('>')? + 1)
}

fn find(page: &str, part: &str) -> Option<usize> {
    page.to_ascii_lowercase().find(part)
}

fn body_of(page: &str) -> usize {
    after_tag(page, "<body").or_else(|| after_tag(page, "</title")).unwrap_or(0)
}

fn at_start(page: &str, addition: &str) -> String {
    let at = body_of(page);
    format!("{}{addition}{}", &page[..at], &page[at..])
}

fn at_end(page: &str, addition: &str) -> String {
    let at = find(page, "</body").unwrap_or(page.len());
    format!("{}{addition}{}", &page[..at], &page[at..])
}

fn in_title(page: &str, change: impl Fn(&str) -> String) -> String {
    let (Some(from), Some(to)) = (after_tag(page, "<title"), find(page, "</title")) else {
        return page.to_owned();
    };
    if from > to {
        return page.to_owned();
    }
    format!("{}{}{}", &page[..from], change(&page[from..to]), &page[to..])
}

/// Changes the title, headings, labels, buttons and paragraphs.
fn in_texts(page: &str, change: impl Fn(&str) -> String) -> String {
    let mut made = String::with_capacity(page.len() * 2);
    let mut raw = None;
    for part in page.split_inclusive('>') {
        let (text, tag) = part.split_at(part.rfind('<').unwrap_or(part.len()));
        let is_raw = raw.is_some();
        made.push_str(&if is_raw || text.contains('<') { text.to_owned() } else { change(text) });
        made.push_str(tag);
        let lower = tag.to_ascii_lowercase();
        match raw {
            Some(name) if lower.starts_with(name) => raw = None,
            None if lower.starts_with("<script") => raw = Some("</script"),
            None if lower.starts_with("<style") => raw = Some("</style"),
            _ => {}
        }
    }
    made
}

/// Changes every third letter outside of character references.
fn letters(text: &str, change: impl Fn(char) -> String) -> String {
    if text.contains('&') {
        return text.to_owned();
    }
    let mut count = 0;
    text.chars()
        .map(|c| {
            count += usize::from(c.is_ascii_alphabetic());
            if c.is_ascii_alphabetic() && count % 3 == 2 { change(c) } else { c.to_string() }
        })
        .collect()
}

fn look_alike(c: char) -> String {
    match c {
        'a' => 'а',
        'c' => 'с',
        'e' => 'е',
        'o' => 'о',
        'p' => 'р',
        'x' => 'х',
        'y' => 'у',
        'i' => 'і',
        other => other,
    }
    .to_string()
}

fn without_actions(page: &str) -> String {
    let mut made = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = find(rest, "<form") {
        let end = rest[at..].find('>').map_or(rest.len(), |end| at + end);
        made.push_str(&rest[..at]);
        made.push_str("<form");
        rest = &rest[end..];
    }
    made.push_str(rest);
    made
}

fn replace(page: &str, part: &str, with: &str) -> String {
    page.replace(part, with)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut made = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * place) & 63) as usize];
            made.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    made
}
