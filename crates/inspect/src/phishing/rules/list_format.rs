//! Parses the rule lists, plain text files that an operator can read and extend: `#` starts a comment, `[name]` a
//! section, `key = value` a setting; any other line is an entry of its section.

/// One section of a list, with its lines in order.
#[derive(Debug, PartialEq)]
pub(crate) struct Section<'a> {
    pub(crate) name: &'a str,
    pub(crate) lines: Vec<&'a str>,
}

pub(crate) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => sections.push(Section { name: name.trim(), lines: Vec::new() }),
            None => match sections.last_mut() {
                Some(section) => section.lines.push(line),
                None => sections.push(Section { name: "", lines: vec![line] }),
            },
        }
    }
    sections
}

impl<'a> Section<'a> {
    /// The value of `key = value`, without the quotes around it.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then(|| value.trim().trim_matches('"'))
        })
    }

    /// The words of lines such as `de: Passwort, Kennwort`; the language tag is only documentation.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().flat_map(|line| {
            let words = match line.split_once(':') {
                Some((language, words)) if is_language(language) => words,
                _ => line,
            };
            words.split(',').map(str::trim).filter(|word| !word.is_empty())
        })
    }
}

fn is_language(text: &str) -> bool {
    (2..=7).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_hold_their_lines() {
        let text = "# remark\nfree\n[one]\n a = \"x = y\" \n\n[two]\nde: Kennwort, Passwort\npt-br: senha\n";
        let list = sections(text);
        assert_eq!(list.iter().map(|section| section.name).collect::<Vec<_>>(), ["", "one", "two"]);
        assert_eq!(list[1].get("a"), Some("x = y"));
        assert_eq!(list[1].get("b"), None);
        assert_eq!(list[2].words().collect::<Vec<_>>(), ["Kennwort", "Passwort", "senha"]);
    }
}
