//! Compares the names of hosts with the names that pages carry: whole, as a word, or as initials.

/// Fewer initials are those of many names.
const FEWEST_INITIALS: usize = 3;
const MOST_INITIALS: usize = 6;

pub(super) fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The registered label of a host name: `site` of `www.site.co.uk`.
fn registered_label(host: &str) -> Option<&str> {
    host.contains('.').then(|| registrable_domain(host).split('.').next()).flatten()
}

/// The registrable domain of a host name: `site.co.uk` of `www.site.co.uk`.
pub(super) fn registrable_domain(host: &str) -> &str {
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at);
    let (Some(last), second, third) = (dots.next(), dots.next(), dots.next()) else { return host };
    let Some(second) = second else { return host };
    let (ending, before) = (&host[last + 1..], &host[second + 1..last]);
    if ending.len() != 2 || !(is_public(before) || is_common(before)) {
        return &host[second + 1..];
    }
    third.map_or(host, |third| &host[third + 1..])
}

/// Whether the registered label of a host occurs in a title.
pub(super) fn is_in_title(host: &str, title: &str) -> bool {
    let main = registered_label(host).map(letters_and_digits).unwrap_or_default();
    main.len() >= 4 && title.contains(&main)
}

/// Whether the registered label of a host is the initials of the words of a title, perhaps with another letter: `epsb` of
/// "Elm Public Schools".
pub(super) fn is_initials(host: &str, title: &str) -> bool {
    let words = title.split(|c: char| !c.is_alphanumeric());
    let words =
        words.filter(|word| !matches!(*word, "" | "of" | "the" | "and" | "for" | "de" | "la" | "und"));
    let initials: String = words.take(MOST_INITIALS).filter_map(|word| word.chars().next()).collect();
    let is_of = |label: &str| {
        label.len() <= MOST_INITIALS
            && initials.len() >= FEWEST_INITIALS
            && label.len() >= initials.len()
            && label.len() <= initials.len() + 1
            && label.starts_with(&initials)
    };
    registered_label(host).is_some_and(is_of)
}

/// Whether the registered label of a host, or for a school any label, is a word of a title, a heading or an image name.
pub(super) fn is_word_of_names(host: &str, names: &str) -> bool {
    let is_word = |part: &str| part.len() >= 3 && names.contains(&format!(" {part} "));
    registered_label(host).is_some_and(is_word)
        || (is_institution(host)
            && host.split('.').any(|part| part.len() >= 4 && !is_general(part) && is_word(part)))
}

/// Labels that say what a host is for, not whose it is.
fn is_general(part: &str) -> bool {
    matches!(
        part,
        "login" | "portal" | "mail" | "webmail" | "account" | "secure" | "student" | "students" | "auth"
    )
}

/// Second-level domains open to everybody, such as `co` in `co.uk`.
fn is_common(second: &str) -> bool {
    matches!(second, "co" | "com" | "net" | "org" | "or" | "ne" | "nom" | "web" | "in")
}

fn is_public(second: &str) -> bool {
    matches!(
        second,
        "edu"
            | "ac"
            | "gov"
            | "gob"
            | "gouv"
            | "gv"
            | "go"
            | "govt"
            | "mil"
            | "k12"
            | "sch"
            | "gub"
            | "schule"
    )
}

/// Schools, universities and public offices, by domains reserved for them.
pub(super) fn is_institution(host: &str) -> bool {
    let mut labels = host.rsplit('.');
    let (last, second) = (labels.next().unwrap_or_default(), labels.next().unwrap_or_default());
    matches!(last, "edu" | "gov" | "mil") || (last.len() == 2 && is_public(second) && labels.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schools_and_offices_are_known_by_their_names() {
        assert!(is_institution("www.college.edu") && is_institution("login.univ.ac.uk"));
        assert!(is_institution("simak.kampus.ac.id") && is_institution("impots.gouv.fr"));
        assert!(!is_institution("edu.com") && !is_institution("ac.uk") && !is_institution("go.dev"));
    }

    #[test]
    fn the_hosts_of_a_site_are_one() {
        assert_eq!(registrable_domain("www.college.edu"), "college.edu");
        assert_eq!(registrable_domain("a.login.univ.ac.uk"), "univ.ac.uk");
        assert_eq!(
            (registrable_domain("univ.ac.uk"), registrable_domain("site.org"), registrable_domain("host")),
            ("univ.ac.uk", "site.org", "host")
        );
    }

    #[test]
    fn a_site_may_be_named_after_initials() {
        assert!(is_initials("staff.epsb.ca", "elm public schools"));
        assert!(is_initials("www.uof.edu", "the university of oak falls"));
        assert!(
            !is_initials("epsb.ca", "elm schools") && !is_initials("cdn.example.com", "elm public schools")
        );
    }

    #[test]
    fn a_page_wears_the_name_of_a_site_as_a_word() {
        assert!(is_word_of_names("portal.riu.com", " riu employees "));
        assert!(!is_word_of_names("portal.riu.com", " trium portal "));
        assert!(
            is_word_of_names("sigedin.itp.edu.co", " sigedin login ")
                && !is_word_of_names("portal.itp.edu.co", " portal ")
        );
        assert!(is_in_title("www.fernway.example.com", "exampleshop") && !is_in_title("www.fern.org", "oak"));
    }
}
