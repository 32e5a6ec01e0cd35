//! Describes what a document loses in rendering, in sentences for its publisher: one for each cause, for one document or for
//! all documents of an archive together.

use std::collections::BTreeSet;

use crate::name_list::NameList;

/// How many element names of one archive are kept for its warning.
const MOST_ELEMENTS: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Elements that Markdown pages do not show, by their names.
    Elements(BTreeSet<String>),
    /// URLs with a scheme that is not allowed.
    Links,
    /// The document is too large to render, so it is shown as plain text.
    Layout,
    /// The document is not UTF-8, so characters are replaced.
    Letters,
    /// A diagram is shown as its source: the line of the document, and why.
    Diagram { line: usize, cause: String },
    /// The number of further diagrams shown as their source.
    MoreDiagrams(usize),
}

impl Loss {
    /// For a document that was uploaded on its own.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Elements(names) => format!(
                "Unsupported HTML was removed from the Markdown page: {}. Send an .html file to publish HTML unchanged.",
                tags(names)
            ),
            Self::Links => "Links other than http, https, mailto and relative links were removed.".to_owned(),
            Self::Layout => {
                "The document is too large to render and is shown as plain text. Split it or send it as HTML."
                    .to_owned()
            }
            Self::Letters => {
                "The document is not UTF-8, so some characters were lost. Save it as UTF-8.".to_owned()
            }
            Self::Diagram { line, cause } => {
                format!("The Mermaid diagram at line {line} is shown as source text: {cause}.")
            }
            Self::MoreDiagrams(count) => {
                format!("{count} more Mermaid diagrams are shown as source text.")
            }
        }
    }
}

/// The losses of the documents of an archive.
#[derive(Debug, Default)]
pub(crate) struct ArchiveLosses {
    elements: BTreeSet<String>,
    with_elements: NameList,
    with_links: NameList,
    with_layout: NameList,
    with_letters: NameList,
    diagrams: NameList,
    /// Documents without a page.
    unset: NameList,
}

impl ArchiveLosses {
    pub(crate) fn add(&mut self, document: &str, loss: Loss) {
        match loss {
            Loss::Elements(names) => {
                let room = MOST_ELEMENTS.saturating_sub(self.elements.len());
                self.elements.extend(names.into_iter().take(room));
                self.with_elements.push(document);
            }
            Loss::Links => self.with_links.push(document),
            Loss::Layout => self.with_layout.push(document),
            Loss::Letters => self.with_letters.push(document),
            Loss::Diagram { line, cause } => {
                self.diagrams.push(&format!("{document} (line {line}: {cause})"));
            }
            Loss::MoreDiagrams(count) => self.diagrams.push(&format!("{count} more in {document}")),
        }
    }

    /// Adds a document that is served as a file and not as a page.
    pub(crate) fn add_unset(&mut self, document: &str) {
        self.unset.push(document);
    }

    /// One line for each cause, with the documents it applies to.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let Self { elements, with_elements, with_links, with_layout, with_letters, diagrams, unset } = self;
        let lines = [
            (
                with_elements,
                format!(
                    "Unsupported HTML was removed from {with_elements}: {}. Add an .html file to the archive to publish HTML \
                     unchanged.",
                    tags(elements)
                ),
            ),
            (
                with_links,
                format!(
                    "Links other than http, https, mailto and relative links were removed from {with_links}."
                ),
            ),
            (
                with_layout,
                format!(
                    "Too large to render, shown as plain text: {with_layout}. Split it into several documents."
                ),
            ),
            (
                with_letters,
                format!("Not UTF-8, so some characters were lost: {with_letters}. Save it as UTF-8."),
            ),
            (diagrams, format!("Mermaid diagrams shown as source text: {diagrams}.")),
            (
                unset,
                format!(
                    "Not rendered as a page because it is too large, the archive has too many documents, or the name is already \
                     used: {unset}. Rename it, or split the document or the archive."
                ),
            ),
        ];
        lines.into_iter().filter(|(documents, _)| !documents.is_empty()).map(|(_, line)| line).collect()
    }
}

fn tags(names: &BTreeSet<String>) -> NameList {
    names.iter().map(|name| format!("<{name}>")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(names: &[&str]) -> Loss {
        Loss::Elements(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn elements_are_listed_and_the_rest_is_counted() {
        assert_eq!(
            elements(&["a1", "a2", "a3", "a4", "a5", "a6", "a7"]).sentence(),
            "Unsupported HTML was removed from the Markdown page: <a1>, <a2>, <a3>, <a4>, <a5> and 2 more. Send an .html file \
             to publish HTML unchanged."
        );
    }

    #[test]
    fn each_cause_of_an_archive_has_one_line_with_its_documents() {
        let mut losses = ArchiveLosses::default();
        for number in 0..8 {
            losses.add(&format!("{number}.md"), elements(&["script", "style"]));
        }
        losses.add("a.md", Loss::Links);
        losses.add("b.md", Loss::Links);
        losses.add("c.md", Loss::Diagram { line: 7, cause: "it could not be parsed".to_owned() });
        losses.add("c.md", Loss::MoreDiagrams(2));
        assert_eq!(
            losses.sentences(),
            [
                "Unsupported HTML was removed from 0.md, 1.md, 2.md, 3.md, 4.md and 3 more: \
                 <script> and <style>. Add an .html file to the archive to publish HTML unchanged.",
                "Links other than http, https, mailto and relative links were removed from a.md and b.md.",
                "Mermaid diagrams shown as source text: c.md (line 7: it could not be parsed) and 2 more in c.md.",
            ]
        );
        assert_eq!(ArchiveLosses::default().sentences(), [""; 0]);
    }
}
