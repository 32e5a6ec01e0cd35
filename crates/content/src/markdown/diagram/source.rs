//! Prepares the source of a diagram for the renderer: removes settings and comments, extracts the title, and refuses what
//! would take too long to parse. Lines keep their numbers, so that errors can name them.

use super::NotDrawn;

/// Longer sources are not drawn: the drawing would be unreadable.
pub(super) const LONGEST_BYTES: usize = 16 * 1024;
/// `a & b --> c & d` is four edges, so a short line can stand for very many. This is how many one source may produce.
const MOST_PRODUCTS: usize = 500;
/// Breaking labels into lines takes more than linear time.
const LONGEST_LINE: usize = 500;
const LONGEST_TITLE: usize = 200;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) code: String,
    /// From the front matter or `accTitle`.
    pub(super) title: Option<String>,
}

/// The part of the source that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Diagram,
    FrontMatter,
    /// `%%{init: …}%%`: themes and fonts, which the page determines here.
    Directive,
    /// `accDescr { … }`
    Description,
}

pub(super) fn prepare(source: &str) -> Result<Source, NotDrawn> {
    if source.len() > LONGEST_BYTES || source.lines().any(|line| line.len() > LONGEST_LINE) {
        return Err(NotDrawn::TooLong);
    }
    let mut code = String::with_capacity(source.len());
    let mut title = None;
    let mut part = Part::Diagram;
    let mut is_first = true;
    let mut products = 0_usize;
    for line in source.lines() {
        let line = without_icons(line);
        let text = line.trim();
        let is_kept = match part {
            Part::FrontMatter => {
                title = title.or_else(|| stated_title(&line, "title:"));
                part = if text == "---" { Part::Diagram } else { part };
                false
            }
            Part::Directive => {
                part = if text.ends_with("}%%") { Part::Diagram } else { part };
                false
            }
            Part::Description => {
                part = if text.ends_with('}') { Part::Diagram } else { part };
                false
            }
            Part::Diagram if is_first && text == "---" => {
                part = Part::FrontMatter;
                false
            }
            Part::Diagram if text.starts_with("%%") => {
                part = if text.starts_with("%%{") && !text.ends_with("}%%") { Part::Directive } else { part };
                false
            }
            Part::Diagram if text.starts_with("accTitle") => {
                title = title.or_else(|| stated_title(text, "accTitle:"));
                false
            }
            Part::Diagram if text.starts_with("accDescr") => {
                part = if text.contains('{') && !text.ends_with('}') { Part::Description } else { part };
                false
            }
            Part::Diagram => true,
        };
        is_first &= text.is_empty();
        if is_kept {
            let names = text.matches('&').count() + 1;
            products = products.saturating_add(if names > 1 { names * names } else { 0 });
            code.push_str(&line);
        }
        code.push('\n');
    }
    if products > MOST_PRODUCTS {
        return Err(NotDrawn::TooMuch);
    }
    Ok(Source { code, title })
}

/// A line without icon names such as `fa:fa-car`: no icons are available.
fn without_icons(line: &str) -> String {
    let mut code = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(":fa-") {
        let before = &rest[..at];
        let set = ["fab", "fad", "fal", "far", "fas", "fa"].iter().find_map(|set| before.strip_suffix(set));
        code.push_str(set.unwrap_or(&rest[..=at]));
        let name = if set.is_some() { &rest[at + 1..] } else { "" };
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
        rest = &rest[at + 1 + end..];
    }
    code.push_str(rest);
    code
}

fn stated_title(line: &str, key: &str) -> Option<String> {
    let text = line.strip_prefix(key)?.trim().trim_matches(['"', '\'']).trim();
    let title: String = text.chars().filter(|c| !c.is_control()).take(LONGEST_TITLE).collect();
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_comments_are_taken_out_and_lines_keep_their_numbers() {
        let source = "---\ntitle: \"Release <plan>\"\nconfig:\n  theme: dark\n---\n%%{init: {\n'theme': 'dark'\n}}%%\n\
                      flowchart LR\n  %% note\n  accTitle: Other\n  accDescr {\n  words }\n  a --> b\n";
        let made = prepare(source).unwrap();
        assert_eq!(made.title.as_deref(), Some("Release <plan>"));
        assert_eq!(made.code.lines().count(), source.lines().count());
        let kept: Vec<&str> = made.code.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(kept, ["flowchart LR", "  a --> b"]);
        assert_eq!(prepare("pie\naccTitle: Pets\n\"a\": 1").unwrap().title.as_deref(), Some("Pets"));
        assert_eq!(prepare("%%{init: {}}%%\npie").unwrap().code, "\npie\n");
        assert_eq!(prepare("fa:fa-x%%{init: {}}%%\npie").unwrap().code, "\npie\n");
        assert_eq!(prepare("a[fa:fa-car Car] b:fa-x c[x fab:fa-y]").unwrap().code, "a[ Car] b:fa-x c[x ]\n");
    }

    #[test]
    fn what_would_take_too_long_is_refused_before_it_is_read() {
        assert_eq!(prepare(&"x".repeat(LONGEST_BYTES + 1)), Err(NotDrawn::TooLong));
        assert_eq!(prepare(&"x".repeat(LONGEST_LINE + 1)), Err(NotDrawn::TooLong));
        let many = format!("flowchart TD\n{}", ["a"; 60].join(" & "));
        assert_eq!(prepare(&many), Err(NotDrawn::TooMuch));
        assert!(prepare("flowchart TD\na & b --> c & d\n").is_ok());
        assert_eq!(
            prepare(&format!("flowchart TD\n{}", "a & b --> c\n".repeat(1000))),
            Err(NotDrawn::TooMuch)
        );
    }
}
