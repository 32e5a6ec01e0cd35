//! A small DNS server on a free port: it answers from a table, fails, stays silent, or answers about other names.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

const A: u16 = 1;
const CNAME: u16 = 5;
const TXT: u16 = 16;
const NXDOMAIN: u8 = 3;
/// The longest chain of CNAME records in one answer.
const CHAIN: usize = 12;

/// What happens to questions about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DnsFault {
    ServFail,
    Refused,
    Silent,
    /// The records are sent as those of another name.
    Lies,
}

#[derive(Debug, Default)]
struct Zone {
    records: HashMap<(String, u16), Vec<Vec<u8>>>,
    /// The address of every name below these.
    wildcards: HashMap<String, Vec<u8>>,
    faults: HashMap<String, DnsFault>,
    questions: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct DnsServer {
    at: SocketAddr,
    zone: Arc<Mutex<Zone>>,
    /// Ends when it is dropped.
    _task: JoinSet<()>,
}

impl DnsServer {
    pub(crate) async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let at = socket.local_addr().unwrap();
        let zone = Arc::new(Mutex::new(Zone::default()));
        let shared = Arc::clone(&zone);
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut packet = [0; 1024];
            loop {
                let (size, from) = socket.recv_from(&mut packet).await.unwrap();
                let answer = shared.lock().unwrap_or_else(PoisonError::into_inner).answer(&packet[..size]);
                if let Some(answer) = answer {
                    socket.send_to(&answer, from).await.unwrap();
                }
            }
        });
        Self { at, zone, _task: task }
    }

    /// For the setting `dns.servers`.
    pub(crate) fn address(&self) -> String {
        self.at.to_string()
    }

    fn add(&self, name: &str, kind: u16, data: Vec<u8>) {
        let mut zone = self.zone.lock().unwrap();
        zone.records.entry((name.to_lowercase(), kind)).or_default().push(data);
    }

    pub(crate) fn cname(&self, name: &str, target: &str) {
        self.zone.lock().unwrap().records.remove(&(name.to_lowercase(), CNAME));
        self.add(name, CNAME, encode(target));
    }

    pub(crate) fn txt(&self, name: &str, value: &str) {
        let mut data = vec![u8::try_from(value.len()).unwrap()];
        data.extend(value.as_bytes());
        self.add(name, TXT, data);
    }

    pub(crate) fn address_of(&self, name: &str, ip: Ipv4Addr) {
        self.add(name, A, ip.octets().to_vec());
    }

    /// The address of every name one label below this one.
    pub(crate) fn wildcard(&self, parent: &str, ip: Ipv4Addr) {
        self.zone.lock().unwrap().wildcards.insert(parent.to_lowercase(), ip.octets().to_vec());
    }

    /// Removes all records and faults of a name.
    pub(crate) fn clear(&self, name: &str) {
        let mut zone = self.zone.lock().unwrap();
        zone.records.retain(|(known, _), _| *known != name.to_lowercase());
        zone.faults.remove(&name.to_lowercase());
    }

    pub(crate) fn fails(&self, name: &str, fault: DnsFault) {
        self.zone.lock().unwrap().faults.insert(name.to_lowercase(), fault);
    }

    /// How often it was asked about names that end like this.
    pub(crate) fn questions(&self, end: &str) -> usize {
        self.zone.lock().unwrap().questions.iter().filter(|name| name.ends_with(end)).count()
    }
}

impl Zone {
    fn answer(&mut self, query: &[u8]) -> Option<Vec<u8>> {
        let (name, after) = decode(query, 12)?;
        let kind = u16::from_be_bytes([*query.get(after)?, *query.get(after + 1)?]);
        self.questions.push(name.clone());
        let fault = self.faults.get(&name).copied();
        let code = match fault {
            Some(DnsFault::Silent) => return None,
            Some(DnsFault::ServFail) => 2,
            Some(DnsFault::Refused) => 5,
            Some(DnsFault::Lies) | None => 0,
        };
        let mut records = Vec::new();
        if code == 0 {
            let mut at = name.clone();
            // As a recursive server: what a CNAME points to is answered with it.
            for _ in 0..CHAIN {
                let owner = if fault == Some(DnsFault::Lies) { "other.example" } else { at.as_str() };
                let below = at.split_once('.').and_then(|(_, parent)| self.wildcards.get(parent));
                let found = |kind| match self.records.get(&(at.clone(), kind)) {
                    Some(records) => records.clone(),
                    None => below.filter(|_| kind == A).cloned().into_iter().collect(),
                };
                let exact = found(kind);
                records.extend(exact.iter().map(|data| record(owner, kind, data)));
                let alias = found(CNAME);
                let Some(alias) = alias.first().filter(|_| exact.is_empty()) else { break };
                records.push(record(owner, CNAME, alias));
                at = decode(alias, 0)?.0;
            }
        }
        let is_known = !records.is_empty() || self.records.keys().any(|(known, _)| *known == name);
        let code = if code == 0 && !is_known { NXDOMAIN } else { code };
        let mut answer = query.get(..2)?.to_vec();
        answer.extend([0x81, 0x80 | code, 0, 1]);
        answer.extend(u16::try_from(records.len()).ok()?.to_be_bytes());
        answer.extend([0, 0, 0, 0]);
        answer.extend(query.get(12..after + 4)?);
        answer.extend(records.concat());
        Some(answer)
    }
}

fn record(owner: &str, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut record = encode(owner);
    record.extend(kind.to_be_bytes());
    record.extend([0, 1, 0, 0, 0, 60]);
    record.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    record.extend(data);
    record
}

fn encode(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.trim_end_matches('.').split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

/// A name without compression, and where it ends.
fn decode(bytes: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        if length == 0 {
            return Some((labels.join(".").to_lowercase(), at));
        }
        labels.push(String::from_utf8_lossy(bytes.get(at..at + length)?).into_owned());
        at += length;
    }
}
