//! The messages of dynamic DNS updates: adds or removes one TXT record, signed with a shared key. RFC 2136, RFC 8945. Pure;
//! the exchange is in `rfc2136.rs`.

use crate::config::{Rfc2136Settings, TsigAlgorithm};
use anyhow::{Context, Result, bail, ensure};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha512};

const TYPE_SOA: u16 = 6;
const TYPE_TXT: u16 = 16;
const TYPE_TSIG: u16 = 250;
const CLASS_IN: u16 = 1;
const CLASS_NONE: u16 = 254;
const CLASS_ANY: u16 = 255;
/// Opcode 5.
const UPDATE_FLAGS: u16 = 5 << 11;
const TTL: u32 = 60;
/// Seconds that the two clocks may differ.
const FUDGE: u16 = 300;
const HEADER: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Add,
    Remove,
}

/// A signed message and its signature, which the response must refer to.
#[derive(Debug)]
pub(super) struct SignedUpdate {
    pub(super) message: Vec<u8>,
    pub(super) mac: Vec<u8>,
    pub(super) id: u16,
}

pub(super) fn update(
    set: &Rfc2136Settings,
    change: Change,
    name: &str,
    value: &str,
    id: u16,
    now: i64,
) -> Result<SignedUpdate> {
    let mut message = Vec::new();
    for field in [id, UPDATE_FLAGS, 1, 0, 1, 0] {
        message.extend(field.to_be_bytes());
    }
    push_name(&mut message, &set.zone)?;
    push_numbers(&mut message, &[TYPE_SOA, CLASS_IN]);
    push_name(&mut message, name)?;
    let (class, ttl) = if change == Change::Add { (CLASS_IN, TTL) } else { (CLASS_NONE, 0) };
    push_numbers(&mut message, &[TYPE_TXT, class]);
    message.extend(ttl.to_be_bytes());
    let len = u8::try_from(value.len()).context("the TXT value is too long")?;
    push_numbers(&mut message, &[u16::from(len) + 1]);
    message.push(len);
    message.extend(value.as_bytes());
    let time = u64::try_from(now)?.to_be_bytes();
    let signed = [message.as_slice(), &tsig_variables(set, &time[2..], FUDGE, 0, &[])?].concat();
    let mac = sign(set, &signed)?;
    // One additional record: the signature.
    message[HEADER - 1] = 1;
    push_name(&mut message, &set.key_name)?;
    push_numbers(&mut message, &[TYPE_TSIG, CLASS_ANY, 0, 0]);
    let mut data = Vec::new();
    push_name(&mut data, set.algorithm.name())?;
    data.extend(&time[2..]);
    push_numbers(&mut data, &[FUDGE, u16::try_from(mac.len())?]);
    data.extend(&mac);
    push_numbers(&mut data, &[id, 0, 0]);
    push_numbers(&mut message, &[u16::try_from(data.len())?]);
    message.extend(data);
    Ok(SignedUpdate { message, mac, id })
}

/// Checks that the server applied the update, and that the response is signed with our key.
pub(super) fn check_response(set: &Rfc2136Settings, update: &SignedUpdate, response: &[u8]) -> Result<()> {
    let short = "the response of the DNS server is too short";
    let number = |at: usize| -> Result<u16> {
        let bytes = response.get(at..at + 2).context(short)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    ensure!(number(0)? == update.id && number(2)? & 0x8000 != 0, "the DNS server answered something else");
    let code = number(2)? & 0xf;
    if code != 0 {
        bail!("the DNS server refused the update: {}", code_name(code));
    }
    // The signature is the last record.
    let mut at = HEADER;
    for _ in 0..number(4)? {
        at = skip_name(response, at)? + 4;
    }
    let records = u32::from(number(6)?) + u32::from(number(8)?) + u32::from(number(10)?);
    ensure!(records > 0 && number(10)? > 0, "the response of the DNS server is not signed");
    for _ in 1..records {
        at = skip_name(response, at)? + 8;
        at += 2 + usize::from(number(at)?);
    }
    let start = at;
    at = skip_name(response, at)?;
    ensure!(number(at)? == TYPE_TSIG, "the response of the DNS server is not signed");
    let at = skip_name(response, at + 10)?;
    let time = response.get(at..at + 6).context(short)?;
    let (fudge, len) = (number(at + 6)?, usize::from(number(at + 8)?));
    let mac = response.get(at + 10..at + 10 + len).context(short)?;
    let (error, other_len) = (number(at + 12 + len)?, usize::from(number(at + 14 + len)?));
    let other = response.get(at + 16 + len..at + 16 + len + other_len).context(short)?;
    ensure!(error == 0, "the DNS server refused the signature: error {error}");
    let mut unsigned = response[..start].to_vec();
    let count = number(10)? - 1;
    unsigned[10..HEADER].copy_from_slice(&count.to_be_bytes());
    let request_len = u16::try_from(update.mac.len())?.to_be_bytes();
    let variables = tsig_variables(set, time, fudge, error, other)?;
    let signed = [&request_len[..], &update.mac, &unsigned, &variables].concat();
    ensure!(verify(set, &signed, mac), "the response of the DNS server has a wrong signature");
    Ok(())
}

impl TsigAlgorithm {
    const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "hmac-sha256",
            Self::Sha512 => "hmac-sha512",
        }
    }
}

