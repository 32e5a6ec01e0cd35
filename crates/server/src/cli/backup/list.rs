//! `dropleaf backup list`: the backups in a place, and how the other commands describe one.

use super::place::Place;
use super::{given, sites};
use crate::cli::output::{BAD, Cell, Column, Now, Table, WARNING, print_json, print_line, size};
use crate::config::Config;
use anyhow::Result;
use clap::Args;
use dropleaf_core::iso;
use dropleaf_store::backup::{BackupInfo, BackupList, Repository};
use serde_json::{Value, json};

#[derive(Debug, Args)]
pub(super) struct List {
    /// <s3://BUCKET/PREFIX> or a folder (default: `backup.to`)
    from: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) async fn run(self, config: &Config) -> Result<()> {
        let destination = Place::to_read(&given(self.from, config)?, config)?.repository()?;
        let repository = Repository::open_existing(&destination)?;
        let found = repository.list().await?;
        if self.json {
            return print_json(&list_json(&found));
        }
        if found.complete.is_empty() && found.incomplete.is_empty() && found.unreadable.is_empty() {
            return print_line(&format!("No backups in {}.", repository.name()));
        }
        print_line(&table(&found, Now::read()).render())
    }
}

fn list_json(found: &BackupList) -> Value {
    let unreadable = found.unreadable.iter().map(|it| json!({"id": it.id, "error": it.why}));
    json!({
        "backups": found.complete.iter().map(backup_json).collect::<Vec<_>>(),
        "incomplete": found.incomplete,
        "unreadable": unreadable.collect::<Vec<_>>(),
    })
}

/// One backup for programs.
pub(super) fn backup_json(info: &BackupInfo) -> Value {
    json!({
        "id": info.id,
        "taken_at": info.taken_at,
        "taken_at_iso": iso::format(info.taken_at),
        "service": info.service,
        "schema": info.schema,
        "encrypted_with": info.key_id,
        "sites": sites(&info.report),
        "large_files": info.report.objects,
        "bytes": info.stored_bytes(),
        "new_bytes": info.new_object_bytes + info.database_stored_bytes,
    })
}

fn table(found: &BackupList, now: Now) -> Table<7> {
    let mut table = Table::new([
        Column::fixed("id"),
        Column::fixed("taken"),
        Column::number("sites"),
        Column::number("size"),
        Column::number("new"),
        Column::fixed("state"),
        Column::flexible("service"),
    ]);
    for info in &found.complete {
        table.row([
            info.id.as_str().into(),
            now.short(info.taken_at).into(),
            sites(&info.report).to_string().into(),
            size(info.stored_bytes()).to_string().into(),
            size(info.new_object_bytes + info.database_stored_bytes).to_string().into(),
            if info.key_id.is_some() { "encrypted".into() } else { "not encrypted".into() },
            info.service.as_str().into(),
        ]);
    }
    let mut other = |id: &str, state: Cell| {
        let empty = || Cell::new("");
        table.row([id.into(), empty(), empty(), empty(), empty(), state, empty()]);
    };
    for it in &found.unreadable {
        let state = if it.is_damaged { "damaged" } else { "needs a newer dropleaf" };
        other(&it.id, Cell::new(state).styled(BAD));
    }
    for id in &found.incomplete {
        other(id, Cell::new("incomplete").styled(WARNING));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_store::backup::UnreadableBackup;

    #[test]
    fn backups_that_cannot_be_used_are_listed() {
        let unreadable = |id: &str, is_damaged| UnreadableBackup {
            id: id.to_owned(),
            why: format!("{id} is wrong"),
            is_damaged,
        };
        let found = BackupList {
            incomplete: vec!["20261115T000000Z-aaaaaa".to_owned()],
            unreadable: vec![
                unreadable("20261117T000000Z-cccccc", true),
                unreadable("20261116T000000Z-bb\u{1b}[2J", false),
            ],
            ..BackupList::default()
        };
        let text = anstream::adapter::strip_str(&table(&found, Now::read()).render()).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[1].starts_with("20261117T000000Z-cccccc") && lines[1].ends_with("damaged"), "{text}");
        assert!(lines[2].contains("\\u{1b}") && lines[2].ends_with("needs a newer dropleaf"), "{text}");
        assert!(lines[3].ends_with("incomplete"), "{text}");
        let page = list_json(&found);
        assert_eq!(page["unreadable"][0]["error"], "20261117T000000Z-cccccc is wrong");
        assert_eq!(page["incomplete"][0], "20261115T000000Z-aaaaaa");
    }
}
