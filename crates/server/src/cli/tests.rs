//! Checks the whole tree of commands: each argument that names something accepts a token that starts with a hyphen.

use super::{Cli, help, options};
use clap::{ArgMatches, Command};
use std::collections::BTreeSet;

/// Tokens from before tokens always started with a letter or a digit.
const OLD_TOKENS: [&str; 5] = [
    "-2AAAAAAAAAAAAAAAAAAAA",
    "--AAAAAAAAAAAAAAAAAAAA",
    "-hAAAAAAAAAAAAAAAAAAAA",
    "--json-AAAAAAAAAAAAAA-",
    "-_-------------------_",
];

/// Every argument that names a page, an account, a payment or an appeal, in a complete command line with the placeholder
/// `NAME`. The tests try the argument in this position and at the end.
const NAMES: [(&str, &str); 39] = [
    ("account create email", "account create NAME"),
    ("account key email", "account key NAME"),
    ("account link email", "account link NAME"),
    ("account plan email", "account plan NAME solo"),
    ("account credit account", "account credit NAME --amount 1.00 --reason x"),
    ("account suspend account", "account suspend NAME --reason x"),
    ("account restore-access account", "account restore-access NAME --reason x"),
    ("account delete account", "account delete NAME --yes"),
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
    ("info page", "info NAME --json"),
    ("open page", "open NAME --json"),
    ("versions page", "versions NAME --json"),
    ("rollback page", "rollback NAME --json"),
    ("feedback page", "feedback NAME --open --json"),
    ("feedback resolve page", "feedback resolve --page NAME --all --json"),
    ("feedback reply page", "feedback reply NAME fb_1 x --json"),
    ("feedback reopen page", "feedback reopen NAME fb_1 --json"),
    ("share page", "share NAME --note x --json"),
    ("share list page", "share list NAME --json"),
    ("delete page", "delete NAME --yes --json"),
    ("restore page", "restore NAME --json"),
    ("download page", "download NAME --zip --json"),
    ("diff page", "diff NAME --json"),
    ("edit page", "edit NAME --find a --replace b --json"),
    ("export account", "export NAME owner.zip"),
    ("import account", "import --account NAME owner.zip"),
    ("pay code", "pay --code NAME --json"),
    ("webhooks add page", "webhooks add https://hooks.example.com/ --page NAME"),
];

/// The other arguments with a value, each with the commands that lead to it. None of them takes a token: files, numbers, free
/// text, URLs (which start with their scheme), and the ids of several appeals. Those start with `app_`, and a list that
/// accepted words with hyphens would swallow the options after it.
const OTHERS: [&str; 151] = [
    "account create plan",
    "account key name",
    "account plan plan",
    "account credit amount",
    "account credit reason",
    "account credit once",
    "account suspend reason",
    "account restore-access reason",
    "reports dismiss reason",
    "reports limit",
    "appeals list limit",
    "appeals allow answer",
    "appeals uphold ids",
    "appeals uphold answer",
    "appeals allowed limit",
    "appeals disallow reason",
    "appeals limit",
    "takedown reason",
    "takedown pages",
    "evidence reason",
    "evidence out",
    "unwanted forget reason",
    "unwanted forget page",
    "audit limit",
    "certs renew name",
    "doctor mail",
    "payments list state",
    "payments list limit",
    "payments list rail",
    "payments resolve settled",
    "payments resolve reason",
    "facilitator listen",
    "processor listen",
    "processor data",
    "processor webhook_url",
    "processor webhook_secret",
    "payments revenue from",
    "payments revenue to",
    "backup to",
    "backup list from",
    "backup verify from",
    "backup verify at",
    "backup restore from",
    "backup restore at",
    "healthcheck wait",
    "export file",
    "import file",
    "import plan",
    "encrypt file",
    "encrypt output",
    "encrypt passphrase_file",
    "check files",
    "check about_secrets",
    "login url",
    "login name",
    "logout url",
    "whoami server",
    "notifications mode",
    "notifications server",
    "publish paths",
    "publish server",
    "publish file_name",
    "publish password_file",
    "publish slug",
    "publish expires_in_hours",
    "publish title",
    "publish pii_check",
    "download version",
    "download output",
    "download server",
    "diff from",
    "diff to",
    "diff server",
    "edit find",
    "edit replace",
    "edit file",
    "edit server",
    "list state",
    "list limit",
    "list server",
    "info server",
    "open server",
    "versions server",
    "rollback version",
    "rollback server",
    "feedback limit",
    "feedback server",
    "feedback resolve ids",
    "feedback resolve note",
    "feedback resolve server",
    "feedback state",
    "feedback severity",
    "feedback intent",
    "feedback query",
    "feedback order",
    "feedback resolve state",
    "feedback resolve severity",
    "feedback resolve intent",
    "feedback resolve query",
    "feedback reply id",
    "feedback reply text",
    "feedback reply author",
    "feedback reply server",
    "feedback reopen id",
    "feedback reopen server",
    "share note",
    "share expires_in_hours",
    "share max_uses",
    "share server",
    "share list server",
    "share revoke id",
    "share revoke server",
    "webhooks list server",
    "webhooks add url",
    "webhooks add events",
    "webhooks add description",
    "webhooks add server",
    "webhooks test id",
    "webhooks test server",
    "webhooks enable id",
    "webhooks enable server",
    "webhooks disable id",
    "webhooks disable server",
    "webhooks delete id",
    "webhooks delete server",
    "webhooks rotate id",
    "webhooks rotate server",
    "webhooks deliveries id",
    "webhooks deliveries state",
    "webhooks deliveries server",
    "webhooks retry id",
    "webhooks retry delivery",
    "webhooks retry server",
    "webhooks listen forward",
    "webhooks listen events",
    "webhooks listen count",
    "webhooks listen server",
    "delete server",
    "restore server",
    "completions shell",
    "man dir",
    "pay feature",
    "pay amount",
    "pay server",
    "mcp install server",
    "mcp install clients",
    "mcp install name",
    "mcp uninstall clients",
    "mcp uninstall name",
    "mcp server",
    "mcp wait",
];

