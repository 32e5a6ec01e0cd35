//! Warnings about links that work at some addresses and not at others. Which of them apply depends on where the page is
//! served, which its content does not tell.

/// Where a page will be served, as far as its references depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServedAt {
    /// The page has a host to itself, instead of a path on a shared one.
    pub own_host: bool,
    /// The page has a public name (slug). On its own host it is then served at the root of that host.
    pub slug: bool,
    /// Navigations to a path that names no file are answered with `index.html`.
    pub spa: bool,
}

/// What references require of the page's address to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressRequirement {
    /// The page has its own host: files refer to each other by paths that start with `/`.
    OwnHost,
    /// The page is at the root of its own host: a page uploaded as a single file links to `/`.
    Root,
    /// Unknown paths are answered with `index.html`: links that start with `/` name no file.
    Routes,
}

/// Warnings, each with the requirement it is about. A warning is shown where the requirement is not met.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AddressWarnings(Vec<(AddressRequirement, String)>);

impl AddressWarnings {
    pub(crate) fn new(warnings: impl IntoIterator<Item = (AddressRequirement, Option<String>)>) -> Self {
        let with_text = |(need, warning): (AddressRequirement, Option<String>)| Some((need, warning?));
        Self(warnings.into_iter().filter_map(with_text).collect())
    }

    /// The warnings that apply to a page served there.
    pub fn at(self, shown: ServedAt) -> impl Iterator<Item = String> {
        let ServedAt { own_host, slug, spa } = shown;
        self.0.into_iter().filter_map(move |(need, warning)| match need {
            AddressRequirement::OwnHost => (!own_host).then_some(warning),
            // A page with client-side routes is also served at the root of its host.
            AddressRequirement::Root if own_host && (slug || spa) => None,
            AddressRequirement::Root if own_host => {
                Some(format!("{warning} Use relative links or publish the page with a slug."))
            }
            AddressRequirement::Root => Some(format!("{warning} Use relative links.")),
            AddressRequirement::Routes => (!(own_host && spa)).then_some(warning),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_said_only_where_it_holds() {
        let warnings = AddressWarnings::new([
            (AddressRequirement::OwnHost, Some("paths".to_owned())),
            (AddressRequirement::Root, Some("links".to_owned())),
            (AddressRequirement::Routes, Some("routes".to_owned())),
            (AddressRequirement::Routes, None),
        ]);
        let at = |own_host, slug, spa| {
            let shown: Vec<String> = warnings.clone().at(ServedAt { own_host, slug, spa }).collect();
            shown.join(" | ")
        };
        let with_slug = "links Use relative links or publish the page with a slug.";
        assert_eq!(at(true, false, false), format!("{with_slug} | routes"));
        assert_eq!(at(true, true, false), "routes");
        assert_eq!(at(true, false, true), "");
        for (slug, spa) in [(false, false), (true, false), (true, true)] {
            assert_eq!(at(false, slug, spa), "paths | links Use relative links. | routes");
        }
    }
}
