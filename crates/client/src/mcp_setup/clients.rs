//! The MCP clients that `dropleaf mcp install` supports: where each keeps its settings, their format, and how it best
//! connects.

use crate::client::is_loopback;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpClient {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Codex,
    VsCode,
    Zed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Linux,
    MacOs,
}

impl Platform {
    pub const fn here() -> Self {
        if cfg!(target_os = "macos") { Self::MacOs } else { Self::Linux }
    }
}

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Over HTTP; the client signs in with OAuth.
    Http,
    /// Over standard input and output: the client starts `dropleaf mcp`, which uses the stored login.
    Stdio,
}

/// The settings folders according to the environment.
#[derive(Debug, Clone)]
pub(super) struct SettingsFolders<'a> {
    env: &'a [(String, String)],
    platform: Platform,
}

impl<'a> SettingsFolders<'a> {
    pub(super) const fn new(env: &'a [(String, String)], platform: Platform) -> Self {
        Self { env, platform }
    }

    fn find(&self, name: &str) -> Option<&'a str> {
        self.env.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    fn home(&self) -> Option<PathBuf> {
        self.find("HOME").map(PathBuf::from)
    }

    /// The folder in which programs keep their settings.
    pub(super) fn config(&self) -> Option<PathBuf> {
        match self.platform {
            Platform::Linux => self.dot_config(),
            Platform::MacOs => Some(self.home()?.join("Library").join("Application Support")),
        }
    }

    fn dot_config(&self) -> Option<PathBuf> {
        // The XDG specification: relative paths must be ignored.
        let named = self.find("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(|| Some(self.home()?.join(".config")))
    }

    /// Whether a program of this name is on the PATH.
    fn has_program(&self, name: &str) -> bool {
        let Some(path) = self.find("PATH") else { return false };
        std::env::split_paths(path).any(|folder| folder.join(name).is_file())
    }
}

impl McpClient {
    pub const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::ClaudeDesktop, Self::Cursor, Self::Codex, Self::VsCode, Self::Zed];

    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Codex => "Codex",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
        }
    }

    /// Its name on the command line.
    pub const fn cli_name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::Codex => "codex",
            Self::VsCode => "vscode",
            Self::Zed => "zed",
        }
    }

    /// Another spelling of that name.
    pub const fn cli_alias(self) -> Option<&'static str> {
        match self {
            Self::VsCode => Some("vs-code"),
            _ => None,
        }
    }

    /// The client with this name on the command line.
    pub fn find_by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.cli_name() == name || client.cli_alias() == Some(name))
    }

    /// Its settings file for this user.
    pub(super) fn file(self, folders: &SettingsFolders<'_>) -> Option<PathBuf> {
        let named = |name: &str| folders.find(name).map(PathBuf::from).filter(|path| path.is_absolute());
        match self {
            Self::ClaudeCode => named("CLAUDE_CONFIG_DIR")
                .or_else(|| folders.home())
                .map(|folder| folder.join(".claude.json")),
            Self::ClaudeDesktop => Some(folders.config()?.join("Claude").join("claude_desktop_config.json")),
            Self::Cursor => Some(folders.home()?.join(".cursor").join("mcp.json")),
            Self::Codex => {
                let folder = named("CODEX_HOME").or_else(|| Some(folders.home()?.join(".codex")));
                Some(folder?.join("config.toml"))
            }
            Self::VsCode => Some(folders.config()?.join("Code").join("User").join("mcp.json")),
            Self::Zed => {
                let folder = match folders.platform {
                    Platform::Linux => folders.dot_config()?.join("zed"),
                    Platform::MacOs => folders.home()?.join(".config").join("zed"),
                };
                Some(folder.join("settings.json"))
            }
        }
    }

    /// Whether it seems to be installed: its settings or its program exist.
    pub(super) fn is_installed(self, folders: &SettingsFolders<'_>) -> bool {
        let (Some(file), Some(home)) = (self.file(folders), folders.home()) else { return false };
        let parent = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
        let (folder, program) = match self {
            Self::ClaudeCode => (home.join(".claude"), "claude"),
            // Its settings are one folder up.
            Self::VsCode => (parent(&parent(&file)), "code"),
            // The client has no program of this name; only its folder can be checked.
            Self::ClaudeDesktop => (parent(&file), ""),
            Self::Cursor => (parent(&file), "cursor"),
            Self::Codex => (parent(&file), "codex"),
            Self::Zed => (parent(&file), "zed"),
        };
        file.is_file() || folder.is_dir() || (!program.is_empty() && folders.has_program(program))
    }

    /// The key in its settings that lists servers.
    pub(super) const fn servers_key(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::VsCode => "servers",
            Self::Zed => "context_servers",
        }
    }

    /// The transport to use by default. Claude Desktop's file accepts only programs, and Codex needs a separate command to
    /// sign in over HTTP. OAuth needs TLS, except on this machine.
    pub(super) fn default_transport(self, server: &str) -> Transport {
        let is_safe = server.starts_with("https://") || is_loopback(server);
        match self {
            Self::ClaudeDesktop | Self::Codex => Transport::Stdio,
            _ if is_safe => Transport::Http,
            _ => Transport::Stdio,
        }
    }

    pub(super) const fn supports(self, transport: Transport) -> bool {
        !matches!((self, transport), (Self::ClaudeDesktop, Transport::Http))
    }

    /// Every key that we write or have written, in order; those without a value are removed.
    pub(super) fn entry_keys(
        self,
        transport: Transport,
        server: &str,
        program: &str,
    ) -> Vec<(&'static str, Option<Value>)> {
        let kind = match (self, transport) {
            (Self::ClaudeCode | Self::VsCode, Transport::Http) => Some(json!("http")),
            (Self::ClaudeCode | Self::VsCode, Transport::Stdio) => Some(json!("stdio")),
            _ => None,
        };
        let mut entry = match self {
            Self::ClaudeCode | Self::VsCode => vec![("type", kind)],
            _ => Vec::new(),
        };
        let is_http = transport == Transport::Http;
        entry.push(("url", is_http.then(|| json!(format!("{server}/mcp")))));
        entry.push(("command", (!is_http).then(|| json!(program))));
        entry.push(("args", (!is_http).then(|| json!(["mcp", "--server", server]))));
        entry
    }

    /// The next step in the client itself.
    pub(super) fn next_step(self, transport: Transport, name: &str) -> String {
        match (self, transport) {
            (Self::ClaudeCode, Transport::Http) => {
                format!("In Claude Code, type /mcp and choose {name} to sign in.")
            }
            (Self::Codex, Transport::Http) => format!("Run `codex mcp login {name}` to sign in."),
            (Self::Cursor | Self::VsCode | Self::Zed, Transport::Http) => {
                format!("{} opens the sign-in page when it first connects.", self.title())
            }
            (Self::ClaudeDesktop, _) => "Restart Claude Desktop.".to_owned(),
            (_, Transport::Stdio) => format!("{} will use it in its next session.", self.title()),
        }
    }
}

#[cfg(test)]
mod tests;
