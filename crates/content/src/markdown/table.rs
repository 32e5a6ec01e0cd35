//! The accessible name of a table's box: the names of its columns, which are in the language of the page.

use pulldown_cmark::{Event, TagEnd};

use super::filter::plain_text;

const NAME_CHARACTERS: usize = 100;

/// `Fruit, Crate, Litre`; `Table` if no column has a name.
pub(super) fn name(head: &[Event<'_>]) -> String {
    let (mut name, mut cell) = (String::new(), String::new());
    for event in head {
        cell.push_str(plain_text(event));
        if matches!(event, Event::End(TagEnd::TableCell)) {
            let text = cell.split_whitespace().collect::<Vec<_>>().join(" ");
            if !text.is_empty() {
                name.push_str(if name.is_empty() { "" } else { ", " });
                name.push_str(&text);
            }
            cell.clear();
        }
    }
    if name.is_empty() {
        return "Table".to_owned();
    }
    match name.char_indices().nth(NAME_CHARACTERS) {
        Some((end, _)) => format!("{}…", name[..end].trim_end_matches([',', ' '])),
        None => name,
    }
}