/// Collects the id of each argument, prefixed with its commands. The flags that choose settings are the same everywhere, and
/// none of them takes a token.
fn walk(command: &Command, path: &str, found: &mut BTreeSet<String>) {
    let chooses_settings = |arg: &&clap::Arg| arg.get_help_heading() == Some(options::HEADING);
    let takes_value = |arg: &&clap::Arg| arg.get_action().takes_values();
    for arg in command.get_arguments().filter(takes_value).filter(|arg| !chooses_settings(arg)) {
        found.insert(format!("{path}{}", arg.get_id()));
    }
    for inner in command.get_subcommands() {
        walk(inner, &format!("{path}{} ", inner.get_name()), found);
    }
}

/// The values of an argument in the innermost subcommand.
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
    walk(&help::command(), "", &mut found);
    let listed: Vec<&str> = NAMES.iter().map(|(name, _)| *name).chain(OTHERS).collect();
    let new: Vec<&String> = found.iter().filter(|path| !listed.contains(&path.as_str())).collect();
    assert!(new.is_empty(), "say here whether they take a token, id or link: {new:#?}");
    let gone: Vec<&&str> = listed.iter().filter(|path| !found.contains(**path)).collect();
    assert!(gone.is_empty(), "no arguments any more: {gone:#?}");
    assert_eq!(listed.len(), found.len(), "an argument is listed twice");
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
            // The same with the positional argument after the options.
            if !words[at - 1].starts_with("--")
                && line != "account plan NAME solo"
                && line != "export NAME owner.zip"
                && !line.starts_with("feedback re")
            {
                let mut last = words;
                let name = last.remove(at);
                last.push(name);
                lines.push(last);
            }
            for words in lines {
                let all = std::iter::once("dropleaf").chain(words.iter().copied());
                let matches = help::command().try_get_matches_from(all);
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
        assert!(help::command().try_get_matches_from(words).is_err(), "{line}");
    }
}

#[test]
fn an_empty_protection_is_refused_before_anything_is_sent() {
    for words in [
        ["publish", "--slug", "", "a.html"],
        ["publish", "--expires-in-hours", "", "a.html"],
        ["publish", "a.html", "--password", ""],
        ["publish", "a.html", "--passcode", "x"],
    ] {
        let all = std::iter::once("dropleaf").chain(words);
        assert!(help::command().try_get_matches_from(all).is_err(), "{words:?}");
    }
}

/// What the command sees of the flags in front of it and behind it.
fn parsed(line: &str) -> Result<Cli, String> {
    let words = std::iter::once("dropleaf").chain(line.split(' '));
    let matches = help::command().try_get_matches_from(words).map_err(|error| error.to_string())?;
    Cli::from_checked(&matches).map_err(|error| error.to_string())
}

#[test]
fn flags_of_the_server_may_be_in_front_of_a_command_that_takes_them() {
    for line in [
        "--listen localhost:1 --data-dir here",
        "--data-dir here serve --listen localhost:1",
        "--data-dir here account list",
        "account --data-dir here list",
        "account list --data-dir here",
        "--data-dir here backup restore copy",
        "backup restore copy --data-dir here",
        "--listen localhost:1 --data-dir here facilitator",
    ] {
        let Cli { options, command } = parsed(line).unwrap();
        let shown = command.map_or_else(|| format!("{options:?}"), |command| format!("{command:?}"));
        assert!(shown.contains("data_dir: Some(\"here\")"), "{line}: {shown}");
        assert_eq!(
            line.contains("--listen"),
            shown.contains("listen: Some(\"localhost:1\")"),
            "{line}: {shown}"
        );
    }
    for line in [
        "--listen localhost:1 account list",
        "--data-dir here publish a.html",
        "--set a=b login",
        "publish a.html --data-dir here",
        "account list --listen localhost:1",
        "whoami --config x.toml",
    ] {
        assert!(parsed(line).is_err(), "{line}");
    }
}
