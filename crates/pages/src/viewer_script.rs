//! The one inline script of the viewer. Its Markdown renderer is written as modules, which tests import as they are; an
//! inline script cannot import, so the modules are concatenated without their `import` lines and `export` keywords.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

macro_rules! modules {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../assets/markdown/", $name, ".js")))),+]
    };
}
/// Ordered so that every module comes after those that it imports.
const MODULES: [(&str, &str); 20] = modules![
    "text",
    "line",
    "starts",
    "table",
    "links",
    "containers",
    "blocks",
    "emphasis",
    "inlines",
    "addresses",
    "allowed",
    "raw_html",
    "front_matter",
    "inline_writer",
    "render",
    "sanitize",
    "headings",
    "direction",
    "page",
    "recognize",
];
const VIEWER: &str = include_str!("../assets/viewer.js");

/// The script, and the CSP source that allows exactly it.
#[derive(Debug)]
pub struct ViewerScript {
    pub text: String,
    pub source: String,
}

impl ViewerScript {
    /// `copy_buttons` is the script that published Markdown pages have for their code blocks.
    pub fn new(copy_buttons: &str) -> Self {
        let text = assemble(copy_buttons);
        let source = format!("'sha256-{}'", STANDARD.encode(Sha256::digest(&text)));
        Self { text, source }
    }
}

fn assemble(copy_buttons: &str) -> String {
    let mut script = String::from("(() => {\n'use strict';\n");
    for (_, module) in MODULES {
        for line in module.lines().filter(|line| !line.starts_with("import ")) {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script.push_str("function addCopyButtons() {\n");
    script.push_str(copy_buttons);
    script.push_str("}\n");
    script.push_str(VIEWER);
    script.push_str("})();\n");
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_stands_after_those_that_it_imports() {
        let mut seen = Vec::new();
        for (name, module) in MODULES {
            let imports = module.lines().filter(|line| line.starts_with("import "));
            for imported in imports.filter_map(|line| line.split("'./").nth(1)?.strip_suffix(".js';")) {
                assert!(seen.contains(&imported), "{name} imports {imported}");
            }
            seen.push(name);
        }
    }

    #[test]
    fn nothing_of_the_modules_is_left_that_an_inline_script_cannot_have() {
        let script = ViewerScript::new("document.title = 'x';\n");
        for line in script.text.lines() {
            assert!(!line.starts_with("import ") && !line.starts_with("export "), "{line}");
        }
        let small = script.text.to_lowercase();
        for text in ["</script", "<script", "<!--"] {
            assert!(!small.contains(text), "{text}");
        }
    }

    #[test]
    fn names_of_the_modules_are_unique_because_they_share_one_scope() {
        let mut names = Vec::new();
        for line in MODULES.iter().flat_map(|(_, module)| module.lines()) {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let declared =
                ["const ", "let ", "function ", "class "].iter().find_map(|word| line.strip_prefix(word));
            let Some(rest) = declared else { continue };
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap();
            assert!(!names.contains(&name), "{name} is declared twice");
            names.push(name);
        }
        assert!(names.len() > 100, "{}", names.len());
    }
}
