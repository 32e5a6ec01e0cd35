//! Files, environment and flags over the defaults.

use super::*;

fn with(env: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Layers> {
    let own =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Layers::load(&Sources { file: None, env: own(env), flags: own(flags) })
}

#[test]
fn the_defaults_are_a_whole_configuration() {
    let config = with(&[], &[]).unwrap().config().unwrap();
    assert_eq!(config.limits.upload_bytes, 25 << 20);
    assert_eq!(config.plans["free"].active_pages, 3);
}

#[test]
fn the_environment_overrules_the_defaults_and_flags_overrule_the_environment() {
    let env = [
        ("DROPLEAF_LIMITS__KEY_PER_MINUTE", "7"),
        ("DROPLEAF_LIMITS__EXEMPT", "127.0.0.0/8, ::1/128"),
        ("PATH", "x"),
    ];
    let config = with(&env, &[("limits.key_per_minute", "9")]).unwrap().config().unwrap();
    assert_eq!(config.limits.key_per_minute, 9);
    assert_eq!(config.limits.exempt, ["127.0.0.0/8", "::1/128"]);
}

/// Every list setting of the defaults file, which has every key of the model.
fn list_settings() -> Vec<String> {
    let layers = with(&[], &[]).unwrap();
    layers.values.iter().filter(|(_, value)| value.is_array()).map(|(key, _)| key.clone()).collect()
}

#[test]
fn every_list_setting_takes_each_documented_form_from_the_environment_and_from_flags() {
    let settings = list_settings();
    for known in ["trusted_proxies", "limits.exempt", "safety.notify", "mcp.allowed_origins"] {
        assert!(settings.iter().any(|key| key == known), "{known} is missing from {settings:?}");
    }
    let forms = [
        ("a b/8,::1/128", &["a b/8", "::1/128"][..]),
        (" a b/8 , ::1/128, ", &["a b/8", "::1/128"]),
        (r#"["a b/8", "::1/128"]"#, &["a b/8", "::1/128"]),
        (r#" [ 'a b/8', "::1/128", ] "#, &["a b/8", "::1/128"]),
        (r#"["Accept: text/html, text/plain"]"#, &["Accept: text/html, text/plain"]),
        ("one", &["one"]),
        ("[]", &[]),
        ("", &[]),
    ];
    for key in &settings {
        let variable = format!("DROPLEAF_{}", key.replace('.', "__").to_uppercase());
        for (text, items) in forms {
            let expected = Value::Array(items.iter().map(|item| Value::String((*item).into())).collect());
            for layers in [with(&[(&variable, text)], &[]), with(&[], &[(key, text)])] {
                let layers = layers.unwrap_or_else(|error| panic!("{key}={text}: {error:#}"));
                assert_eq!(layers.values[key], expected, "{key}={text}");
                assert!(layers.config().is_ok(), "{key}={text}");
            }
        }
    }
}

#[test]
fn a_broken_list_names_its_variable_and_both_forms() {
    for text in ["[a, b]", r#"["a", 1]"#, r#"["a""#, "['a'", "[[\"a\"]]"] {
        let error = with(&[("DROPLEAF_TRUSTED_PROXIES", text)], &[]).unwrap_err();
        let shown = format!("{error:#}");
        assert!(shown.contains("DROPLEAF_TRUSTED_PROXIES") && shown.contains("a,b"), "{text}: {shown}");
    }
}

#[test]
fn an_unknown_key_names_its_nearest_neighbour() {
    let error = with(&[("DROPLEAF_LISTNE", "x")], &[]).unwrap_err();
    assert!(format!("{error:#}").contains("did you mean `listen`?"), "{error:#}");
    let error = with(&[], &[("limits.key_per_minutes", "1")]).unwrap_err();
    assert!(format!("{error:#}").contains("limits.key_per_minute"), "{error:#}");
}

#[test]
fn a_value_of_the_wrong_type_is_refused() {
    assert!(with(&[("DROPLEAF_LIMITS__FILES", "many")], &[]).is_err());
    assert!(with(&[("DROPLEAF_VIEWS__COUNT", "perhaps")], &[]).is_err());
}

#[test]
fn new_plans_may_be_added_and_their_fields_are_known() {
    let config = with(&[], &[("plans.team.active_pages", "50")]).unwrap();
    assert!(config.config().is_ok());
    assert!(with(&[], &[("plans.team.colour", "1")]).is_err());
}

#[test]
fn shown_settings_hide_secrets() {
    let flags = [
        ("secret_key", "aa11"),
        ("payments.facilitator_headers", "Authorization: Bearer hunter2"),
        ("payments.evm_rpc_url", "https://rpc.example.com/v2/hunter2"),
        ("stripe.secret_key", "sk_live_hunter2"),
        ("stripe.webhook_secret", "whsec_hunter2"),
        ("payments.solana_rpc_url", "https://sol.example.com/hunter2"),
        ("database_url", "postgres://u:hunter2@h/db"),
        ("database.read_urls", "postgres://u:hunter2@r/db"),
        ("database.listen_url", "postgres://u:hunter2@l/db"),
        ("blobs_url", "s3://b?endpoint=http://x&secret_access_key=hunter2"),
    ];
    let layers = with(&[], &flags).unwrap();
    for shown in [layers.show(), serde_json::to_string(&layers.shown()).unwrap()] {
        assert!(!shown.contains("hunter2") && !shown.contains("aa11"), "{shown}");
        assert!(shown.contains("postgres://u:(hidden)@h/db"), "{shown}");
    }
}

#[test]
fn settings_of_reads_are_checked() {
    let resolve = |flags: &[(&str, &str)]| with(&[], flags).unwrap().config().unwrap().resolve(8080);
    let replica = ("database.read_urls", "postgres://u@r/db");
    let primary = ("database_url", "postgres://u@h/db");
    let resolved = resolve(&[primary, replica, ("views.stale_seconds", "3600")]).unwrap();
    assert_eq!(resolved.settings.stale_limit.as_secs(), 3600);
    assert_eq!(resolved.database_options.read_urls, ["postgres://u@r/db"]);
    assert_eq!(resolved.database_options.max_lag.as_millis(), 1000);
    assert!(resolved.database_options.listen_url.is_none());
    for (flags, named) in [
        (&[("views.stale_seconds", "3601")][..], "views.stale_seconds"),
        (&[replica], "database.read_urls"),
        (&[primary, ("database.read_urls", "sqlite:x")], "database.read_urls"),
        (&[("database.listen_url", "postgres://u@l/db")], "database.listen_url"),
        (&[primary, ("database.listen_url", "l:5432")], "database.listen_url"),
        (&[primary, ("database.max_lag_ms", "99")], "database.max_lag_ms"),
    ] {
        let error = resolve(flags).unwrap_err().to_string();
        assert!(error.contains(named), "{flags:?}: {error}");
    }
}
