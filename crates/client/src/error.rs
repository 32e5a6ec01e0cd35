//! Why a call failed, in words for the person who made it.

/// A call that gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("`{0}` is not the address of a server; it should look like https://pages.example.org")]
    Address(String),
    /// Nobody answered, or not to the end.
    #[error("{server} cannot be reached: {why}")]
    Unreachable { server: String, why: String },
    /// The server said no.
    #[error("{description}{}", retry(*retry_after))]
    Refused { status: u16, code: String, description: String, retry_after: Option<u64> },
    /// Whatever answered does not speak as a dropleaf server does.
    #[error("{server} answered {status}, but not as a dropleaf server does; is the address right?")]
    Strange { server: String, status: u16 },
}

fn retry(after: Option<u64>) -> String {
    after.map_or_else(String::new, |seconds| format!(" (again in {seconds} s)"))
}

impl ClientError {
    /// The server's stable code, if it gave one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } | Self::Strange { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// What went wrong on the way, down to the last cause: that one says `Connection refused`.
    pub(crate) fn on_the_way(server: &str, error: &reqwest::Error) -> Self {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let why =
            if error.is_timeout() { "it took too long to answer".to_owned() } else { cause.to_string() };
        Self::Unreachable { server: server.to_owned(), why }
    }
}