/// What is signed in addition to the message. RFC 8945 §4.3.3.
fn tsig_variables(
    set: &Rfc2136Settings,
    time: &[u8],
    fudge: u16,
    error: u16,
    other: &[u8],
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    push_name(&mut out, &set.key_name)?;
    push_numbers(&mut out, &[CLASS_ANY, 0, 0]);
    push_name(&mut out, set.algorithm.name())?;
    out.extend(time);
    push_numbers(&mut out, &[fudge, error, u16::try_from(other.len())?]);
    out.extend(other);
    Ok(out)
}

fn sign(set: &Rfc2136Settings, message: &[u8]) -> Result<Vec<u8>> {
    let unusable = "the TSIG key cannot be used";
    Ok(match set.algorithm {
        TsigAlgorithm::Sha256 => {
            let mac = Hmac::<Sha256>::new_from_slice(&set.key_secret).ok().context(unusable)?;
            mac.chain_update(message).finalize().into_bytes().to_vec()
        }
        TsigAlgorithm::Sha512 => {
            let mac = Hmac::<Sha512>::new_from_slice(&set.key_secret).ok().context(unusable)?;
            mac.chain_update(message).finalize().into_bytes().to_vec()
        }
    })
}

fn verify(set: &Rfc2136Settings, message: &[u8], mac: &[u8]) -> bool {
    match set.algorithm {
        TsigAlgorithm::Sha256 => Hmac::<Sha256>::new_from_slice(&set.key_secret)
            .is_ok_and(|it| it.chain_update(message).verify_slice(mac).is_ok()),
        TsigAlgorithm::Sha512 => Hmac::<Sha512>::new_from_slice(&set.key_secret)
            .is_ok_and(|it| it.chain_update(message).verify_slice(mac).is_ok()),
    }
}

