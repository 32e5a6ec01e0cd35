//! What the words of the lists stand for: secrets that fields ask for, and topics of pages.

/// What a field asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Secret {
    Password,
    MailPassword,
    Card,
    Cvv,
    Expiry,
    Code,
    Person,
    Birth,
    Phrase,
    Wifi,
    PrivateKey,
    /// The cookie of a session, which is as good as its password.
    Session,
    /// A key or token that a program uses to call an API. Tools ask for their user's own.
    ApiKey,
    Account,
    Details,
}

/// The meaning of a phrase on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Phrase {
    Brand { brand: u16, ordinary: bool },
    Signature { brand: u16 },
    Topic(Topic),
}

/// What pages talk about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Topic {
    Pressure,
    Document,
    Router,
    Portal,
    Wifi,
    Wrong,
    Bank,
    Claim,
    Human,
    Command,
    /// Opens the Run dialog. A command too.
    OpensRun,
    /// Pastes something unseen. A command too.
    Pastes,
    Alarm,
    Scan,
    Wallet,
    Demo,
    About,
    Practice,
    SignIn,
    Kit,
    IdPhoto,
    /// Something of the visitor's is being checked, or has been.
    Checked,
}

pub(crate) fn secret_of(name: &str) -> Option<Secret> {
    Some(match name {
        "password" => Secret::Password,
        "mail-password" => Secret::MailPassword,
        "card" => Secret::Card,
        "cvv" => Secret::Cvv,
        "expiry" => Secret::Expiry,
        "code" => Secret::Code,
        "person" => Secret::Person,
        "birth" => Secret::Birth,
        "phrase" => Secret::Phrase,
        "wifi" => Secret::Wifi,
        "private-key" => Secret::PrivateKey,
        "session" => Secret::Session,
        "api-key" => Secret::ApiKey,
        "account" => Secret::Account,
        "details" => Secret::Details,
        _ => return None,
    })
}

pub(crate) fn topic_of(name: &str) -> Option<Topic> {
    Some(match name {
        "pressure" => Topic::Pressure,
        "document" => Topic::Document,
        "router" => Topic::Router,
        "portal" => Topic::Portal,
        "wifi" => Topic::Wifi,
        "wrong" => Topic::Wrong,
        "bank" => Topic::Bank,
        "claim" => Topic::Claim,
        "human" => Topic::Human,
        "command" => Topic::Command,
        "opens-run" => Topic::OpensRun,
        "pastes" => Topic::Pastes,
        "alarm" => Topic::Alarm,
        "scan" => Topic::Scan,
        "wallet" => Topic::Wallet,
        "demo" => Topic::Demo,
        "about" => Topic::About,
        "practice" => Topic::Practice,
        "sign-in" => Topic::SignIn,
        "kit" => Topic::Kit,
        "id-photo" => Topic::IdPhoto,
        "checked" => Topic::Checked,
        _ => return None,
    })
}
