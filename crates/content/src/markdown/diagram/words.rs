//! Checks that a drawing shows the words that its source means to show. The renderer skips what it does not support, and a
//! drawing with a missing message is worse than none.

use dropleaf_core::html::character_references::{Context, decode};
use mermaid_rs_renderer::DiagramKind;

/// Statements that set the appearance or behaviour of a diagram, and show no words.
const SILENT: &str =
    "activate callback classDef click cssClass deactivate destroy direction link linkStyle links style";
/// Keywords that open a block of a sequence diagram, before its label.
const FRAMES: &str = "alt and break critical else loop opt option par";

pub(super) fn are_all_drawn(kind: DiagramKind, code: &str, drawing: &str) -> bool {
    let drawn = text_of(drawing);
    let mut lines = code.lines().map(str::trim).filter(|line| !line.is_empty());
    // The first line names the kind and, for a pie chart, the title.
    let first = lines.next().unwrap_or_default();
    let title = first.split_once("title ").map(|(_, title)| title);
    title.into_iter().chain(lines.flat_map(|line| shown(kind, line))).all(|words| has_words(&drawn, words))
}

/// The text between the tags of a drawing, without white space, because the layout breaks lines where it has to.
fn text_of(drawing: &str) -> String {
    let mut drawn = String::with_capacity(drawing.len() / 4);
    for (_, text) in drawing.split('<').filter_map(|part| part.split_once('>')) {
        drawn.extend(decode(text, Context::Text).chars().filter(|c| !c.is_whitespace()));
    }
    drawn
}

fn has_words(drawn: &str, words: &str) -> bool {
    // What looks like a tag either breaks a line or is shown as written.
    let words = words.replace("<br/>", " ").replace("<br>", " ").replace("<br />", " ").replace("\\n", " ");
    // Single letters also occur in the ends of edges, as in `o--`.
    words.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).all(|word| drawn.contains(word))
}

/// The parts of a line that are shown.
fn shown(kind: DiagramKind, line: &str) -> Vec<&str> {
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if is_listed(SILENT, first) {
        return Vec::new();
    }
    let after_colon = line.split_once(':').map(|(_, text)| text);
    match kind {
        DiagramKind::Flowchart if first == "subgraph" && !rest.contains(['[', '"']) => vec![rest],
        DiagramKind::Flowchart | DiagramKind::Mindmap if line.contains(['[', '(', '{', '|', '"']) => {
            enclosed(line)
        }
        DiagramKind::Mindmap if line.starts_with(':') => Vec::new(),
        DiagramKind::Flowchart => edge_text(line).into_iter().collect(),
        DiagramKind::Sequence if is_listed(FRAMES, first) => vec![rest],
        DiagramKind::Sequence if matches!(first, "participant" | "actor") => {
            vec![rest.split_once(" as ").map_or(rest, |(_, name)| name)]
        }
        DiagramKind::Sequence | DiagramKind::State => after_colon.into_iter().collect(),
        DiagramKind::Class => vec![rest_of_class(line)],
        // `CUSTOMER ||--o{ ORDER : places`
        DiagramKind::Er if line.contains("--") || line.contains("..") => {
            let (entities, label) = line.split_once(':').unwrap_or((line, ""));
            vec![first, entities.split_whitespace().last().unwrap_or_default(), label]
        }
        DiagramKind::GitGraph => enclosed(line),
        DiagramKind::Quadrant | DiagramKind::Pie | DiagramKind::Journey => {
            vec![line.split_once(':').map_or(rest, |(text, _)| text)]
        }
        DiagramKind::Timeline if matches!(first, "title" | "section") => vec![rest],
        _ => vec![line],
    }
}

/// The text inside quotes and brackets and between bars.
fn enclosed(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '[', '(', '{', '|']) {
        let close = match rest.as_bytes()[at] {
            b'"' => '"',
            b'[' => ']',
            b'(' => ')',
            b'{' => '}',
            _ => '|',
        };
        let inside = &rest[at + 1..];
        let Some(end) = inside.find(close) else { break };
        found.push(&inside[..end]);
        rest = &inside[end + 1..];
    }
    found
}

/// `a -- text --> b`
fn edge_text(line: &str) -> Option<&str> {
    let (_, rest) =
        line.split_once("-- ").or_else(|| line.split_once("-. ")).or_else(|| line.split_once("== "))?;
    let end = rest.find(" --").or_else(|| rest.find(" .-")).or_else(|| rest.find(" =="))?;
    Some(&rest[..end])
}

fn rest_of_class(line: &str) -> &str {
    let line = line.strip_prefix("class ").unwrap_or(line);
    line.split(":::").next().unwrap_or(line)
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_word_is_noticed() {
        let drawing = "<text>Pick the</text><text><tspan>apples</tspan></text><text>R&amp;D</text>";
        for (kind, code, is_drawn) in [
            (
                DiagramKind::Flowchart,
                "flowchart TD\na[Pick the<br/>apples] --> b{R&D}\nstyle a fill:red",
                true,
            ),
            (DiagramKind::Flowchart, "flowchart TD\na[Pick] -->|later| b", false),
            (DiagramKind::Flowchart, "flowchart TD\na -- apples --> b", true),
            (DiagramKind::Flowchart, "flowchart TD\na -- pears --> b", false),
            (DiagramKind::Flowchart, "flowchart TD\nsubgraph the apples\nend", true),
            (DiagramKind::Sequence, "sequenceDiagram\na->>b: Pick apples\nloop the", true),
            (DiagramKind::Sequence, "sequenceDiagram\na-)b: Pick pears", false),
            (DiagramKind::Sequence, "sequenceDiagram\nparticipant p as Pears", false),
            (DiagramKind::Class, "classDiagram\n<<interface>> Pick", false),
            (DiagramKind::Pie, "pie title Pick\n\"apples\" : 3", true),
            (DiagramKind::Pie, "pie title Press\n\"apples\" : 3", false),
        ] {
            assert_eq!(are_all_drawn(kind, code, drawing), is_drawn, "{code}");
        }
    }
}