fn push_numbers(out: &mut Vec<u8>, numbers: &[u16]) {
    for number in numbers {
        out.extend(number.to_be_bytes());
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) -> Result<()> {
    for label in name.strip_suffix('.').unwrap_or(name).split('.') {
        let len = u8::try_from(label.len()).ok().filter(|len| (1..=63).contains(len));
        out.push(len.with_context(|| format!("`{name}` is not a DNS name"))?);
        out.extend(label.to_ascii_lowercase().as_bytes());
    }
    out.push(0);
    Ok(())
}

/// The position after a name, which may end in a pointer.
fn skip_name(message: &[u8], mut at: usize) -> Result<usize> {
    loop {
        match message.get(at).context("the response of the DNS server is too short")? {
            0 => return Ok(at + 1),
            len @ 1..=63 => at += 1 + usize::from(*len),
            0xc0.. => return Ok(at + 2),
            _ => bail!("the response of the DNS server cannot be read"),
        }
    }
}

fn code_name(code: u16) -> String {
    let name = match code {
        1 => "FORMERR",
        2 => "SERVFAIL",
        4 => "NOTIMP",
        5 => "REFUSED (the key may not change this name)",
        9 => "NOTAUTH (unknown key, wrong secret, wrong clock or not this server's zone)",
        10 => "NOTZONE (the name is not in `tls.acme.rfc2136_zone`)",
        other => return format!("code {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const NOW: i64 = 1_800_000_000;

    fn settings(algorithm: TsigAlgorithm) -> Rfc2136Settings {
        Rfc2136Settings {
            server: "127.0.0.1:53".into(),
            zone: "pages.example".into(),
            key_name: "dropleaf".into(),
            key_secret: b"a shared secret".to_vec(),
            algorithm,
            timeout: Duration::from_secs(1),
        }
    }

    fn sent(set: &Rfc2136Settings) -> SignedUpdate {
        update(set, Change::Add, "_acme-challenge.pages.example", "value", 0x1234, NOW).unwrap()
    }

    /// What a server sends back: the zone section, and a signature over it.
    fn response(set: &Rfc2136Settings, update: &SignedUpdate, flags: u16) -> Vec<u8> {
        let mut message = Vec::new();
        push_numbers(&mut message, &[update.id, flags, 1, 0, 0, 0]);
        push_name(&mut message, &set.zone).unwrap();
        push_numbers(&mut message, &[TYPE_SOA, CLASS_IN]);
        let time = &NOW.to_be_bytes()[2..];
        let len = u16::try_from(update.mac.len()).unwrap().to_be_bytes();
        let variables = tsig_variables(set, time, FUDGE, 0, &[]).unwrap();
        let mac = sign(set, &[&len[..], &update.mac, &message, &variables].concat()).unwrap();
        message[HEADER - 1] = 1;
        push_name(&mut message, &set.key_name).unwrap();
        push_numbers(&mut message, &[TYPE_TSIG, CLASS_ANY, 0, 0]);
        let mut data = Vec::new();
        push_name(&mut data, set.algorithm.name()).unwrap();
        data.extend(time);
        push_numbers(&mut data, &[FUDGE, u16::try_from(mac.len()).unwrap()]);
        data.extend(mac);
        push_numbers(&mut data, &[update.id, 0, 0]);
        push_numbers(&mut message, &[u16::try_from(data.len()).unwrap()]);
        message.extend(data);
        message
    }

    #[test]
    fn an_update_names_zone_record_and_key() {
        let set = settings(TsigAlgorithm::Sha256);
        let signed = sent(&set);
        assert_eq!(signed.message[..12], [0x12, 0x34, 0x28, 0, 0, 1, 0, 0, 0, 1, 0, 1]);
        assert_eq!(signed.message[12..31], *b"\x05pages\x07example\x00\x00\x06\x00\x01"[..19].to_vec());
        let text = String::from_utf8_lossy(&signed.message).into_owned();
        assert!(text.contains("\u{5}value") && text.contains("hmac-sha256") && text.contains("dropleaf"));
        assert_eq!(signed.mac.len(), 32);
        let removed = update(&set, Change::Remove, "_acme-challenge.pages.example", "value", 1, NOW).unwrap();
        assert_ne!(removed.mac, signed.mac);
        assert!(update(&set, Change::Add, "a..b", "value", 1, NOW).is_err());
        assert!(update(&set, Change::Add, "a.b", &"v".repeat(256), 1, NOW).is_err());
    }

    #[test]
    fn only_a_response_signed_with_the_key_counts() {
        for algorithm in [TsigAlgorithm::Sha256, TsigAlgorithm::Sha512] {
            let set = settings(algorithm);
            let update = sent(&set);
            let good = response(&set, &update, 0xa800);
            check_response(&set, &update, &good).unwrap();
            let other = Rfc2136Settings { key_secret: b"another".to_vec(), ..set.clone() };
            assert!(
                check_response(&other, &update, &good).unwrap_err().to_string().contains("wrong signature")
            );
            // The zone section; then, after the names of key and algorithm, time and signature.
            for at in (12..31).chain(64..74 + update.mac.len()) {
                let mut changed = good.clone();
                changed[at] ^= 1;
                assert!(check_response(&set, &update, &changed).is_err(), "byte {at}");
            }
            for end in 0..good.len() {
                assert!(check_response(&set, &update, &good[..end]).is_err(), "{end} bytes");
            }
        }
    }

    #[test]
    fn refusals_say_what_to_do() {
        let set = settings(TsigAlgorithm::Sha256);
        let update = sent(&set);
        let why =
            |flags| check_response(&set, &update, &response(&set, &update, flags)).unwrap_err().to_string();
        assert!(why(0xa809).contains("NOTAUTH") && why(0xa80a).contains("rfc2136_zone"));
        assert!(why(0xa805).contains("REFUSED") && why(0xa80f).contains("code 15"));
        assert!(why(0x2800).contains("something else"));
    }
}
