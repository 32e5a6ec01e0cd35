//! Faults that a test switches on for the next requests to a path: `POST /sandbox/faults`.

use super::ProcessorState;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

const MOST_FAULTS: usize = 100;
const MOST_TIMES: u32 = 1000;
const LONGEST_PATH: usize = 400;

/// Faults that are waiting for their requests.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<NewFault>>);

/// A fault for the next requests to a path.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewFault {
    /// The beginning of the path.
    path: String,
    fault: FaultKind,
    /// How many requests fail.
    #[serde(default = "once")]
    times: u32,
}

const fn once() -> u32 {
    1
}

/// What goes wrong. Names that end in `after` do what was requested first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FaultKind {
    /// Status 500.
    Error,
    ErrorAfter,
    /// No answer.
    Stall,
    StallAfter,
    /// The connection is closed.
    Close,
    CloseAfter,
    /// Does what was requested and answers with a text that is not JSON.
    Garbage,
    /// Status 429.
    RateLimit,
    /// Receives the request twice, as if the client had repeated it, and sends the second answer.
    Replay,
}

/// How often the request is carried out before it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    None,
    Once,
    Twice,
}

impl FaultKind {
    pub(super) const fn work(self) -> Work {
        match self {
            Self::Error | Self::Stall | Self::Close | Self::RateLimit => Work::None,
            Self::ErrorAfter | Self::StallAfter | Self::CloseAfter | Self::Garbage => Work::Once,
            Self::Replay => Work::Twice,
        }
    }
}

impl Faults {
    /// The fault for a request to this path, which uses it up.
    pub(super) fn take(&self, path: &str) -> Option<FaultKind> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = faults.iter().position(|fault| path.starts_with(&fault.path))?;
        let fault = faults.get_mut(at)?;
        let kind = fault.fault;
        fault.times = fault.times.saturating_sub(1);
        if fault.times == 0 {
            faults.remove(at);
        }
        Some(kind)
    }

    fn add(&self, fault: NewFault) -> Result<(), &'static str> {
        if !fault.path.starts_with("/v1/") || fault.path.len() > LONGEST_PATH {
            return Err("The path must begin with /v1/.");
        }
        if !(1..=MOST_TIMES).contains(&fault.times) {
            return Err("A fault happens 1 to 1000 times.");
        }
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() >= MOST_FAULTS {
            return Err("There are too many faults.");
        }
        faults.push(fault);
        Ok(())
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

pub(super) async fn add(State(state): State<Arc<ProcessorState>>, body: Bytes) -> Response {
    let added = match serde_json::from_slice(&body) {
        Ok(fault) => state.faults.add(fault),
        Err(_) => Err("Send JSON such as {\"path\": \"/v1/payment_intents\", \"fault\": \"error_after\"}."),
    };
    match added {
        Ok(()) => state.json(200, &json!({ "ok": true })),
        Err(message) => state.error(400, "invalid_request_error", message),
    }
}

pub(super) async fn clear(State(state): State<Arc<ProcessorState>>) -> Response {
    state.faults.clear();
    state.json(200, &json!({ "ok": true }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(path: &str, fault: &str, times: u32) -> NewFault {
        serde_json::from_value(json!({ "path": path, "fault": fault, "times": times })).unwrap()
    }

    #[test]
    fn a_fault_happens_to_its_path_as_often_as_requested() {
        let faults = Faults::default();
        faults.add(fault("/v1/payment_intents", "error_after", 2)).unwrap();
        faults.add(fault("/v1/payment_intents", "stall", 1)).unwrap();
        assert_eq!(faults.take("/v1/refunds"), None);
        let path = "/v1/payment_intents/pi_1";
        let taken: Vec<_> = (0..4).map(|_| faults.take(path)).collect();
        let (error, stall) = (Some(FaultKind::ErrorAfter), Some(FaultKind::Stall));
        assert_eq!(taken, [error, error, stall, None]);
    }

    #[test]
    fn faults_are_limited() {
        let faults = Faults::default();
        for bad in [fault("/sandbox", "stall", 1), fault("/v1/x", "stall", 0), fault("/v1/x", "stall", 1001)]
        {
            assert!(faults.add(bad).is_err());
        }
        for _ in 0..MOST_FAULTS {
            faults.add(fault("/v1/x", "garbage", 1)).unwrap();
        }
        assert!(faults.add(fault("/v1/x", "garbage", 1)).is_err());
        faults.clear();
        assert_eq!(faults.take("/v1/x"), None);
    }
}
