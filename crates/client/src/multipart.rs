//! Encodes a `multipart/form-data` body in memory.

use crate::client::Outgoing;

/// The file and the fields, with a boundary that occurs in neither.
pub(crate) fn body(file_name: &str, bytes: &[u8], fields: &[(&str, String)]) -> Outgoing {
    let boundary = boundary(bytes, fields);
    let mut out = Vec::with_capacity(bytes.len() + 1024);
    for (name, value) in fields {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n",
        quoted(file_name)
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), out)
}

fn boundary(bytes: &[u8], fields: &[(&str, String)]) -> String {
    let occurs = |needle: &str| {
        let in_bytes = |hay: &[u8]| hay.windows(needle.len()).any(|window| window == needle.as_bytes());
        in_bytes(bytes) || fields.iter().any(|(_, value)| value.contains(needle))
    };
    let mut number = 0_u64;
    loop {
        let candidate = format!("----dropleaf-boundary-{number:016x}");
        if !occurs(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

/// Escapes a file name as browsers do, so that it cannot end the quoted string.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_never_occurs_inside() {
        let content = b"x\r\n------dropleaf-boundary-0000000000000000--\r\ny";
        let (kind, out) = body("a.html", content, &[("slug", "s".into())]);
        assert!(kind.ends_with("boundary=----dropleaf-boundary-0000000000000001"), "{kind}");
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("dropleaf-boundary-0000000000000001").count(), 3);
    }

    #[test]
    fn a_name_cannot_end_its_quotation() {
        let (_, out) = body("a\"\r\nX: y.html", b"", &[]);
        assert!(String::from_utf8(out).unwrap().contains("filename=\"a%22%0D%0AX: y.html\""));
    }
}
