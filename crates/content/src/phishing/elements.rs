//! What kinds of elements there are, as far as reading a page depends on it.

/// Elements that end a drawing, however deep. In order, so that they can be searched.
const BREAKING_OUT: [&str; 44] = [
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "i",
    "img",
    "li",
    "listing",
    "menu",
    "meta",
    "nobr",
    "ol",
    "p",
    "pre",
    "ruby",
    "s",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tt",
    "u",
    "ul",
    "var",
];

/// Elements whose content is not markup.
const RAW: [&str; 9] =
    ["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"];

/// Elements that do not end a word.
const INLINE: [&str; 28] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark",
    "nobr", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
];

fn is_in(list: &[&str], name: &str) -> bool {
    list.binary_search(&name).is_ok()
}

pub(crate) fn breaks_out(name: &str) -> bool {
    is_in(&BREAKING_OUT, name)
}

pub(crate) fn has_raw_text(name: &str) -> bool {
    is_in(&RAW, name)
}

pub(crate) fn is_inline(name: &str) -> bool {
    is_in(&INLINE, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order() {
        assert!(BREAKING_OUT.is_sorted() && RAW.is_sorted() && INLINE.is_sorted());
        assert!(breaks_out("div") && has_raw_text("script") && is_inline("span") && !is_inline("div"));
    }
}
