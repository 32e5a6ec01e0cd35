//! Warnings about links that work at some addresses and not at others. Whether they are said depends on where the page will
//! be shown, which its content does not tell.

/// Where a page will be shown, as far as its references depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownAt {
    /// On a host of its own, not below a path of a shared one.
    pub own_host: bool,
    /// Under a public name. On a host of its own it is then the root of that host.
    pub slug: bool,
    /// Navigations to a path that names no file are answered with `index.html`.
    pub spa: bool,
}

/// What references need of an address to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// A host of the page's own: files refer to each other by paths that start with `/`.
    OwnHost,
    /// The root of such a host: a page that was sent on its own links to it.
    Root,
    /// That `index.html` answers: links that start with `/` name no file.
    Routes,
}

/// Warnings, each with what it is about. They are said where that is not given.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AddressWarnings(Vec<(Need, String)>);

impl AddressWarnings {
    pub(crate) fn new(warnings: impl IntoIterator<Item = (Need, Option<String>)>) -> Self {
        let given = |(need, warning): (Need, Option<String>)| Some((need, warning?));
        Self(warnings.into_iter().filter_map(given).collect())
    }

    /// Those that hold for a page that is shown there.
    pub fn at(self, shown: ShownAt) -> impl Iterator<Item = String> {
        let ShownAt { own_host, slug, spa } = shown;
        self.0.into_iter().filter_map(move |(need, warning)| match need {
            Need::OwnHost => (!own_host).then_some(warning),
            // A page with routes of its own is shown at the root of its host as well.
            Need::Root if own_host && (slug || spa) => None,
            Need::Root if own_host => {
                Some(format!("{warning} Use relative links or publish the page with a slug."))
            }
            Need::Root => Some(format!("{warning} Use relative links.")),
            Need::Routes => (!(own_host && spa)).then_some(warning),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_said_only_where_it_holds() {
        let warnings = AddressWarnings::new([
            (Need::OwnHost, Some("paths".to_owned())),
            (Need::Root, Some("links".to_owned())),
            (Need::Routes, Some("routes".to_owned())),
            (Need::Routes, None),
        ]);
        let at = |own_host, slug, spa| {
            let said: Vec<String> = warnings.clone().at(ShownAt { own_host, slug, spa }).collect();
            said.join(" | ")
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
