//! Settings and accounts through the real binary: precedence, suggestions, output.

use crate::harness::Dropleaf;
use serde_json::Value;
use tempfile::TempDir;

fn binary() -> (TempDir, Dropleaf) {
    let dir = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(dir.path());
    (dir, dropleaf)
}

/// The value that `config show` prints for a key.
fn shown(dropleaf: &Dropleaf, args: &[&str], key: &str) -> String {
    let text = dropleaf.prints(&[&["config", "show"], args].concat());
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = ")));
    line.unwrap_or_else(|| panic!("no {key} in {text}")).to_owned()
}

#[test]
fn file_overrules_defaults_environment_overrules_file_flag_overrules_all() {
    let (dir, dropleaf) = binary();
    let key = "limits.key_per_minute";
    assert_eq!(shown(&dropleaf, &[], key), "120");
    std::fs::write(dir.path().join("dropleaf.toml"), "[limits]\nkey_per_minute = 200\nfiles = 50\n").unwrap();
    assert_eq!(shown(&dropleaf, &[], key), "200", "the file in the current folder is found");
    let dropleaf = dropleaf.env("DROPLEAF_LIMITS__KEY_PER_MINUTE", "300");
    assert_eq!(shown(&dropleaf, &[], key), "300");
    assert_eq!(shown(&dropleaf, &["--set", "limits.key_per_minute=400"], key), "400");
    assert_eq!(shown(&dropleaf, &[], "limits.files"), "50", "a key that is not overruled stays");
}

#[test]
fn named_file_is_used_by_flag_or_environment() {
    let (dir, dropleaf) = binary();
    std::fs::write(dir.path().join("a.toml"), "listen = \"localhost:1\"\n").unwrap();
    std::fs::write(dir.path().join("b.toml"), "listen = \"localhost:2\"\n").unwrap();
    assert_eq!(shown(&dropleaf, &["--config", "a.toml"], "listen"), "\"localhost:1\"");
    let dropleaf = dropleaf.env("DROPLEAF_CONFIG", "b.toml");
    assert_eq!(shown(&dropleaf, &[], "listen"), "\"localhost:2\"");
    assert_eq!(shown(&dropleaf, &["--config", "a.toml"], "listen"), "\"localhost:1\"");
    assert!(dropleaf.complains(&["config", "check", "--config", "none.toml"]).contains("none.toml"));
}

