//! Wraps the WebAuthn library: challenges for the browser as JSON, and verification of its responses. User verification is
//! always required, and credentials must be discoverable, so that people do not enter an address and responses do not depend
//! on one.

use anyhow::{Context, Result, ensure};
use dropleaf_app::NewPasskey;
use dropleaf_core::host::Origin;
use dropleaf_core::passkey::CEREMONY_SECONDS;
use serde_json::{Value, json};
use std::time::Duration;
use webauthn_rs::prelude::{
    DiscoverableAuthentication, Passkey, PasskeyRegistration, PublicKeyCredential,
    RegisterPublicKeyCredential, Url, Uuid, Webauthn, WebauthnBuilder,
};

/// Passkeys for one origin.
#[derive(Debug)]
pub struct Passkeys(Webauthn);

/// A challenge for the browser, and the state to store for it.
#[derive(Debug)]
pub struct Question {
    pub options: Value,
    pub state: String,
}

impl Passkeys {
    /// `None` if browsers do not offer passkeys: at an IP address, or without HTTPS unless on this machine.
    pub fn at(base: &Origin) -> Option<Self> {
        if base.is_ip() || !(base.scheme == "https" || base.is_loopback()) {
            return None;
        }
        let url = Url::parse(&base.url()).ok()?;
        let site = WebauthnBuilder::new(&base.host, &url).ok()?.rp_name("dropleaf");
        let timeout = Duration::from_secs(u64::try_from(CEREMONY_SECONDS).unwrap_or(300));
        site.timeout(timeout).build().ok().map(Self)
    }

    /// Starts the registration of a passkey for this person, on a device that has none of theirs yet.
    pub fn ask_new(&self, user: [u8; 16], name: &str, known: Vec<Vec<u8>>) -> Result<Question> {
        let (options, state) =
            self.0.start_passkey_registration(Uuid::from_bytes(user), name, name, Some(known))?;
        let mut options = serde_json::to_value(options)?;
        let selection = options.pointer_mut("/publicKey/authenticatorSelection");
        let selection = selection.and_then(Value::as_object_mut).context("no selection")?;
        selection.insert("residentKey".into(), json!("required"));
        selection.insert("requireResidentKey".into(), json!(true));
        Ok(Question { options, state: serde_json::to_string(&(user, state))? })
    }

    pub fn check_new(&self, state: &str, answer: &Value) -> Result<NewPasskey> {
        let (user, state): ([u8; 16], PasskeyRegistration) = serde_json::from_str(state)?;
        let answer: RegisterPublicKeyCredential = serde_json::from_value(answer.clone())?;
        let passkey = self.0.finish_passkey_registration(&answer, &state)?;
        Ok(NewPasskey {
            credential_id: passkey.cred_id().clone(),
            user_handle: user.to_vec(),
            credential: serde_json::to_string(&passkey)?,
        })
    }

    /// Starts a sign-in with any passkey of this site; the challenge does not depend on the person.
    pub fn ask_any(&self) -> Result<Question> {
        let (options, state) = self.0.start_discoverable_authentication()?;
        // Requested by a button, not as autofill while an address is typed.
        let options = json!({"publicKey": options.public_key});
        Ok(Question { options, state: serde_json::to_string(&state)? })
    }

    /// The credential and user that a response names. Nothing is verified yet.
    pub fn named(&self, answer: &Value) -> Result<(Vec<u8>, [u8; 16])> {
        let answer: PublicKeyCredential = serde_json::from_value(answer.clone())?;
        let (user, credential_id) = self.0.identify_discoverable_authentication(&answer)?;
        Ok((credential_id.to_vec(), user.into_bytes()))
    }

    /// Verifies a response against the stored credential. Returns the credential as updated by this use.
    pub fn check_use(&self, state: &str, answer: &Value, credential: &str) -> Result<String> {
        let state: DiscoverableAuthentication = serde_json::from_str(state)?;
        let answer: PublicKeyCredential = serde_json::from_value(answer.clone())?;
        let mut passkey: Passkey = serde_json::from_str(credential)?;
        let used = self.0.finish_discoverable_authentication_v2(&answer, state, &passkey)?;
        ensure!(used.user_verified(), "the user was not verified");
        passkey.update_credential(&used).context("the response is from a different credential")?;
        Ok(serde_json::to_string(&passkey)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> Option<Passkeys> {
        Passkeys::at(&Origin::parse(url).unwrap())
    }

    #[test]
    fn passkeys_need_a_name_and_a_safe_way() {
        assert!(at("https://drop.example").is_some() && at("http://localhost:8080").is_some());
        for bad in ["http://drop.example", "http://127.0.0.1:8080", "https://192.0.2.7", "http://[::1]:8080"]
        {
            assert!(at(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn questions_name_the_site_and_insist_on_the_person() {
        let passkeys = at("https://drop.example").unwrap();
        let new = passkeys.ask_new([7; 16], "ann@example.org", vec![vec![1, 2, 3]]).unwrap();
        let key = &new.options["publicKey"];
        assert_eq!(key["rp"]["id"], "drop.example");
        assert_eq!(key["user"]["name"], "ann@example.org");
        assert_eq!(key["excludeCredentials"][0]["id"], "AQID");
        assert_eq!(key["authenticatorSelection"]["residentKey"], "required");
        assert_eq!(key["authenticatorSelection"]["userVerification"], "required");
        let (one, two) = (passkeys.ask_any().unwrap(), passkeys.ask_any().unwrap());
        assert_eq!(one.options["publicKey"]["rpId"], "drop.example");
        assert_eq!(one.options["publicKey"]["userVerification"], "required");
        assert_eq!(one.options["publicKey"]["allowCredentials"], json!([]));
        assert_ne!(one.options["publicKey"]["challenge"], two.options["publicKey"]["challenge"]);
        assert!(passkeys.check_new(&one.state, &json!({})).is_err());
        assert!(passkeys.named(&json!({"id": "AQID"})).is_err());
    }
}
