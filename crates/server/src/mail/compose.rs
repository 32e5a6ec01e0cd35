//! Formats an email (RFC 5322). Most of ours are plain ASCII; one with an operator's text may contain any script and is
//! encoded as quoted-printable (RFC 2045).

use super::Sender;
use dropleaf_app::{Email, MailError};
use dropleaf_core::iso;
use lettre::Address;
use lettre::address::Envelope;
use std::fmt::Write;

/// The maximum length of a line, without its end.
const LINE: usize = 998;

/// The envelope, and the message with all headers.
pub(super) fn message(email: &Email, from: &Sender) -> Result<(Envelope, Vec<u8>), MailError> {
    let unreachable = || MailError::Permanent("the address is invalid".into());
    let to: Address = email.to.parse().map_err(|_| unreachable())?;
    let good = |line: &str| line.len() <= LINE && line.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    let is_plain = email.text.lines().all(good);
    let coding = if is_plain { "7bit" } else { "quoted-printable" };
    let mut headers = vec![
        ("From", from.to_string()),
        ("To", to.to_string()),
        ("Subject", email.subject.clone()),
        ("Date", date(email.written_at)),
        ("Message-ID", format!("<{}@{}>", email.id, from.address.domain())),
        // Tells mail programs not to reply automatically (RFC 3834).
        ("Auto-Submitted", "auto-generated".into()),
        ("MIME-Version", "1.0".into()),
        ("Content-Type", "text/plain; charset=utf-8".into()),
        ("Content-Transfer-Encoding", coding.into()),
    ];
    if let Some(url) = &email.unsubscribe {
        headers.push(("List-Unsubscribe", format!("<{url}>")));
        // One click without a page (RFC 8058), which is defined for https alone.
        if url.starts_with("https://") {
            headers.push(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".into()));
        }
    }
    let mut out = String::new();
    for (name, value) in &headers {
        if !good(value) {
            return Err(MailError::Permanent(format!("the header {name} is too long or not ASCII")));
        }
        out.extend([name, ": ", value, "\r\n"]);
    }
    out.push_str("\r\n");
    for line in email.text.lines() {
        if line.chars().any(|c| c.is_control() && c != '\t') {
            return Err(MailError::Permanent("the text contains control characters".into()));
        }
        if is_plain {
            out.push_str(line);
        } else {
            push_quoted(&mut out, line);
        }
        out.push_str("\r\n");
    }
    let envelope = Envelope::new(Some(from.address.clone()), vec![to]).map_err(|_| unreachable())?;
    Ok((envelope, out.into_bytes()))
}

/// Encodes one line as quoted-printable, in lines of at most 76 characters.
fn push_quoted(out: &mut String, line: &str) {
    let mut width = 0;
    for (at, byte) in line.bytes().enumerate() {
        let is_last = at + 1 == line.len();
        let plain = (byte.is_ascii_graphic() && byte != b'=') || (byte == b' ' && !is_last);
        let needed = if plain { 1 } else { 3 };
        // Leaves room for the soft line break.
        if width + needed > 75 {
            out.push_str("=\r\n");
            width = 0;
        }
        if plain {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "={byte:02X}");
        }
        width += needed;
    }
}

/// `Fri, 15 Jan 2027 08:00:00 +0000`
fn date(epoch: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = iso::format(epoch);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let weekday = usize::try_from(epoch.div_euclid(86_400).rem_euclid(7)).unwrap_or_default();
    let month = part(5, 7).parse::<usize>().unwrap_or(1).clamp(1, 12) - 1;
    format!("{}, {} {} {} {} +0000", DAYS[weekday], part(8, 10), MONTHS[month], part(0, 4), part(11, 19))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_email_is_plain_text_with_everything_mail_servers_ask_for() {
        let email = Email {
            id: "0123".into(),
            written_at: 1_800_000_000,
            to: "ann@example.org".into(),
            subject: "1234 5678 is your code".into(),
            text: "Your code is 1234 5678\n\nBye\n".into(),
            unsubscribe: None,
        };
        let from: Sender = "dropleaf <mail@drop.example>".parse().unwrap();
        let (envelope, bytes) = message(&email, &from).unwrap();
        assert_eq!(envelope.to()[0].to_string(), "ann@example.org");
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "From: dropleaf <mail@drop.example>\r\nTo: ann@example.org\r\nSubject: 1234 5678 is your code\r\n\
             Date: Fri, 15 Jan 2027 08:00:00 +0000\r\nMessage-ID: <0123@drop.example>\r\n\
             Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Transfer-Encoding: 7bit\r\n\r\nYour code is 1234 5678\r\n\r\nBye\r\n"
        );
        for odd in [
            Email { to: "a@example.org\r\nBcc: b@example.org".into(), ..email.clone() },
            Email { subject: "a\r\nBcc: b@example.org".into(), ..email.clone() },
            Email { text: "a\u{1b}b".into(), ..email.clone() },
            Email { text: "a\rb".into(), ..email },
        ] {
            assert!(message(&odd, &from).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn words_in_any_script_arrive_as_they_are() {
        let words = format!("> Schön = gut \n> Да.\t\n{}", "x".repeat(100));
        let email = Email {
            id: "0123".into(),
            written_at: 0,
            to: "ann@example.org".into(),
            subject: "Hello".into(),
            text: words,
            unsubscribe: None,
        };
        let from: Sender = "mail@drop.example".parse().unwrap();
        let text = String::from_utf8(message(&email, &from).unwrap().1).unwrap();
        let (headers, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(headers.ends_with("Content-Transfer-Encoding: quoted-printable"), "{headers}");
        assert_eq!(
            body,
            format!(
                "> Sch=C3=B6n =3D gut=20\r\n> =D0=94=D0=B0.=09\r\n{}=\r\n{}\r\n",
                "x".repeat(75),
                "x".repeat(25)
            )
        );
        assert!(body.lines().all(|line| line.len() <= 76));
    }

    #[test]
    fn a_subscription_is_ended_with_one_click_over_https() {
        let email = |url: &str| Email {
            id: "0123".into(),
            written_at: 0,
            to: "ann@example.org".into(),
            subject: "News".into(),
            text: "News\n".into(),
            unsubscribe: Some(url.into()),
        };
        let from: Sender = "mail@drop.example".parse().unwrap();
        let text = |url: &str| String::from_utf8(message(&email(url), &from).unwrap().1).unwrap();
        let secure = text("https://drop.example/unsubscribe/x");
        assert!(
            secure.contains("\r\nList-Unsubscribe: <https://drop.example/unsubscribe/x>\r\n"),
            "{secure}"
        );
        assert!(secure.contains("\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), "{secure}");
        let plain = text("http://localhost:8080/unsubscribe/x");
        assert!(plain.contains("List-Unsubscribe: <") && !plain.contains("List-Unsubscribe-Post"), "{plain}");
    }

    #[test]
    fn dates_have_their_weekday() {
        assert_eq!(date(0), "Thu, 01 Jan 1970 00:00:00 +0000");
        assert_eq!(date(951_782_400), "Tue, 29 Feb 2000 00:00:00 +0000");
    }
}
