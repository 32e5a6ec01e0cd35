//! Generates docs/configuration.md from the commented defaults file.

use super::DEFAULTS;

/// Renders the reference. The comment lines above a key describe it.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Configuration\n\n<!-- Generated from config/dropleaf.default.toml by `make generate`. -->\n\n\
         Every setting has a default, so you can start without any. Settings are read from these sources; later ones override \
         earlier ones:\n\n\
         1. the defaults below,\n2. a TOML file: `--config FILE`, or `dropleaf.toml` in the current folder,\n\
         3. the environment: `DROPLEAF_` and the name in upper case, two underscores between levels \
         (`DROPLEAF_LIMITS__KEY_PER_MINUTE=600`),\n4. flags: `--set limits.key_per_minute=600`, and short forms for the common \
         ones.\n\n\
         In the environment and in flags a list is written with commas (`DROPLEAF_TRUSTED_PROXIES=10.0.0.0/8,fd00::/8`) or as \
         an array (`'[\"10.0.0.0/8\", \"fd00::/8\"]'`), which is required if an item contains a comma.\n\n\
         `dropleaf config check` validates the settings; `dropleaf config show` prints them with secrets hidden. An unknown \
         name is an error that suggests the closest known one.\n",
    );
    let (mut section, mut meaning) = (String::new(), Vec::<String>::new());
    let mut in_table = false;
    for line in DEFAULTS.lines().skip_while(|line| !line.is_empty()) {
        if let Some(text) = line.strip_prefix('#') {
            meaning.push(text.trim().to_owned());
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = format!("{name}.");
            out.extend(["\n## ", name, "\n\n"]);
            if !meaning.is_empty() {
                out.extend([&meaning.join(" "), "\n\n"]);
                meaning.clear();
            }
            in_table = false;
        } else if let Some((key, value)) = line.split_once(" = ") {
            if !in_table {
                if section.is_empty() {
                    out.push_str("\n## General\n\n");
                }
                out.push_str("| Setting | Default | Meaning |\n|---|---|---|\n");
                in_table = true;
            }
            let meaning_text = meaning.join(" ").replace('|', "\\|");
            out.extend(["| `", &section, key, "` | `", value, "` | ", &meaning_text, " |\n"]);
            meaning.clear();
        }
    }
    out
}
