//! The help of the program: its commands under headings, and the flags of the server only on `serve`.

use super::Cli;
use super::commands::Command;
use clap::CommandFactory;
use clap::builder::{StyledStr, Styles};
use std::fmt::Write as _;

/// The whole command line.
pub(super) fn command() -> clap::Command {
    // Flags in front of a command are accepted, because `dropleaf --listen …` starts the server. The help of `serve` lists them.
    Cli::command().mut_args(|arg| arg.global(false).hide(true)).help_template(template())
}

/// Tags in braces are replaced by clap.
fn template() -> StyledStr {
    let mut text = "{about}\n\n{usage-heading} dropleaf [COMMAND]\n".to_owned();
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    for (heading, lines) in groups() {
        let _ = write!(text, "\n{header}{heading}:{header:#}\n");
        for (name, about) in lines {
            let _ = writeln!(text, "  {literal}{name:<12}{literal:#} {about}");
        }
    }
    let _ = write!(
        text,
        "\n{header}Options:{header:#}\n{{options}}\n\nWithout a command, `dropleaf` starts the server. \
         `dropleaf COMMAND --help` explains a command.\n"
    );
    text.into()
}

/// The visible commands under each heading, each with the first sentence of its description.
fn groups() -> Vec<(&'static str, Vec<(String, String)>)> {
    let line = |command: &clap::Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let first = about.split(['.', ';', ':']).next().unwrap_or_default();
        (command.get_name().to_owned(), first.to_owned())
    };
    let visible = |group: &clap::Command| {
        group.get_subcommands().filter(|command| !command.is_hide_set()).map(line).collect()
    };
    Command::groups().iter().map(|(heading, group)| (*heading, visible(group))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_command_is_under_exactly_one_heading() {
        let mut listed: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (heading, lines) in groups() {
            assert!(!lines.is_empty(), "{heading}");
            for (name, about) in lines {
                assert!(!about.is_empty() && about.len() <= 100, "{name}: {about}");
                listed.entry(name).or_default().push(heading);
            }
        }
        let whole = command();
        for command in whole.get_subcommands().filter(|command| !command.is_hide_set()) {
            let headings = listed.remove(command.get_name()).unwrap_or_default();
            assert_eq!(headings.len(), 1, "{} is under {headings:?}", command.get_name());
        }
        assert!(listed.is_empty(), "no such commands: {listed:?}");
    }

    #[test]
    fn the_help_names_every_command_and_no_flag_of_the_server() {
        let help = command().render_help().to_string();
        for (heading, lines) in groups() {
            assert!(help.contains(&format!("\n{heading}:\n")), "{help}");
            for (name, about) in lines {
                assert!(help.contains(&format!("\n  {name:<12} {about}\n")), "{name}: {help}");
            }
        }
        assert!(!help.contains("--listen") && !help.contains("--data-dir"), "{help}");
        assert!(help.contains("--version") && help.lines().all(|line| line.chars().count() <= 120), "{help}");
    }

    #[test]
    fn flags_of_the_server_are_on_serve_alone() {
        for command in command().get_subcommands() {
            let name = command.get_name();
            let has = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
            assert_eq!(has("base_url") && has("site_url") && has("site_host"), name == "serve", "{name}");
            let listens = ["serve", "facilitator", "processor"].contains(&name);
            assert_eq!(has("listen"), listens, "{name}");
        }
        for (heading, group) in Command::groups() {
            let operators = ["Server", "Moderation"].contains(&heading);
            for command in group.get_subcommands().filter(|_| !operators) {
                let has_data = command.get_arguments().any(|arg| arg.get_id() == "data_dir");
                assert!(!has_data, "{}", command.get_name());
            }
        }
    }

    #[test]
    fn the_documentation_has_every_command_in_its_group() {
        let page = include_str!("../../../../docs/cli.md");
        for (heading, group) in Command::groups() {
            let section =
                page.split(&format!("\n## {heading}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
            for command in group.get_subcommands().filter(|command| !command.is_hide_set()) {
                let name = command.get_name();
                let row = section.lines().find(|line| line.starts_with(&format!("| `{name}` | ")));
                let row = row.unwrap_or_else(|| panic!("docs/cli.md, {heading}: {name}"));
                for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
                    let below = below.get_name();
                    let is_named = row.contains(&format!("`{below}`"))
                        || row.contains(&format!("{name} {below}"))
                        || section.contains(&format!("\n| `{name} {below}` | "));
                    assert!(is_named, "docs/cli.md, {heading}: {name} {below}");
                }
            }
        }
    }
}
