//! `dropleaf mcp install` and `uninstall`, in a home folder with the settings of six clients.

use crate::harness::Dropleaf;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;

const SERVER: &str = "https://pages.example.org";
/// Each client, its file below the home folder, and the path of its servers.
const CLIENTS: [(&str, &str, &str); 6] = [
    ("claude-code", ".claude.json", "mcpServers"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("codex", ".codex/config.toml", "mcp_servers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
];

struct Machine {
    home: TempDir,
    dropleaf: Dropleaf,
}

impl Machine {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        let dropleaf = Dropleaf::in_dir(home.path())
            .env("HOME", home.path().to_str().unwrap())
            .env("DROPLEAF_URL", SERVER)
            .env("DROPLEAF_API_KEY", "stk_live_never_written");
        Self { home, dropleaf }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.home.path().join(file)
    }

    fn put(&self, file: &str, text: &str) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// Our entry in a file without comments.
    fn entry(&self, (client, file, list): (&str, &str, &str)) -> Value {
        let text = self.text(file);
        let all: Value = match client {
            "codex" => serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap(),
            _ => serde_json::from_str(&text).unwrap(),
        };
        all[list]["dropleaf"].clone()
    }

    /// Every file below the home folder, except our own records.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.home.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path();
                    found.push(path.strip_prefix(self.home.path()).unwrap().display().to_string());
                }
            }
        }
        found.retain(|file| !file.starts_with(".config/dropleaf/"));
        found.sort();
        found
    }
}

#[test]
fn every_client_from_nothing_and_back() {
    let machine = Machine::new();
    let program = env!("CARGO_BIN_EXE_dropleaf");
    for at in CLIENTS {
        let (client, file, _) = at;
        let said = machine.dropleaf.prints(&["mcp", "install", client, "--stdio", "--yes"]);
        assert!(
            said.contains(machine.path(file).to_str().unwrap()) && said.contains("dropleaf login"),
            "{said}"
        );
        let entry = machine.entry(at);
        assert_eq!(
            (&entry["command"], &entry["args"]),
            (&json!(program), &json!(["mcp", "--server", SERVER]))
        );
        assert_eq!(
            entry["type"],
            if matches!(client, "claude-code" | "vscode") { json!("stdio") } else { Value::Null }
        );
        let before = machine.text(file);
        assert!(
            machine.dropleaf.prints(&["mcp", "install", client, "--stdio"]).contains("already installed")
        );
        assert_eq!(machine.text(file), before);
        assert!(!before.contains("stk_live"), "no secret is written");
    }
    for at in CLIENTS.into_iter().filter(|(client, ..)| *client != "claude-desktop") {
        machine.dropleaf.prints(&["mcp", "install", at.0, "--http", "--yes"]);
        let entry = machine.entry(at);
        assert_eq!(entry["url"], format!("{SERVER}/mcp"), "{entry}");
        assert!(entry.get("command").is_none() && entry.get("args").is_none(), "{entry}");
        assert_eq!(
            entry["type"],
            if matches!(at.0, "claude-code" | "vscode") { json!("http") } else { Value::Null }
        );
    }
    let complaint = machine.dropleaf.run(&["mcp", "install", "claude-desktop", "--http", "--yes"]);
    assert!(
        !complaint.status.success() && String::from_utf8(complaint.stdout).unwrap().contains("omit --http")
    );
    machine.dropleaf.prints(&["mcp", "uninstall", "--yes"]);
    let left: Vec<String> =
        machine.files().into_iter().filter(|file| !file.ends_with(".dropleaf-backup")).collect();
    assert_eq!(left, Vec::<String>::new(), "files that were not there before are gone");
    assert!(machine.dropleaf.prints(&["mcp", "uninstall", "zed"]).contains("nothing to remove"));
}

