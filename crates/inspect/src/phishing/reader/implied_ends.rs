//! Knows where elements end whose closing tag may be left out: paragraphs, list items, table cells and choices. Where that is
//! unclear, the element goes on, because text of an invisible element must not pass for visible.

use dropleaf_core::html::{Element, Name};

/// More open scopes than any page has. In a page with more, ends are not implied.
const MOST_SCOPES: usize = 64;
/// The tags, beside headings, that end a paragraph. A table does not in pages without a document type.
const END_PARAGRAPH: [&str; 34] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "ul",
];
/// Elements that may be between a list item and the next one.
const IN_ITEMS: [&str; 3] = ["address", "div", "p"];
const SECTIONS: [&str; 3] = ["tbody", "thead", "tfoot"];

/// The open elements that bound a scope, such as lists, tables and buttons.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    open: Vec<(Name, ScopeKind)>,
    /// There are too many to know.
    pub(super) is_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    /// Lists and buttons. A closing tag inside may end an element around them.
    Open,
    /// Cells and captions of tables.
    Cell,
    Table,
    Other,
}

impl ScopeKind {
    fn of(name: Name) -> Self {
        if is_cell(name) || name.is("caption") {
            Self::Cell
        } else if name.is("table") {
            Self::Table
        } else if ["ul", "ol", "dl", "menu", "button"].iter().any(|it| name.is(it)) {
            Self::Open
        } else {
            Self::Other
        }
    }
}

impl Scopes {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn open(&mut self, name: Name) {
        if self.open.last().is_some_and(|(_, kind)| *kind == ScopeKind::Cell)
            && (is_cell(name) || is_row(name))
        {
            self.open.pop();
        }
        if self.is_lost || !name.is_scope() {
            return;
        }
        if self.open.len() >= MOST_SCOPES {
            self.is_lost = true;
        } else {
            self.open.push((name, ScopeKind::of(name)));
        }
    }

    pub(super) fn close(&mut self, name: Name) {
        if !self.is_lost
            && let Some(depth) = self.depth_of(name)
        {
            self.open.truncate(depth);
        }
    }

    /// The depth of the innermost open element of a name. What is outside of a table's cell is out of reach in it.
    fn depth_of(&self, name: Name) -> Option<usize> {
        if !name.is_scope() {
            return None;
        }
        let is_table = ScopeKind::of(name) == ScopeKind::Table;
        let bounds = |kind| match kind {
            ScopeKind::Open => false,
            ScopeKind::Cell => !is_table,
            ScopeKind::Table | ScopeKind::Other => true,
        };
        let found = self.open.iter().rposition(|(open, kind)| *open == name || bounds(*kind))?;
        (self.open[found].0 == name).then_some(found)
    }
}

fn is_cell(name: Name) -> bool {
    name.is("td") || name.is("th")
}

fn is_section(name: Name) -> bool {
    SECTIONS.iter().any(|it| name.is(it))
}

/// A row, or a group of rows.
fn is_row(name: Name) -> bool {
    name.is("tr") || is_section(name)
}

/// An open element that may end without a closing tag.
#[derive(Debug)]
pub(super) struct ImpliedEnd {
    kind: Kind,
    /// How many scopes are open around it.
    outside: usize,
    /// How many are open if none is inside.
    own: usize,
    /// An element inside keeps the next item from ending it.
    is_held: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paragraph,
    Item,
    Definition,
    Cell,
    Row,
    Choice,
}

impl ImpliedEnd {
    /// For an element that opens in this many scopes.
    pub(super) fn of(name: Name, outside: usize) -> Option<Self> {
        let kind = if name.is("p") {
            Kind::Paragraph
        } else if name.is("li") {
            Kind::Item
        } else if name.is("dt") || name.is("dd") {
            Kind::Definition
        } else if is_cell(name) {
            Kind::Cell
        } else if name.is("tr") {
            Kind::Row
        } else if name.element == Element::Choice {
            Kind::Choice
        } else {
            return None;
        };
        Some(Self { kind, outside, own: outside + usize::from(kind == Kind::Cell), is_held: false })
    }

    /// Whether no scope is open inside.
    pub(super) fn is_innermost(&self, scopes: &Scopes) -> bool {
        !scopes.is_lost && scopes.len() <= self.own
    }

    /// Takes note of an element inside.
    pub(super) fn pass(&mut self, name: Name) {
        let holds = matches!(self.kind, Kind::Item | Kind::Definition)
            && (name.element == Element::Heading || END_PARAGRAPH.iter().any(|it| name.is(it)))
            && !IN_ITEMS.iter().any(|it| name.is(it));
        self.is_held |= holds;
    }

    /// Whether the element ends before this tag opens.
    pub(super) fn is_before(&self, name: Name, scopes: &Scopes) -> bool {
        match self.kind {
            // The cells of a row are scopes too.
            Kind::Row => {
                let inner = scopes.open.get(self.own..).unwrap_or_default();
                !scopes.is_lost && is_row(name) && inner.iter().all(|(_, kind)| *kind == ScopeKind::Cell)
            }
            _ if self.is_held || !self.is_innermost(scopes) => false,
            Kind::Paragraph => {
                name.element == Element::Heading && !name.is("legend")
                    || END_PARAGRAPH.iter().any(|it| name.is(it))
            }
            Kind::Item => name.is("li"),
            Kind::Definition => name.is("dt") || name.is("dd"),
            Kind::Cell => is_cell(name) || is_row(name),
            Kind::Choice => name.is("option") || name.is("optgroup"),
        }
    }

    /// Whether a closing tag of another element ends it.
    pub(super) fn is_at(&self, name: Name, scopes: &Scopes) -> bool {
        if scopes.is_lost {
            return false;
        }
        let around = scopes.depth_of(name).is_some_and(|depth| depth < self.outside);
        around
            || match self.kind {
                Kind::Cell => self.is_innermost(scopes) && is_row(name),
                Kind::Row => self.is_innermost(scopes) && is_section(name),
                _ => false,
            }
    }
}
