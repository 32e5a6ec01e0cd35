//! The planned text for every client: added, updated, removed, refused.

use super::super::clients::Transport;
use super::*;

const SERVER: &str = "https://x.example";

fn entry(client: McpClient, transport: Transport) -> Vec<(&'static str, Option<Value>)> {
    client.entry_keys(transport, SERVER, "/opt/dropleaf")
}

fn add(client: McpClient, old: Option<&str>, name: &str, entry: &EntryKeys) -> Result<Plan, SetupError> {
    add_recorded(client, old, (name, None), entry)
}

fn add_recorded(
    client: McpClient,
    old: Option<&str>,
    (name, recorded): (&str, Option<&str>),
    entry: &EntryKeys,
) -> Result<Plan, SetupError> {
    super::add(client, old, &NewEntry { name, server: SERVER, entry, recorded })
}

fn remove(
    client: McpClient,
    old: &str,
    name: &str,
    before: Option<OriginalState>,
) -> Result<Plan, SetupError> {
    super::remove(client, old, name, &[SERVER], before)
}

fn written(plan: Plan) -> (String, Option<OriginalState>) {
    match plan {
        Plan::Write { text, before } => (text, before),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_client_from_nothing_and_back() {
    for client in McpClient::ALL {
        for transport in [Transport::Http, Transport::Stdio] {
            let ours = entry(client, transport);
            let (text, before) = written(add(client, None, "dropleaf", &ours).unwrap());
            assert_eq!(before, Some(OriginalState::NoFile));
            assert!(text.ends_with('\n') && text.contains(client.servers_key()), "{text}");
            assert_eq!(add(client, Some(&text), "dropleaf", &ours).unwrap(), Plan::Nothing);
            assert_eq!(remove(client, &text, "dropleaf", before).unwrap(), Plan::Remove);
            let (blank, _) =
                written(remove(client, &text, "dropleaf", Some(OriginalState::EmptyFile)).unwrap());
            assert_eq!(blank, "");
        }
    }
}

#[test]
fn entry_is_moved_to_another_server_and_way_and_keeps_what_its_owner_added() {
    let old = "{\"mcpServers\": {\"dropleaf\": {\"url\": \"http://old/mcp\", \"disabled\": true}}}";
    let ours = entry(McpClient::Cursor, Transport::Stdio);
    let (text, before) =
        written(add_recorded(McpClient::Cursor, Some(old), ("dropleaf", Some("http://old")), &ours).unwrap());
    assert_eq!(
        text,
        "{\"mcpServers\": {\"dropleaf\": { \"disabled\": true, \"command\": \"/opt/dropleaf\", \"args\": [\"mcp\", \
             \"--server\", \"https://x.example\"]}}}"
    );
    assert_eq!(before, None);
}

#[test]
fn entry_with_secrets_is_not_moved_to_another_server() {
    let old = "{\"mcpServers\": {\"dropleaf\": {\"url\": \"http://old/mcp\", \"headers\": {\"Authorization\": \"Bearer s\"}}}}";
    for transport in [Transport::Http, Transport::Stdio] {
        let ours = entry(McpClient::Cursor, transport);
        let refused = add_recorded(McpClient::Cursor, Some(old), ("dropleaf", Some("http://old")), &ours);
        assert!(refused.unwrap_err().to_string().contains("credentials for another server"));
        // Without a record the entry does not even count as ours.
        let refused = add(McpClient::Cursor, Some(old), "dropleaf", &ours);
        assert!(refused.unwrap_err().to_string().contains("--name"));
        // For the same server the secret may stay.
        let here = old.replace("http://old", SERVER);
        assert!(add(McpClient::Cursor, Some(&here), "dropleaf", &ours).is_ok());
    }
    let old = "[mcp_servers.dropleaf]\nurl = \"http://old/mcp\"\nbearer_token_env_var = \"KEY\"\n";
    let ours = entry(McpClient::Codex, Transport::Http);
    let refused = add_recorded(McpClient::Codex, Some(old), ("dropleaf", Some("http://old")), &ours);
    assert!(refused.unwrap_err().to_string().contains("credentials for another server"));
}

#[test]
fn taking_out_leaves_everything_else_as_it_was() {
    let old = "{ // c\n \"mcpServers\": {\"dropleaf\": {\"command\": \"dropleaf\", \"args\": [\"mcp\"]}}, \"y\": 2}";
    let (text, _) = written(remove(McpClient::Cursor, old, "dropleaf", Some(OriginalState::NoList)).unwrap());
    assert_eq!(text, "{ // c\n  \"y\": 2}");
    // The name occurs twice: the remaining entry would take effect.
    let old = "{\"mcpServers\": {\"dropleaf\": {\"command\": \"a\"}, \"dropleaf\": {\"command\": \"dropleaf\", \"args\": [\"mcp\"]}}}";
    assert!(
        remove(McpClient::Cursor, old, "dropleaf", None)
            .unwrap_err()
            .to_string()
            .contains("cannot edit its format")
    );
}

#[test]
fn what_others_wrote_under_our_name_is_left_alone() {
    let old = "{\"mcpServers\": {\"dropleaf\": {\"command\": \"npx\"}}}";
    let ours = entry(McpClient::Cursor, Transport::Http);
    assert!(add(McpClient::Cursor, Some(old), "dropleaf", &ours).unwrap_err().to_string().contains("--name"));
    assert!(remove(McpClient::Cursor, old, "dropleaf", None).is_err());
    let (text, _) = written(add(McpClient::Cursor, Some(old), "pages", &ours).unwrap());
    assert_eq!(written(remove(McpClient::Cursor, &text, "pages", None).unwrap()).0, old);
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let ours = entry(McpClient::Zed, Transport::Http);
    for (text, words) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 3"),
        ("[]", "top level"),
        ("{\"context_servers\": []}", "context_servers"),
    ] {
        let error = add(McpClient::Zed, Some(text), "dropleaf", &ours).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let ours = entry(McpClient::Codex, Transport::Stdio);
    let error = add(McpClient::Codex, Some("a = \n"), "dropleaf", &ours).unwrap_err().to_string();
    assert!(error.contains("TOML"), "{error}");
}