#[test]
fn names_that_scripts_rely_on_are_read() {
    let (_dir, dropleaf) = binary();
    let dropleaf = dropleaf
        .env("DROPLEAF_LISTEN", "localhost:9999")
        .env("DROPLEAF_BASE_URL", "https://drop.example.org")
        .env("DROPLEAF_SITE_URL", "https://pages.example.net")
        .env("DROPLEAF_SITE_HOST", "sites.example.net")
        .env("DROPLEAF_DATA_DIR", "/srv/x")
        .env("DROPLEAF_DATABASE_URL", "postgres://u:hush@db/x")
        .env("DROPLEAF_BLOBS_URL", "s3://bucket?endpoint=http://s3&secret_access_key=hush")
        .env("DROPLEAF_LIMITS__EXEMPT", "10.0.0.0/8, ::1/128")
        .env("DROPLEAF_TRUSTED_PROXIES", "10.0.0.1")
        .env("DROPLEAF_AGENTS_URL", "https://pay.example.org")
        .env("DROPLEAF_MAIL__SMTP_URL", "smtp://x")
        .env("DROPLEAF_PAYMENTS__MODE", "live")
        .env("DROPLEAF_PAYMENTS__FACILITATOR_URL", "https://pay.example.com")
        .env("DROPLEAF_PAYMENTS__EVM_PAY_TO", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        .env("DROPLEAF_PAYMENTS__SOLANA_PAY_TO", "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu")
        .env("DROPLEAF_STRIPE__SECRET_KEY", "sk_test_hush")
        .env("DROPLEAF_STRIPE__WEBHOOK_SECRET", "whsec_hush")
        .env("DROPLEAF_STRIPE__API_URL", "http://localhost:8403")
        .env("DROPLEAF_TEST_ANYTHING", "is no setting");
    assert_eq!(shown(&dropleaf, &[], "site_host"), "\"sites.example.net\"");
    assert_eq!(shown(&dropleaf, &[], "limits.exempt"), "[\"10.0.0.0/8\", \"::1/128\"]");
    let check = dropleaf.prints(&["config", "check"]);
    assert!(check.contains("The configuration is valid"), "{check}");
    assert!(check.contains("https://drop.example.org") && check.contains("https://pages.example.net"));
    assert!(check.contains("warning: `stripe.secret_key` is a test key"), "{check}");
    assert!(!check.contains("hush"), "{check}");
}

#[test]
fn lists_of_ones_own_are_read_at_the_start_and_faults_are_named() {
    let (dir, dropleaf) = binary();
    let lists = dir.path().join("lists");
    let check = ["config", "check", "--set", "safety.lists_dir=lists"];
    assert!(dropleaf.complains(&check).contains("cannot read the folder"));
    std::fs::create_dir(&lists).unwrap();
    assert!(dropleaf.complains(&check).contains("the folder contains none of weights.toml, brands.txt"));
    std::fs::write(lists.join("hosts.txt"), "# Ours\n[blocked]\nbad.example\n\n[bots]\n").unwrap();
    let said = dropleaf.complains(&check);
    assert!(said.contains("hosts.txt, line 5: there is no kind of host named `bots`"), "{said}");
    std::fs::write(lists.join("hosts.txt"), "[blocked]\nbad.example\n").unwrap();
    std::fs::write(lists.join("README"), "Why these are here.").unwrap();
    assert!(dropleaf.prints(&check).contains("The configuration is valid"));
    std::fs::write(lists.join("brand.txt"), "").unwrap();
    assert!(dropleaf.complains(&check).contains("there is no list named brand.txt"));
    std::fs::remove_file(lists.join("brand.txt")).unwrap();
    let neither = [&check[..], &["--set", "safety.lists=both"]].concat();
    assert!(dropleaf.complains(&neither).contains("`safety.lists` must be extend or replace"));
}

#[test]
fn who_is_written_to_is_named_by_address_or_as_operators() {
    let (_dir, dropleaf) = binary();
    dropleaf.prints(&["config", "check", "--set", "safety.notify=operators,ops@example.org"]);
    dropleaf.prints(&["config", "check", "--set", "safety.notify="]);
    let said = dropleaf.complains(&["config", "check", "--set", "safety.notify=operator"]);
    assert!(said.contains("`safety.notify`: `operator` is neither an email address"), "{said}");
}

#[test]
fn outbox_is_refused_where_others_are_served() {
    let (_dir, dropleaf) = binary();
    assert!(!dropleaf.prints(&["config", "check"]).contains("mail"));
    assert!(!dropleaf.prints(&["config", "check", "--set", "mail.mode=outbox"]).contains("mail"));
    let dropleaf = dropleaf.env("DROPLEAF_BASE_URL", "https://drop.example.org");
    let check = dropleaf.prints(&["config", "check"]);
    assert!(
        check.contains("warning: this server cannot send email") && check.contains("`mail.smtp_url`"),
        "{check}"
    );
    let refused = dropleaf.complains(&["config", "check", "--set", "mail.mode=outbox"]);
    assert!(
        refused.contains("`mail.smtp_url`") && refused.contains("only with a local `base_url`"),
        "{refused}"
    );
    let report: Value = serde_json::from_str(&dropleaf.prints(&["config", "check", "--json"])).unwrap();
    assert_eq!(report["base_url"], "https://drop.example.org");
    assert!(report["warnings"][0].as_str().unwrap().contains("cannot send email"), "{report}");
    assert!(!dropleaf.prints(&["config", "check", "--set", "mail.mode=off"]).contains("warning"));
}

#[test]
fn secrets_are_hidden_when_shown() {
    let (_dir, dropleaf) = binary();
    let dropleaf = dropleaf
        .env("DROPLEAF_SECRET_KEY", &"ab".repeat(32))
        .env("DROPLEAF_S3__SECRET_ACCESS_KEY", "hush-hush")
        .env("DROPLEAF_DATABASE_URL", "postgres://user:hush-hush@db/x")
        .env("DROPLEAF_BLOBS_URL", "s3://b?secret_access_key=hush-hush");
    let text = dropleaf.prints(&["config", "show"]);
    assert!(!text.contains("hush-hush") && !text.contains("abab"), "{text}");
    assert_eq!(shown(&dropleaf, &[], "database_url"), "\"postgres://user:(hidden)@db/x\"");
    let json = dropleaf.prints(&["config", "show", "--json"]);
    assert!(!json.contains("hush-hush") && !json.contains("abab"), "{json}");
    let settings: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(settings["secret_key"], "(hidden)");
    assert_eq!(settings["database_url"], "postgres://user:(hidden)@db/x");
    assert_eq!(settings["limits.key_per_minute"], 120, "values keep their types");
    assert_eq!(settings.as_object().unwrap().len(), text.lines().count());
}

#[test]
fn unknown_key_is_an_error_that_names_the_nearest() {
    let (dir, dropleaf) = binary();
    let said = dropleaf.complains(&["config", "check", "--set", "limits.key_per_minutes=5"]);
    assert!(
        said.contains("`limits.key_per_minutes` is not a setting; did you mean `limits.key_per_minute`?"),
        "{said}"
    );
    std::fs::write(dir.path().join("dropleaf.toml"), "lisen = \"localhost:1\"\n").unwrap();
    let said = dropleaf.complains(&["config", "check"]);
    assert!(said.contains("did you mean `listen`?") && said.contains("dropleaf.toml"), "{said}");
    std::fs::remove_file(dir.path().join("dropleaf.toml")).unwrap();
    let said = Dropleaf::in_dir(dir.path()).env("DROPLEAF_BASE_ULR", "x").complains(&["config", "check"]);
    assert!(said.contains("DROPLEAF_BASE_ULR") && said.contains("base_url"), "{said}");
}

#[test]
fn values_that_make_no_sense_are_refused() {
    let (_dir, dropleaf) = binary();
    for (flag, word) in [
        ("limits.files=many", "whole number"),
        ("views.count=perhaps", "true or false"),
        ("base_url=localhost:80", "base_url"),
        ("base_url=http://x/path", "base_url"),
        ("site_host=http://x", "site_host"),
        ("database_url=mysql://x", "database_url"),
        ("blobs_url=/srv", "blobs_url"),
        ("secret_key=abc", "secret_key"),
        ("isolation=none", "isolation"),
        ("tls.cert_file=x.pem", "tls.key_file"),
        ("trusted_proxies=proxy", "trusted_proxies"),
        ("accounts.default_plan=gold", "accounts.default_plan"),
        ("accounts.sign_up=maybe", "accounts.sign_up"),
        ("operator.email=nobody", "operator.email"),
        ("listen=8080", "listen"),
    ] {
        let said = dropleaf.complains(&["config", "check", "--set", flag]);
        assert!(said.contains(word), "{flag}: {said}");
    }
}

#[test]
fn defaults_are_a_file_to_start_from() {
    let (dir, dropleaf) = binary();
    let defaults = dropleaf.prints(&["config", "defaults"]);
    std::fs::write(dir.path().join("mine.toml"), &defaults).unwrap();
    dropleaf.prints(&["config", "check", "--config", "mine.toml"]);
}

#[test]
fn accounts_are_made_listed_moved_and_given_keys() {
    let (_dir, dropleaf) = binary();
    let first = dropleaf.prints(&["account", "create", "Ann@Example.org", "--plan", "free"]);
    assert!(dropleaf_core::secret::is_well_formed("stk_live_", first.trim()), "{first}");
    let second = dropleaf.prints(&["account", "key", "ann@example.org"]);
    assert_eq!(second.lines().count(), 1, "the key and nothing else");
    assert!(dropleaf_core::secret::is_well_formed("stk_live_", second.trim()));
    assert_ne!(first, second);
    let link = dropleaf.prints(&["account", "link", "ann@example.org"]);
    assert!(link.contains("/login/link?token=") && link.trim_end().lines().count() == 1, "{link}");
    assert!(dropleaf.complains(&["account", "link", "bob@example.org"]).contains("No such account"));
    dropleaf.prints(&["account", "plan", "ann@example.org", "pro"]);
    let list = dropleaf.prints(&["account", "list"]);
    let row = list.lines().find(|line| line.contains("ann@example.org")).unwrap();
    assert!(row.contains("pro") && row.starts_with("acct_"), "{row}");

    assert!(dropleaf.complains(&["account", "create", "ann@example.org"]).contains("already exists"));
    assert!(dropleaf.complains(&["account", "key", "bob@example.org"]).contains("No such account"));
    assert!(dropleaf.complains(&["account", "plan", "ann@example.org", "gold"]).contains("free, pro, solo"));
    assert!(dropleaf.complains(&["account", "create", "not-an-address"]).contains("email"));
}

#[test]
fn openapi_command_prints_the_checked_in_document() {
    let (_dir, dropleaf) = binary();
    let printed = dropleaf.prints(&["openapi"]);
    let checked_in = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/openapi.json");
    assert_eq!(printed, std::fs::read_to_string(checked_in).unwrap());
}

#[test]
fn data_folder_and_secret_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, dropleaf) = binary();
    dropleaf.prints(&["account", "list"]);
    let mode = |path: &str| std::fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("data"), 0o700);
    assert_eq!(mode("data/secret.key"), 0o600);
}
