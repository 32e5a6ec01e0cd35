//! The password of a page: from a file or the environment for scripts, or typed twice.

use super::{ClientEnvironment, Publish};
use anyhow::{Context, Result, ensure};

impl Publish {
    /// `None` if the page gets no password. A password that was requested but is empty is an error, because the page would be
    /// published without it.
    pub(super) fn page_password(&self, environment: &ClientEnvironment) -> Result<Option<String>> {
        let password = if let Some(path) = &self.password_file {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the password from {}", path.display()))?;
            text.lines().next().unwrap_or_default().to_owned()
        } else if !self.password {
            return Ok(None);
        } else if let Some(password) = &environment.page_password {
            password.clone()
        } else {
            let first = rpassword::prompt_password("Password for viewers: ").context(
                "no terminal available for the password prompt; set DROPLEAF_PAGE_PASSWORD or --password-file",
            )?;
            ensure!(
                first.trim().is_empty() || rpassword::prompt_password("Again: ")? == first,
                "the entries do not match"
            );
            first
        };
        ensure!(!password.trim().is_empty(), "the password is empty");
        Ok(Some(password))
    }
}
