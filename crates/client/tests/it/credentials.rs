//! The credentials file: its permissions, forgetting a server, and that errors never quote a key.

use dropleaf_client::{Credentials, Login};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

fn login(key: &str) -> Login {
    Login { key: key.into(), key_id: Some("key_1".into()), email: Some("ann@example.org".into()) }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn keys_are_kept_for_each_server_and_read_by_their_owner_alone() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("dropleaf/credentials.toml");
    let mut file = Credentials::load(path.clone()).unwrap();
    assert_eq!((file.current(), file.find("http://a")), (None, None));
    file.keep("http://a", login("stk_live_a")).unwrap();
    file.keep("https://b.example", login("stk_live_b")).unwrap();
    let again = Credentials::load(path.clone()).unwrap();
    assert_eq!(again.find("http://a"), Some(&login("stk_live_a")));
    assert_eq!(again.current(), Some("https://b.example"));
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn file_that_was_open_to_others_is_closed_when_it_is_written() {
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("dropleaf");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("credentials.toml");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    Credentials::load(path.clone()).unwrap().keep("http://a", login("k")).unwrap();
    assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
}

#[test]
fn forgotten_server_is_gone_and_another_becomes_current() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("c.toml");
    let mut file = Credentials::load(path.clone()).unwrap();
    file.keep("http://a", login("one")).unwrap();
    file.keep("http://b", login("two")).unwrap();
    file.forget("http://b").unwrap();
    assert!(!fs::read_to_string(&path).unwrap().contains("two"));
    let again = Credentials::load(path).unwrap();
    assert_eq!((again.current(), again.find("http://b")), (Some("http://a"), None));
}

#[test]
fn damaged_file_is_named_without_quoting_it() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("c.toml");
    fs::write(&path, "\n[servers.\"http://a\"]\nkey = stk_live_secret\n").unwrap();
    let error = Credentials::load(path).unwrap_err().to_string();
    assert!(error.contains("line 3") && !error.contains("secret"), "{error}");
}

#[test]
fn place_of_the_file_follows_the_xdg_rules() {
    let at = |xdg, home| Credentials::path_in(xdg, home).map(|path| path.display().to_string());
    assert_eq!(at(Some("/x"), Some("/h")).unwrap(), "/x/dropleaf/credentials.toml");
    assert_eq!(at(Some("relative"), Some("/h")).unwrap(), "/h/.config/dropleaf/credentials.toml");
    assert_eq!(at(None, Some("/h")).unwrap(), "/h/.config/dropleaf/credentials.toml");
    assert_eq!(at(None, None), None);
}
