//! Accessible names: of a task list item, whose label contains the checkbox and the text of the item, and of the box around a
//! table.

use pulldown_cmark::{Event, Tag, TagEnd};

const NAME_CHARACTERS: usize = 100;

/// The open label of a task list item, if any.
#[derive(Debug, Default)]
pub(super) struct TaskLabel {
    is_open: bool,
    is_named: bool,
}

impl TaskLabel {
    pub(super) fn open(&mut self, is_done: bool) -> String {
        *self = Self { is_open: true, is_named: false };
        let checked = if is_done { " checked" } else { "" };
        format!("<label class=\"task\"><input type=\"checkbox\" disabled{checked}>\n")
    }

    /// Notes whether the label has text, and returns its end tag if it ends before this event. A label holds running text: it
    /// ends with its item or paragraph, or where another block begins.
    pub(super) fn pass(&mut self, event: &Event<'_>) -> Option<&'static str> {
        let ends = match event {
            Event::Start(tag) => !is_inline(tag),
            Event::End(end) => matches!(end, TagEnd::Item | TagEnd::Paragraph),
            Event::Text(text) | Event::Code(text) => {
                self.is_named |= !text.trim().is_empty();
                false
            }
            _ => false,
        };
        if !ends || !std::mem::take(&mut self.is_open) {
            return None;
        }
        Some(if self.is_named { "</label>" } else { "<span class=\"unseen\">Task</span></label>" })
    }
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
    )
}

/// The names of the columns, which are in the language of the page: `Fruit, Crate, Litre`; `Table` if no column has a name.
pub(super) fn table_name(head: &[Event<'_>]) -> String {
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

/// The text of an event.
pub(super) fn plain_text<'e>(event: &'e Event<'_>) -> &'e str {
    match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineMath(text) => text,
        Event::SoftBreak | Event::HardBreak => " ",
        _ => "",
    }
}
