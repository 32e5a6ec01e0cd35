//! OAuth scopes: what a person allows a program to do. Spec §5.

/// One permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Read,
    Write,
}

impl Scope {
    pub const ALL: [Self; 2] = [Self::Read, Self::Write];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "sites:read",
            Self::Write => "sites:write",
        }
    }

    /// What the scope allows, as shown on the consent page.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Read => "See your pages, their settings and their feedback",
            Self::Write => {
                "Publish, change and delete pages on your behalf, spend your prepaid balance on plan upgrades, and create API \
                 keys for itself"
            }
        }
    }
}

/// A set of granted scopes. `sites:write` includes `sites:read`; the set still records which of them were named, because that is
/// what a client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes {
    read: bool,
    write: bool,
}

impl Scopes {
    pub const ALL: Self = Self { read: true, write: true };

    /// Parses scopes separated by spaces; `None` when one is unknown. An empty text is an empty set.
    pub fn parse(text: &str) -> Option<Self> {
        let mut scopes = Self::default();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            match Scope::ALL.into_iter().find(|scope| scope.as_str() == word)? {
                Scope::Read => scopes.read = true,
                Scope::Write => scopes.write = true,
            }
        }
        Some(scopes)
    }

    /// Whether the set includes this scope, directly or through a wider one.
    pub const fn has(self, scope: Scope) -> bool {
        match scope {
            Scope::Read => self.read || self.write,
            Scope::Write => self.write,
        }
    }

    pub const fn is_empty(self) -> bool {
        !self.read && !self.write
    }

    /// Whether `other` allows everything that this set does.
    pub const fn is_within(self, other: Self) -> bool {
        (!self.read || other.has(Scope::Read)) && (!self.write || other.write)
    }

    /// The intersection.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        if self.write && other.write {
            return Self { read: self.read && other.read, write: true };
        }
        Self { read: self.has(Scope::Read) && other.has(Scope::Read), write: false }
    }

    /// All scopes that are allowed, including implied ones, for the consent page.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }
}

impl std::fmt::Display for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match (self.read, self.write) {
            (true, true) => "sites:read sites:write",
            (true, false) => Scope::Read.as_str(),
            (false, true) => Scope::Write.as_str(),
            (false, false) => "",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_and_written_in_one_order() {
        let all = Scopes::parse("sites:write  sites:read").unwrap();
        assert_eq!((all, all.to_string().as_str()), (Scopes::ALL, "sites:read sites:write"));
        assert!(Scopes::parse("").unwrap().is_empty());
        for unknown in ["sites:admin", "sites:read,sites:write", "SITES:READ", "offline_access"] {
            assert_eq!(Scopes::parse(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_set_is_within_itself_and_within_more() {
        let read = Scopes::parse("sites:read").unwrap();
        assert!(read.is_within(Scopes::ALL) && read.is_within(read) && !Scopes::ALL.is_within(read));
        assert!(read.has(Scope::Read) && !read.has(Scope::Write));
        assert_eq!(read.and(Scopes::ALL), read);
    }

    #[test]
    fn writing_includes_reading_and_keeps_its_name() {
        let (read, write) = (Scopes::parse("sites:read").unwrap(), Scopes::parse("sites:write").unwrap());
        assert!(write.has(Scope::Read) && write.has(Scope::Write) && !read.has(Scope::Write));
        assert_eq!(write.to_string(), "sites:write");
        assert_eq!(write.iter().collect::<Vec<_>>(), Scope::ALL, "a person is told of both");
        assert!(read.is_within(write) && Scopes::ALL.is_within(write) && !write.is_within(read));
        assert_eq!((read.and(write), write.and(read)), (read, read));
        assert_eq!((write.and(write), write.and(Scopes::ALL)), (write, write));
        let none = Scopes::default();
        assert!(!none.has(Scope::Read) && none.and(write).is_empty() && write.and(none).is_empty());
    }
}
