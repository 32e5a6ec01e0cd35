//! What has to be done with the database before the first request is served. An attempt that fails can be repeated.

use crate::config::Resolved;
use crate::welcome;
use anyhow::Result;
use dropleaf_app::{App, NewOperator};
use dropleaf_core::Code;
use std::time::Duration;

/// How long the start waits for the facilitator's supported networks.
const FACILITATOR_PATIENCE: Duration = Duration::from_secs(3);
/// How long a start that is interrupted takes to find out whether it has created the operator.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Preparation {
    /// Set once there was no operator.
    operator: Option<NewOperator>,
    first_key: FirstKey,
    knows_networks: bool,
    /// The last attempt found a node with another `secret_key`.
    pub(crate) is_other_secret: bool,
}

/// Whether the key of that operator exists, and so must be shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum FirstKey {
    #[default]
    NotCreated,
    Created,
    Shown,
}

/// The result.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The operator's new key, if this was the first start.
    pub(crate) first_key: Option<String>,
    /// A sign-in link for the operator, if this was the first start.
    pub(crate) first_link: Option<String>,
    /// The facilitator's supported networks are known.
    pub(crate) knows_networks: bool,
}

impl Preparation {
    pub(crate) async fn attempt(&mut self, resolved: &Resolved, app: &App) -> Result<Prepared> {
        // Before anything is written with the wrong key.
        let claimed = app.claim_node_secret().await;
        self.is_other_secret = claimed.as_ref().is_err_and(|error| error.code == Code::Conflict);
        claimed?;
        if !self.knows_networks {
            // An unresponsive facilitator must not keep the pages from being served.
            let refreshed = tokio::time::timeout(FACILITATOR_PATIENCE, app.refresh_listings()).await;
            self.knows_networks = refreshed.unwrap_or(false);
        }
        app.release_payment_leases().await?;
        // Before the first request: a verified name must never be answered as an unknown one.
        app.served_domains_changed().await?;
        // Last, so that little can fail between the creation of the key and the moment it is shown.
        self.ensure_operator(resolved, app).await?;
        let mut prepared =
            Prepared { first_key: None, first_link: None, knows_networks: self.knows_networks };
        if let Some(operator) = &self.operator
            && self.first_key != FirstKey::NotCreated
        {
            match app.create_sign_in_link(&operator.account).await {
                Ok(link) => prepared.first_link = Some(link),
                Err(error) => {
                    self.show_key(resolved);
                    return Err(error.into());
                }
            }
            // After an attempt that failed it is shown already, and not a second time.
            prepared.first_key = (self.first_key == FirstKey::Created).then(|| operator.key.secret.clone());
        }
        Ok(prepared)
    }

    async fn ensure_operator(&mut self, resolved: &Resolved, app: &App) -> Result<()> {
        let address = &resolved.config.operator.email;
        if app.ensure_operator(address, &mut self.operator).await? && self.first_key == FirstKey::NotCreated {
            self.first_key = FirstKey::Created;
        }
        Ok(())
    }

    /// For a start that ends early: shows the key if it exists.
    pub(crate) async fn interrupt(&mut self, resolved: &Resolved, app: &App) {
        if self.operator.is_some() && self.first_key == FirstKey::NotCreated {
            let asked = tokio::time::timeout(LAST_PATIENCE, self.ensure_operator(resolved, app)).await;
            if !matches!(asked, Ok(Ok(()))) {
                tracing::warn!(
                    "the first start was interrupted; if `dropleaf account list` shows the operator's account, create a key \
                     with `dropleaf account key EMAIL`"
                );
            }
        }
        self.show_key(resolved);
    }

    /// Prints the key of a first start that may not come to its welcome message.
    fn show_key(&mut self, resolved: &Resolved) {
        if let Some(operator) = &self.operator
            && self.first_key == FirstKey::Created
        {
            welcome::print_key(resolved, &operator.key.secret);
            self.first_key = FirstKey::Shown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};
    use crate::{startup, tls};
    use dropleaf_store::{Db, Stmt};
    use tempfile::TempDir;

    #[tokio::test(flavor = "multi_thread")]
    async fn repeated_attempt_returns_the_key_of_the_first() {
        tls::install_provider();
        let dir = TempDir::new().unwrap();
        let flags = vec![("data_dir".to_owned(), dir.path().display().to_string())];
        let config = Layers::load(&Sources { flags, ..Sources::default() }).unwrap().config().unwrap();
        let resolved = config.resolve(8080).unwrap();
        let app = startup::open_app(&resolved).await.unwrap();
        let mut preparation = Preparation::default();
        let first = preparation.attempt(&resolved, &app).await.unwrap();
        let second = preparation.attempt(&resolved, &app).await.unwrap();
        assert!(first.first_key.is_some() && first.first_link.is_some());
        assert_eq!(first.first_key, second.first_key);
        let later = Preparation::default().attempt(&resolved, &app).await.unwrap();
        assert_eq!((later.first_key, later.first_link), (None, None));
        app.close().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn key_that_a_failed_attempt_has_shown_is_not_shown_again() {
        tls::install_provider();
        let dir = TempDir::new().unwrap();
        let flags = vec![("data_dir".to_owned(), dir.path().display().to_string())];
        let config = Layers::load(&Sources { flags, ..Sources::default() }).unwrap().config().unwrap();
        let resolved = config.resolve(8080).unwrap();
        let app = startup::open_app(&resolved).await.unwrap();
        let db = Db::open(&resolved.database_url).await.unwrap();
        // Fails after the operator was created.
        db.exec(Stmt::new("ALTER TABLE sign_ins RENAME TO sign_ins_away", [])).await.unwrap();
        let mut preparation = Preparation::default();
        preparation.attempt(&resolved, &app).await.unwrap_err();
        assert_eq!(preparation.first_key, FirstKey::Shown);
        db.exec(Stmt::new("ALTER TABLE sign_ins_away RENAME TO sign_ins", [])).await.unwrap();
        let prepared = preparation.attempt(&resolved, &app).await.unwrap();
        assert!(prepared.first_key.is_none() && prepared.first_link.is_some());
        db.close().await;
        app.close().await;
    }
}
