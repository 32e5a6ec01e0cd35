//! One file of `dropleaf check`, read as the kind of thing it is: a text on its own, something that is packed first, or
//! a folder.

use super::folder;
use dropleaf_app::{Checked, SafetySettings};
use dropleaf_content::{Limits, LooseText, is_page, is_read, name_to_check, read_loose};
use dropleaf_core::{Code, Error};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What everything is checked with.
#[derive(Debug)]
pub(super) struct Checker<'a> {
    pub(super) safety: SafetySettings,
    pub(super) limits: Limits,
    pub(super) upload_bytes: u64,
    pub(super) spool: &'a Path,
}

/// Why there is no verdict, or no page in spite of a good one.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) code: &'static str,
    pub(super) why: String,
}

impl Trouble {
    pub(super) fn unreadable(error: &io::Error) -> Self {
        Self { code: "unreadable", why: format!("it cannot be read: {error}") }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self { code: error.code.as_str(), why: error.detail }
    }
}

type Outcome = Result<(Checked, Option<Trouble>), Trouble>;

impl Checker<'_> {
    /// What the checks say of a file or a folder, and what else keeps it from being published.
    pub(super) fn check(&self, path: &Path) -> Outcome {
        let unreadable = |error| Trouble::unreadable(&error);
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            // One byte more than allowed is enough to know.
            io::stdin().take(self.upload_bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
            self.check_size(bytes.len() as u64)?;
            return Ok(self.text("index.html", path, bytes));
        }
        if path.is_dir() {
            let found = folder::read(path, &self.limits).map_err(unreadable)?;
            let mut checked = self.safety.check_texts(&found.texts);
            rename(&mut checked, |inside| path.join(inside).display().to_string());
            checked.warnings.splice(0..0, found.warnings);
            return Ok((checked, None));
        }
        let mut file = File::open(path).map_err(unreadable)?;
        self.check_size(file.metadata().map_err(unreadable)?.len())?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if is_packed(&name) {
            let mut checked = self.safety.check_packed(&name, file, &self.limits, self.spool)?;
            let archive = name.to_ascii_lowercase().ends_with(".zip");
            rename(&mut checked, |inside| {
                if archive { path.join(inside) } else { path.to_owned() }.display().to_string()
            });
            return Ok((checked, None));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(self.text(&name, path, bytes))
    }

    fn check_size(&self, size: u64) -> Result<(), Trouble> {
        let most = self.upload_bytes;
        if size <= most {
            return Ok(());
        }
        Err(Error::new(Code::TooLarge, format!("it has {size} bytes or more; the limit is {most}")).into())
    }

    /// A text on its own: a page, or a part of one.
    fn text(&self, name: &str, path: &Path, bytes: Vec<u8>) -> (Checked, Option<Trouble>) {
        let name = name_to_check(name, &bytes).to_owned();
        if !is_read(&name) {
            let warnings = vec!["A file of this kind is not looked into.".to_owned()];
            return (Checked { warnings, ..Checked::default() }, None);
        }
        let LooseText { text, fault } = read_loose(&name, bytes);
        let mut checked = self.safety.check_texts(&[(name.clone(), text)]);
        rename(&mut checked, |_| path.display().to_string());
        let fault = fault.filter(|_| is_page(&name));
        (checked, fault.map(|fault| Trouble { code: fault.code.as_str(), why: fault.to_string() }))
    }
}

/// Kinds that cannot be read as they are.
fn is_packed(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("zip" | "md" | "markdown" | "pdf"))
}

/// Says where things are as the caller knows the places.
fn rename(checked: &mut Checked, name: impl Fn(&str) -> String) {
    for reason in &mut checked.reasons {
        reason.file = name(&reason.file);
    }
}
