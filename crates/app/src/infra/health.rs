//! Hands the health checks what they need of the app. They run in the server and on the command line, where no app is open.

use crate::app::App;
use dropleaf_core::Clock;
use dropleaf_core::secret::Keys;
use dropleaf_core::self_check;
use dropleaf_store::Store;
use std::sync::Arc;

/// The storage as it is open now, and the secret that signs requests of the server to itself.
#[derive(Debug, Clone)]
pub struct HealthParts {
    pub store: Store,
    pub keys: Keys,
    pub clock: Arc<dyn Clock>,
}

impl App {
    pub fn health_parts(&self) -> HealthParts {
        HealthParts { store: self.store.clone(), keys: self.keys.clone(), clock: Arc::clone(&self.clock) }
    }

    /// The nonce of a valid token of a request that this server sent to itself.
    pub fn verify_self_check<'a>(&self, token: &'a str) -> Option<&'a str> {
        self_check::verify(&self.keys, token, self.now())
    }

    /// Shows the sender that this server answered.
    pub fn self_check_proof(&self, nonce: &str) -> String {
        self_check::proof(&self.keys, nonce)
    }
}
