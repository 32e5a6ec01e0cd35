//! Reads and writes `manifest.json`, the list of what a backup holds. A folder without one is not a backup.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::{BackupError, DATABASE, MANIFEST, Report, files};

const FORMAT: i64 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) taken_at: i64,
    pub(super) schema: i64,
    pub(super) database_bytes: u64,
    pub(super) database_blake3: String,
    pub(super) report: Report,
}

pub(super) fn write(folder: &Path, manifest: &Manifest) -> Result<(), BackupError> {
    let rows: serde_json::Map<String, Value> =
        manifest.report.rows.iter().map(|(table, rows)| (table.clone(), json!(rows))).collect();
    let text = json!({
        "format": FORMAT,
        "taken_at": manifest.taken_at,
        "schema": manifest.schema,
        "database": {"file": DATABASE, "bytes": manifest.database_bytes, "blake3": manifest.database_blake3},
        "rows": rows,
        "objects": {"count": manifest.report.objects, "bytes": manifest.report.object_bytes},
    });
    let path = folder.join(MANIFEST);
    let page = format!("{text:#}\n");
    let write = || -> std::io::Result<()> {
        let mut file = files::create_file(&path)?;
        file.write_all(page.as_bytes())?;
        file.sync_all()
    };
    write().map_err(BackupError::file(&path))
}

pub(super) fn read(folder: &Path) -> Result<Manifest, BackupError> {
    let path = folder.join(MANIFEST);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(BackupError::Refused(format!(
                "{} is not a backup: it has no {MANIFEST}",
                folder.display()
            )));
        }
        text => text.map_err(BackupError::file(&path))?,
    };
    let page: Value = serde_json::from_str(&text).map_err(|_| damaged())?;
    match page["format"].as_i64() {
        Some(FORMAT) => {}
        Some(newer) if newer > FORMAT => {
            return Err(BackupError::Refused(format!(
                "backup format {newer} requires a newer version of dropleaf"
            )));
        }
        _ => return Err(damaged()),
    }
    let rows = page["rows"].as_object().ok_or_else(damaged)?;
    let rows = rows.iter().map(|(table, rows)| Some((table.clone(), rows.as_u64()?)));
    Ok(Manifest {
        taken_at: page["taken_at"].as_i64().ok_or_else(damaged)?,
        schema: page["schema"].as_i64().ok_or_else(damaged)?,
        database_bytes: page["database"]["bytes"].as_u64().ok_or_else(damaged)?,
        database_blake3: page["database"]["blake3"].as_str().ok_or_else(damaged)?.to_owned(),
        report: Report {
            rows: rows.collect::<Option<_>>().ok_or_else(damaged)?,
            objects: page["objects"]["count"].as_u64().ok_or_else(damaged)?,
            object_bytes: page["objects"]["bytes"].as_u64().ok_or_else(damaged)?,
        },
    })
}

fn damaged() -> BackupError {
    BackupError::Damaged(format!("{MANIFEST} cannot be read"))
}
