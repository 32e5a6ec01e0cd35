//! What is known about one backup in a repository: its `manifest.json`, format 2.

use serde_json::{Map, Value, json};

use super::{BackupError, MANIFEST, Report};

const FORMAT: i64 = 2;
const CIPHER: &str = "AES-256-GCM";

/// One complete backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupInfo {
    /// The time it was taken, and a random part; sorts by time.
    pub id: String,
    /// The address of the service it was taken from.
    pub service: String,
    pub taken_at: i64,
    pub schema: i64,
    /// Identifies the key; `None` if the backup is not encrypted.
    pub key_id: Option<String>,
    pub database_bytes: u64,
    /// As stored: compressed, perhaps encrypted.
    pub database_stored_bytes: u64,
    pub(super) database_blake3: String,
    pub(super) bodies_blake3: String,
    pub report: Report,
    /// Bodies that this backup added to the repository.
    pub new_objects: u64,
    pub new_object_bytes: u64,
}

impl BackupInfo {
    /// The size of everything that this backup needs, part of which it shares with others.
    pub const fn stored_bytes(&self) -> u64 {
        self.database_stored_bytes + self.report.object_bytes
    }

    pub(super) fn path(&self, file: &str) -> String {
        format!("backups/{}/{file}", self.id)
    }

    /// What is authenticated with the encrypted database.
    pub(super) fn context(&self) -> String {
        format!("database of backup {}", self.id)
    }

    pub(super) fn to_text(&self) -> String {
        let rows: Map<String, Value> =
            self.report.rows.iter().map(|(table, rows)| (table.clone(), json!(rows))).collect();
        let encryption = self.key_id.as_ref().map(|id| json!({"cipher": CIPHER, "key_id": id}));
        let text = json!({
            "format": FORMAT,
            "id": self.id,
            "service": self.service,
            "taken_at": self.taken_at,
            "schema": self.schema,
            "encryption": encryption,
            "database": {
                "bytes": self.database_bytes,
                "stored_bytes": self.database_stored_bytes,
                "blake3": self.database_blake3,
            },
            "rows": rows,
            "objects": {
                "count": self.report.objects,
                "bytes": self.report.object_bytes,
                "new": self.new_objects,
                "new_bytes": self.new_object_bytes,
                "list_blake3": self.bodies_blake3,
            },
        });
        format!("{text:#}\n")
    }

    pub(super) fn parse(id: &str, text: &[u8]) -> Result<Self, BackupError> {
        let page: Value = serde_json::from_slice(text).map_err(|_| damaged(id))?;
        if let Some(newer) = page["format"].as_i64().filter(|format| *format > FORMAT) {
            return Err(BackupError::Refused(format!(
                "backup {id} has format {newer}, which requires a newer version of dropleaf"
            )));
        }
        Self::read(id, &page).ok_or_else(|| damaged(id))
    }

    fn read(id: &str, page: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (database, objects) = (&page["database"], &page["objects"]);
        let rows = page["rows"].as_object()?.iter();
        let rows = rows.map(|(table, rows)| Some((table.clone(), rows.as_u64()?)));
        let key_id = match &page["encryption"] {
            Value::Null => None,
            encryption if encryption["cipher"] == CIPHER => Some(text(&encryption["key_id"])?),
            _ => return None,
        };
        let is_this = page["format"] == FORMAT && page["id"] == id;
        is_this.then_some(())?;
        Some(Self {
            id: id.to_owned(),
            service: text(&page["service"])?,
            taken_at: page["taken_at"].as_i64()?,
            schema: page["schema"].as_i64()?,
            key_id,
            database_bytes: database["bytes"].as_u64()?,
            database_stored_bytes: database["stored_bytes"].as_u64()?,
            database_blake3: text(&database["blake3"])?,
            bodies_blake3: text(&objects["list_blake3"])?,
            report: Report {
                rows: rows.collect::<Option<_>>()?,
                objects: objects["count"].as_u64()?,
                object_bytes: objects["bytes"].as_u64()?,
            },
            new_objects: objects["new"].as_u64()?,
            new_object_bytes: objects["new_bytes"].as_u64()?,
        })
    }
}

fn damaged(id: &str) -> BackupError {
    BackupError::Damaged(format!("{MANIFEST} of backup {id} cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back() {
        let mut info = BackupInfo {
            id: "20261117T000000Z-abcdef".into(),
            service: "https://drop.example".into(),
            taken_at: 1_794_873_600,
            schema: 9,
            key_id: None,
            database_bytes: 5000,
            database_stored_bytes: 900,
            database_blake3: "00".repeat(32),
            bodies_blake3: "11".repeat(32),
            report: Report { rows: [("sites".to_owned(), 3)].into(), objects: 2, object_bytes: 70 },
            new_objects: 1,
            new_object_bytes: 40,
        };
        assert_eq!(info.stored_bytes(), 970);
        for key_id in [None, Some("0102030405060708".to_owned())] {
            info.key_id = key_id;
            assert_eq!(BackupInfo::parse(&info.id, info.to_text().as_bytes()).unwrap(), info);
        }
        assert!(BackupInfo::parse("another", info.to_text().as_bytes()).is_err());
        let newer = info.to_text().replace("\"format\": 2", "\"format\": 3");
        assert!(matches!(BackupInfo::parse(&info.id, newer.as_bytes()), Err(BackupError::Refused(_))));
        let other = info.to_text().replace(CIPHER, "ROT13");
        assert!(matches!(BackupInfo::parse(&info.id, other.as_bytes()), Err(BackupError::Damaged(_))));
        assert!(matches!(BackupInfo::parse(&info.id, b"{"), Err(BackupError::Damaged(_))));
    }
}
