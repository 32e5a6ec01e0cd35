//! The HTML elements that untrusted text may use, and how they nest. None of them runs anything, loads anything but a picture,
//! takes input, or switches a browser to other parsing rules.

/// An allowed element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    /// As written by the author, in lower case.
    pub(super) name: &'static str,
    /// As written to the page.
    pub(super) output: &'static str,
    pub(super) form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Inline,
    Block,
    /// Has no content and no end tag.
    Void,
    /// Allowed only inside a table.
    TablePart,
}

const INLINE: &str = "a abbr b bdi bdo cite code del dfn em i ins kbd mark picture q rp rt ruby s samp small span strong \
                      sub sup time tt u var";
const BLOCK: &str =
    "blockquote dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 li ol p pre summary table ul";
const VOID: &str = "br hr img source wbr";
const TABLE_PART: &str = "caption col colgroup tbody td tfoot th thead tr";
/// Elements whose content is not text of the page: they are dropped with it.
const WITHOUT_CONTENT: &str = "applet audio canvas datalist frameset head iframe math noembed noframes noscript \
                               object option plaintext script select style svg template textarea title video xmp";

pub(super) fn find(name: &str) -> Option<Element> {
    let (output, name) = match name {
        "center" => ("div", "center"),
        "strike" => ("s", "strike"),
        _ => ("", name),
    };
    let looked_for = if output.is_empty() { name } else { output };
    let forms =
        [(INLINE, Form::Inline), (BLOCK, Form::Block), (VOID, Form::Void), (TABLE_PART, Form::TablePart)];
    forms.into_iter().find_map(|(names, form)| {
        let known = names.split_ascii_whitespace().find(|known| *known == looked_for)?;
        let name = match name {
            "center" => "center",
            "strike" => "strike",
            _ => known,
        };
        let form = if name == "col" { Form::Void } else { form };
        Some(Element { name, output: known, form })
    })
}

pub(super) fn loses_content(name: &str) -> bool {
    WITHOUT_CONTENT.split_ascii_whitespace().any(|known| known == name)
}

impl Element {
    pub(super) fn is_table_part(self) -> bool {
        self.form == Form::TablePart || self.name == "col"
    }

    /// Whether it ends an open paragraph.
    pub(super) fn is_block(self) -> bool {
        self.form == Form::Block || self.name == "hr"
    }

    /// The open elements that it ends, searched outwards up to a barrier: `<li>` ends the previous item, but not the one that
    /// contains the list.
    pub(super) fn ends(self) -> Option<(&'static [&'static str], &'static [&'static str])> {
        Some(match self.name {
            "li" => (&["li"], &["ul", "ol", "table", "td", "th"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl", "table", "td", "th"]),
            "rt" | "rp" => (&["rt", "rp"], &["ruby"]),
            "a" => (&["a"], &["table", "td", "th"]),
            "td" | "th" => (&["td", "th", "caption"], &["tr", "table"]),
            "tr" => (&["tr", "caption", "colgroup"], &["table", "thead", "tbody", "tfoot"]),
            "thead" | "tbody" | "tfoot" | "colgroup" => {
                (&["thead", "tbody", "tfoot", "caption", "colgroup", "tr"], &["table"])
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                (&["h1", "h2", "h3", "h4", "h5", "h6", "p"], &["table", "td", "th"])
            }
            _ if self.is_block() => (&["p"], &["table", "td", "th"]),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_their_form() {
        assert_eq!(find("b"), Some(Element { name: "b", output: "b", form: Form::Inline }));
        assert_eq!(find("center"), Some(Element { name: "center", output: "div", form: Form::Block }));
        assert_eq!(find("strike"), Some(Element { name: "strike", output: "s", form: Form::Inline }));
        assert_eq!(find("col").map(|element| element.form), Some(Form::Void));
        for name in ["", "script", "form", "input", "B", "svg", "main", "section", "label", "button", "link"]
        {
            assert_eq!(find(name), None, "{name}");
        }
    }

    #[test]
    fn no_element_is_kept_and_dropped() {
        for name in WITHOUT_CONTENT.split_ascii_whitespace() {
            assert_eq!(find(name), None, "{name}");
        }
    }
}
