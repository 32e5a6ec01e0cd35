//! Tells a service manager such as systemd when the server is ready and when it stops, over the socket named in
//! `NOTIFY_SOCKET` (`Type=notify` in a unit). Without that variable nothing is sent.

use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct ServiceManager {
    socket: Option<String>,
}

impl ServiceManager {
    pub fn from_env(env: &[(String, String)]) -> Self {
        let socket = env.iter().find(|(name, value)| name == "NOTIFY_SOCKET" && !value.is_empty());
        Self { socket: socket.map(|(_, value)| value.clone()) }
    }

    /// The server answers requests.
    pub(crate) fn ready(&self) {
        self.send("READY=1");
    }

    /// The server lets requests in progress finish.
    pub(crate) fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// Starting or stopping takes this much longer, counted from now.
    pub(crate) fn extend(&self, by: Duration) {
        self.send(&format!("EXTEND_TIMEOUT_USEC={}", by.as_micros()));
    }

    /// A manager that cannot be reached must not stop the server, but then it may: its timeout says why.
    fn send(&self, state: &str) {
        let Some(name) = &self.socket else { return };
        let sent = address(name).and_then(|to| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &to));
        if let Err(error) = sent {
            tracing::warn!(%error, state, "service manager not notified");
        }
    }
}

/// A path, or a name in the abstract namespace after an `@`.
fn address(name: &str) -> std::io::Result<SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = name.strip_prefix('@') {
        return <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name);
    }
    SocketAddr::from_pathname(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager(socket: &str) -> ServiceManager {
        ServiceManager::from_env(&[("NOTIFY_SOCKET".to_owned(), socket.to_owned())])
    }

    fn received(listener: &UnixDatagram) -> String {
        let mut buffer = [0; 64];
        let length = listener.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    #[test]
    fn the_manager_is_notified_at_a_path() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("notify");
        let listener = UnixDatagram::bind(&path).unwrap();
        let manager = manager(path.to_str().unwrap());
        manager.ready();
        assert_eq!(received(&listener), "READY=1");
        manager.stopping();
        assert_eq!(received(&listener), "STOPPING=1");
        manager.extend(Duration::from_millis(1500));
        assert_eq!(received(&listener), "EXTEND_TIMEOUT_USEC=1500000");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_manager_is_notified_in_the_abstract_namespace() {
        use std::os::linux::net::SocketAddrExt as _;
        let name = format!("dropleaf-notify-{}", std::process::id());
        let listener =
            UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name.as_bytes()).unwrap()).unwrap();
        manager(&format!("@{name}")).ready();
        assert_eq!(received(&listener), "READY=1");
    }

    #[test]
    fn a_missing_or_unreachable_manager_is_no_error() {
        manager("").ready();
        manager("/nonexistent/notify").ready();
    }
}
