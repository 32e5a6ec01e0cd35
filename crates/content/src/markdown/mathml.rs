//! Checks that MathML contains nothing else: only known elements, each closed, with known attributes that load and run
//! nothing.

const ELEMENTS: &str = "math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms \
                        mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover";
const ATTRIBUTES: &str = "accent accentunder class columnalign columnspan depth display displaystyle fence form height \
                          largeop linethickness lspace mathvariant maxsize minsize movablelimits notation rspace \
                          scriptlevel separator stretchy style symmetric voffset width";

pub(super) fn is_plain(html: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some((text, after)) = rest.split_once('<') {
        let Some((tag, next)) = after.split_once('>') else { return false };
        if text.contains('>') {
            return false;
        }
        rest = next;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return false;
            }
            continue;
        }
        let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag.trim_end(), true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if !is_listed(ELEMENTS, name) || !attributes_are_plain(attributes) {
            return false;
        }
        if !is_closed {
            open.push(name);
        }
    }
    open.is_empty() && !rest.contains('>')
}

/// Whether this is `name="value" …` and nothing else.
fn attributes_are_plain(attributes: &str) -> bool {
    let parts: Vec<&str> = attributes.split('"').collect();
    let (pairs, end) = parts.as_chunks::<2>();
    // What follows the last quote; without it, the last value is not closed.
    end.first().is_some_and(|end| end.trim().is_empty())
        && pairs.iter().all(|[name, value]| {
            let name = name.trim_start().strip_suffix('=').unwrap_or_default();
            // A style may state a colour or a length, but no URL.
            is_listed(ATTRIBUTES, name) && (name != "style" || !value.contains(['(', '\\', '@', '&']))
        })
}

fn is_listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mathml_is_told_from_everything_else() {
        for good in [
            "",
            "<math><mi>x</mi></math>",
            "<math display=\"block\"><mo lspace=\"0\" rspace=\"0\">&lt;</mo><mspace width=\"1em\" /></math>",
            "<math><mrow style=\"color:#FF0000;\"><mn>1</mn></mrow></math>",
        ] {
            assert!(is_plain(good), "{good}");
        }
        for bad in [
            "<math><b>x</b></math>",
            "<math><mi>x</math>",
            "<math><mi>x</mi></math></p>",
            "<math><mi onclick=\"x\">x</mi></math>",
            "<math><mi class=x>x</mi></math>",
            "<math><mi class=\"x>x</mi></math>",
            "<math><mi style=\"background:url(x)\">x</mi></math>",
            "<math href=\"x\"></math>",
            "<math><annotation-xml></annotation-xml></math>",
            "<math><!--x--></math>",
            "<math><mi",
            "x > y",
            "<math>></math>",
            "<MATH></MATH>",
        ] {
            assert!(!is_plain(bad), "{bad}");
        }
    }
}
