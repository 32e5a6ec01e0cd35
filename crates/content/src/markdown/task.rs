//! The label of a task list item. It contains the checkbox and the item's text, which thereby is the checkbox's accessible
//! name.

use pulldown_cmark::{Event, Tag, TagEnd};

/// The open label, if any.
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