#[test]
fn settings_of_others_stay_letter_by_letter() {
    let machine = Machine::new();
    let samples = [
        (
            ".claude.json",
            "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\n      \"type\": \"http\",\n      \"url\": \"https://o.example/mcp\"\n    }\n  },\n  \"zeta\": [1,2]\n}",
        ),
        (".config/Claude/claude_desktop_config.json", "{\"globalShortcut\":\"\"}"),
        (".cursor/mcp.json", "{\n\t\"mcpServers\": {}\n}\n"),
        (
            ".codex/config.toml",
            "# mine\nmodel = \"x\"   # as it is\n\n[mcp_servers.other]\ncommand = 'o'\n\n[mcp_servers.other.env]\nA = \"b\"\n",
        ),
        (
            ".config/Code/User/mcp.json",
            "{\r\n    // mine\r\n    \"servers\": {\r\n        \"a\": {\"command\": \"x\",}, // last\r\n    },\r\n    \"inputs\": []\r\n}\r\n",
        ),
        (
            ".config/zed/settings.json",
            "// Zed settings\n//\n{\n  \"theme\": \"One\", // nice\n  /* \"context_servers\": {} */\n  \"vim_mode\": true,\n}\n",
        ),
    ];
    for (file, text) in samples {
        machine.put(file, text);
        fs::set_permissions(machine.path(file), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let said = machine.dropleaf.prints(&["mcp", "install", "--yes"]);
    for (client, (file, text)) in
        ["Claude Code", "Claude Desktop", "Cursor", "Codex", "VS Code", "Zed"].iter().zip(samples)
    {
        assert!(said.contains(&format!("{client}: {}", machine.path(file).display())), "{said}");
        let now = machine.text(file);
        assert!(now.contains("dropleaf"), "{now}");
        // Every original line is still there, except for an added comma.
        for line in text.lines().filter(|line| !line.contains("{}") && !line.starts_with("{\"")) {
            assert!(now.contains(line.trim_end_matches(['}', ' '])), "{line} in {now}");
        }
        assert_eq!(machine.text(&format!("{file}.dropleaf-backup")), text);
        assert_eq!(fs::metadata(machine.path(file)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // Edited since: the person's additions stay.
    let zed = machine.text(".config/zed/settings.json").replace("\"vim_mode\": true", "\"vim_mode\": false");
    machine.put(".config/zed/settings.json", &zed);
    machine.dropleaf.prints(&["mcp", "install", "--undo", "--yes"]);
    for (file, text) in samples {
        assert_eq!(machine.text(file), text.replace("\"vim_mode\": true", "\"vim_mode\": false"), "{file}");
    }
}

#[test]
fn nothing_is_written_unless_somebody_says_so() {
    let machine = Machine::new();
    let text = "{\n  \"mcpServers\": {\n    \"other\": {}\n  }\n}\n";
    machine.put(".cursor/mcp.json", text);
    let said = machine.dropleaf.prints(&["mcp", "install", "--dry-run"]);
    assert!(
        said.contains("  + ") && said.contains("\"dropleaf\": {") && said.contains("No files were changed"),
        "{said}"
    );
    assert!(!said.contains("Zed"), "only what is here: {said}");
    let refused = machine.dropleaf.command(&["mcp", "install"]).stdin(Stdio::null()).output().unwrap();
    let complaint = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && complaint.contains("--yes"), "{complaint}");
    assert!(
        String::from_utf8(refused.stdout).unwrap().contains("\"dropleaf\": {"),
        "it is shown all the same"
    );
    assert_eq!((machine.text(".cursor/mcp.json").as_str(), machine.files().len()), (text, 1));
}

#[test]
fn broken_settings_are_left_alone_and_the_others_are_written() {
    let machine = Machine::new();
    machine.put(".cursor/mcp.json", "{\n  \"mcpServers\": {\n}");
    machine.put(".codex/config.toml", "a = \n");
    machine.put(".claude.json", "{}");
    let output = machine.dropleaf.run(&["mcp", "install", "--yes"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("Cursor: not changed: it is not JSON (line 3"), "{said}");
    assert!(said.contains("Codex: not changed: it is not TOML (line 1"), "{said}");
    assert!(said.contains("Claude Code: written"), "{said}");
    assert_eq!(machine.text(".cursor/mcp.json"), "{\n  \"mcpServers\": {\n}");
    machine.put(".claude.json", "{\"mcpServers\": {\"dropleaf\": {\"command\": \"mine\"}}}");
    let output = machine.dropleaf.run(&["mcp", "install", "claude-code", "--yes"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("a different server named `dropleaf`"));
    let none = Machine::new();
    assert!(none.dropleaf.complains(&["mcp", "install", "--yes"]).contains("name one of claude-code"));
}

#[test]
fn old_entry_of_ours_is_brought_up_to_date() {
    let machine = Machine::new();
    machine.put(
        ".cursor/mcp.json",
        "{\n  \"mcpServers\": {\n    \"dropleaf\": {\n      \"command\": \"/old/dropleaf\",\n      \"args\": [\"mcp\", \"--server\", \"https://pages.example.org\", \"--wait\", \"9\"],\n      \"env\": {\"A\": \"b\"}\n    }\n  }\n}\n",
    );
    machine.dropleaf.prints(&["mcp", "install", "cursor", "--stdio", "--yes"]);
    let entry = machine.entry(CLIENTS[2]);
    assert_eq!((&entry["args"], &entry["env"]), (&json!(["mcp", "--server", SERVER]), &json!({"A": "b"})));
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_dropleaf"));
}

#[test]
fn credentials_for_one_server_are_not_sent_to_another() {
    let machine = Machine::new();
    machine.dropleaf.prints(&["mcp", "install", "cursor", "--yes"]);
    let plain = machine.text(".cursor/mcp.json");
    let elsewhere = ["mcp", "install", "cursor", "--server", "https://elsewhere.example", "--yes"];
    for secret in [r#""headers": {"Authorization": "Bearer s"}"#, r#""env": {"DROPLEAF_API_KEY": "s"}"#] {
        let text = plain.replacen("\"url\"", &format!("{secret}, \"url\""), 1);
        machine.put(".cursor/mcp.json", &text);
        let output = machine.dropleaf.run(&elsewhere);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            !output.status.success() && said.contains("contains credentials for another server"),
            "{said}"
        );
        assert_eq!(machine.text(".cursor/mcp.json"), text);
    }
    // An address that only looks like ours is not ours.
    let text = plain.replace(SERVER, "https://third.example");
    machine.put(".cursor/mcp.json", &text);
    let said = String::from_utf8(machine.dropleaf.run(&elsewhere).stdout).unwrap();
    assert!(said.contains("a different server named `dropleaf`"), "{said}");
    // If nothing would be lost, it is moved.
    machine.put(".cursor/mcp.json", &plain);
    machine.dropleaf.prints(&elsewhere);
    assert_eq!(machine.entry(CLIENTS[2])["url"], "https://elsewhere.example/mcp");
    machine.dropleaf.prints(&["mcp", "uninstall", "cursor", "--yes"]);
    assert!(!machine.path(".cursor/mcp.json").exists(), "found by the records, and nothing is left");
}

#[test]
fn file_of_two_entries_goes_with_the_last() {
    let machine = Machine::new();
    for name in ["one", "two"] {
        machine.dropleaf.prints(&["mcp", "install", "zed", "--name", name, "--yes"]);
    }
    machine.dropleaf.prints(&["mcp", "uninstall", "zed", "--name", "one", "--yes"]);
    let text = machine.text(".config/zed/settings.json");
    assert!(text.contains("\"two\"") && !text.contains("\"one\""), "{text}");
    machine.dropleaf.prints(&["mcp", "uninstall", "zed", "--name", "two", "--yes"]);
    assert!(!machine.path(".config/zed/settings.json").exists());
}
