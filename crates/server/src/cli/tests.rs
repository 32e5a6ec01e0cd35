//! Walks the whole tree of commands: each argument that names something accepts a token that begins with a hyphen.

use super::Cli;
use clap::{ArgMatches, Command, CommandFactory};
use std::collections::BTreeSet;

/// Tokens that were minted before tokens began with a letter or a digit.
const OLD_TOKENS: [&str; 5] = [
    "-2AAAAAAAAAAAAAAAAAAAA",
    "--AAAAAAAAAAAAAAAAAAAA",
    "-hAAAAAAAAAAAAAAAAAAAA",
    "--json-AAAAAAAAAAAAAA-",
    "-_-------------------_",
];

/// Every argument that names a page, an account, a payment or an appeal, in a complete command line: `NAME` is what is
/// named. The argument comes first here; it is tried last as well.
const NAMES: [(&str, &str); 19] = [
    ("account create email", "account create NAME"),
    ("account key email", "account key NAME"),
    ("account link email", "account link NAME"),
    ("account plan email", "account plan NAME solo"),
    ("account credit account", "account credit NAME --amount 1.00 --reason x"),
    ("account suspend account", "account suspend NAME --reason x"),
    ("account restore-access account", "account restore-access NAME --reason x"),
    ("reports dismiss page", "reports dismiss NAME --reason x"),
    ("appeals show id", "appeals show NAME --json"),
    ("appeals allow id", "appeals allow NAME --answer x"),
    ("appeals disallow id", "appeals disallow NAME --reason x"),
    ("takedown page", "takedown NAME --reason x --page a.html --suspend"),
    ("evidence page", "evidence NAME --reason x --erase"),
    ("unwanted forget name", "unwanted forget NAME --reason x --page a.html"),
    ("audit subject", "audit --subject NAME --json"),
    ("payments show id", "payments show NAME --json"),
    ("payments ask id", "payments ask NAME"),
    ("payments resolve id", "payments resolve NAME --not-settled --reason x"),
    ("publish update", "publish --update NAME page.html --json"),
];

/// The other arguments with a value, by their ids, or with their commands where the id alone could be a name. None of them takes a token: files, numbers, words for people, addresses
/// (which begin with their scheme), and the ids of several appeals at once. Those begin with `app_`, and a list that took
/// words with hyphens would swallow the options behind it.
const OTHERS: [&str; 39] = [
    "about_secrets",
    "amount",
    "answer",
    "base_url",
    "blobs_url",
    "clients",
    "config",
    "data_dir",
    "database_url",
    "dir",
    "expires_in_hours",
    "file",
    "files",
    "ids",
    "limit",
    "listen",
    "once",
    "out",
    "output",
    "pages",
    "passphrase_file",
    "pii_check",
    "plan",
    "reason",
    "server",
    "set",
    "settled",
    "site_host",
    "site_url",
    "slug",
    "state",
    "title",
    "url",
    "wait",
    "account key name",
    "login name",
    "mcp install name",
    "mcp uninstall name",
    "unwanted forget page",
];

/// The ids of an argument with the names of the commands that lead to it.
fn walk(command: &Command, path: &str, found: &mut BTreeSet<(String, String)>) {
    for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
        found.insert((format!("{path}{}", arg.get_id()), arg.get_id().to_string()));
    }
    for inner in command.get_subcommands() {
        walk(inner, &format!("{path}{} ", inner.get_name()), found);
    }
}

/// The values of an argument, wherever in the tree the command ended.
fn values(mut matches: &ArgMatches, id: &str) -> Vec<String> {
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    let values = matches.get_raw(id).into_iter().flatten();
    values.map(|value| value.to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_argument_either_names_something_or_is_known_not_to() {
    let mut found = BTreeSet::new();
    walk(&Cli::command(), "", &mut found);
    for (path, id) in &found {
        let is_name = NAMES.iter().any(|(name, _)| name == path);
        assert!(
            is_name || OTHERS.contains(&id.as_str()) || OTHERS.contains(&path.as_str()),
            "`{path}`: say here whether it takes a token, id or link"
        );
    }
    for (name, _) in NAMES {
        assert!(found.iter().any(|(path, _)| path == name), "`{name}` is no argument any more");
    }
}

#[test]
fn every_argument_that_names_something_takes_a_token_that_begins_with_a_hyphen() {
    for (path, line) in NAMES {
        let id = path.rsplit(' ').next().unwrap();
        for token in OLD_TOKENS {
            let words: Vec<&str> =
                line.split(' ').map(|word| if word == "NAME" { token } else { word }).collect();
            let at = words.iter().position(|word| *word == token).unwrap();
            let mut lines = vec![words.clone()];
            // The same with a positional argument behind the options.
            if !words[at - 1].starts_with("--") && line != "account plan NAME solo" {
                let mut last = words;
                let name = last.remove(at);
                last.push(name);
                lines.push(last);
            }
            for words in lines {
                let all = std::iter::once("dropleaf").chain(words.iter().copied());
                let matches = Cli::command().try_get_matches_from(all);
                let matches = matches.unwrap_or_else(|error| panic!("{}: {error}", words.join(" ")));
                assert_eq!(values(&matches, id), [token], "{}", words.join(" "));
            }
        }
    }
}

#[test]
fn a_mistyped_option_is_not_taken_for_a_name() {
    for line in
        ["takedown --raeson fraud", "evidence --erse --reason x --out a.zip", "unwanted forget -r --reason x"]
    {
        let words = std::iter::once("dropleaf").chain(line.split(' '));
        assert!(Cli::command().try_get_matches_from(words).is_err(), "{line}");
    }
}
