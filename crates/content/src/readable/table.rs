//! Renders delimiter-separated values as a table, limited to what a reader would scroll through.

use std::fmt::Write;

use super::{PageContent, count, delimiter};
use crate::markdown::escaped;

const MOST_ROWS: usize = 1000;
const MOST_COLUMNS: usize = 60;
const MOST_CELL_CHARACTERS: usize = 500;

/// The table of a text, or of the beginning of one. `usual` is the delimiter unless another is detected.
pub(super) fn content(text: &str, is_whole: bool, usual: u8) -> Option<PageContent> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter::of(text, usual))
        .from_reader(text.as_bytes());
    let mut body =
        String::from("<div class=\"table\" role=\"group\" aria-label=\"Table\" tabindex=\"0\"><table>\n");
    let (mut rows, mut columns) = (0, 0);
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).ok()? {
        columns = columns.max(record.len());
        if rows == 0 {
            row(&mut body, &record, "th");
        } else if rows <= MOST_ROWS {
            row(&mut body, &record, "td");
        }
        rows += 1;
    }
    let rows = rows.checked_sub(1)?;
    body.push_str("</table></div>\n");
    let at_least = if is_whole { "" } else { "At least " };
    let mut facts = format!("{at_least}{}, {}", count(rows, "row"), count(columns, "column"));
    let cut = [(rows, MOST_ROWS, "row"), (columns, MOST_COLUMNS, "column")];
    let cut: Vec<String> =
        cut.iter().filter(|(all, most, _)| all > most).map(|(_, most, noun)| count(*most, noun)).collect();
    if !cut.is_empty() {
        let _ = write!(facts, " (the first {} are shown)", cut.join(" and "));
    }
    Some(PageContent { body, facts, left_out: None })
}

fn row(body: &mut String, record: &csv::StringRecord, cell: &str) {
    body.push_str("<tr>");
    for value in record.iter().take(MOST_COLUMNS) {
        let is_number =
            cell == "td" && !value.is_empty() && value.trim().replace([',', ' '], "").parse::<f64>().is_ok();
        let class = if is_number { " class=\"number\"" } else { "" };
        let shown = match value.char_indices().nth(MOST_CELL_CHARACTERS) {
            Some((end, _)) => format!("{}…", &value[..end]),
            None => value.to_owned(),
        };
        let _ = write!(body, "<{cell}{class} dir=\"auto\">{}</{cell}>", escaped(&shown));
    }
    body.push_str("</tr>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_cells() {
        let made = content("name,crates\n\"Apple, red\",1284\n<b>,x\n", true, b',').unwrap();
        assert_eq!(made.facts, "2 rows, 2 columns");
        for part in [
            "<tr><th dir=\"auto\">name</th><th dir=\"auto\">crates</th></tr>",
            "<td dir=\"auto\">Apple, red</td><td class=\"number\" dir=\"auto\">1284</td>",
            "<td dir=\"auto\">&lt;b&gt;</td>",
        ] {
            assert!(made.body.contains(part), "{part} is missing from {}", made.body);
        }
        assert!(content("a;b\n1;2\n", true, b',').unwrap().body.contains("dir=\"auto\">1</td>"));
        assert!(content("a\tb\n1\t2,5\n", true, b',').unwrap().body.contains(">2,5</td>"));
        assert!(content("a\tb,c\n", true, b'\t').unwrap().body.contains(">b,c</th>"));
    }

    #[test]
    fn long_tables_are_cut_and_say_so() {
        let made = content(&"a,b\n".repeat(5000), true, b',').unwrap();
        assert_eq!(made.facts, "4,999 rows, 2 columns (the first 1,000 rows are shown)");
        assert_eq!(made.body.matches("<tr>").count(), MOST_ROWS + 1);
        assert!(content(&"a,b\n".repeat(9), false, b',').unwrap().facts.starts_with("At least 8 rows"));
        let wide = content(&"a,".repeat(100_000), true, b',').unwrap();
        assert_eq!(wide.body.matches("<th ").count(), MOST_COLUMNS);
    }
}
