//! Where each client keeps its settings, and how it connects.

use super::*;

fn at(client: McpClient, platform: Platform, env: &[(&str, &str)]) -> String {
    let env: Vec<(String, String)> =
        env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    client
        .file(&SettingsFolders::new(&env, platform))
        .map(|path| path.display().to_string())
        .unwrap_or_default()
}

#[test]
fn settings_are_where_each_platform_keeps_them() {
    let env = [("HOME", "/h")];
    for (client, on_linux, on_mac) in [
        (McpClient::ClaudeCode, "/h/.claude.json", "/h/.claude.json"),
        (
            McpClient::ClaudeDesktop,
            "/h/.config/Claude/claude_desktop_config.json",
            "/h/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (McpClient::Cursor, "/h/.cursor/mcp.json", "/h/.cursor/mcp.json"),
        (McpClient::Codex, "/h/.codex/config.toml", "/h/.codex/config.toml"),
        (
            McpClient::VsCode,
            "/h/.config/Code/User/mcp.json",
            "/h/Library/Application Support/Code/User/mcp.json",
        ),
        (McpClient::Zed, "/h/.config/zed/settings.json", "/h/.config/zed/settings.json"),
    ] {
        assert_eq!(at(client, Platform::Linux, &env), on_linux);
        assert_eq!(at(client, Platform::MacOs, &env), on_mac);
    }
}

#[test]
fn folders_that_the_environment_names_come_first() {
    let env = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/x"), ("CODEX_HOME", "/c"), ("CLAUDE_CONFIG_DIR", "/cc")];
    assert_eq!(at(McpClient::Zed, Platform::Linux, &env), "/x/zed/settings.json");
    assert_eq!(at(McpClient::Zed, Platform::MacOs, &env), "/h/.config/zed/settings.json");
    assert_eq!(at(McpClient::VsCode, Platform::Linux, &env), "/x/Code/User/mcp.json");
    assert_eq!(at(McpClient::Codex, Platform::Linux, &env), "/c/config.toml");
    assert_eq!(at(McpClient::ClaudeCode, Platform::Linux, &env), "/cc/.claude.json");
    assert_eq!(at(McpClient::Cursor, Platform::Linux, &[]), "");
}

#[test]
fn plain_http_elsewhere_is_left_to_the_stored_login() {
    assert_eq!(McpClient::Cursor.default_transport("https://pages.example.org"), Transport::Http);
    assert_eq!(McpClient::Cursor.default_transport("http://localhost:8080"), Transport::Http);
    assert_eq!(McpClient::Cursor.default_transport("http://192.168.0.2:8080"), Transport::Stdio);
    assert_eq!(McpClient::ClaudeDesktop.default_transport("https://pages.example.org"), Transport::Stdio);
}
