//! Renders the example request of an operation as a shell command.

use super::document::{Document, entries, flag, list, plain, text};
use super::example;
use super::schema::is_file;
use serde_json::Value;
use std::fmt::Write as _;

/// The parts of the command, besides the operation itself.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) base_url: &'a str,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) parameters: &'a [&'a Value],
    /// The media type and its object in the document.
    pub(super) body: Option<(&'a str, &'a Value)>,
    pub(super) credential: Option<String>,
}

/// The document's own sample if it has one (`x-codeSamples`), otherwise a command built from the parts.
pub(super) fn command<'a>(document: Document<'a>, operation: &'a Value, request: &Request<'a>) -> String {
    let written = list(operation, "x-codeSamples").iter().find(|sample| {
        matches!(text(sample, "lang").to_ascii_lowercase().as_str(), "curl" | "shell" | "bash" | "sh")
    });
    if let Some(sample) = written {
        return text(sample, "source").trim().to_owned();
    }
    let mut parts = vec!["curl".to_owned()];
    let form = request.body.is_some_and(|(media_type, _)| media_type.starts_with("multipart/"));
    let implied = if request.body.is_some() { "POST" } else { "GET" };
    if request.method == "HEAD" {
        parts.push("-I".to_owned());
    } else if request.method != implied {
        parts.push(format!("-X {}", request.method));
    }
    parts.extend(request.credential.as_ref().map(|header| format!("-H \"{header}\"")));
    for parameter in request.parameters.iter().filter(|parameter| text(parameter, "in") == "header") {
        if flag(parameter, "required") {
            parts.push(header(document, parameter));
        }
    }
    match request.body {
        Some((_, media)) if form => parts.extend(form_parts(document, media)),
        Some((media_type, media)) => parts.extend(body_parts(document, media_type, media)),
        None => {}
    }
    parts.push(url(document, request));
    wrapped(&parts)
}

/// One line if it is short; otherwise one line per part.
fn wrapped(parts: &[String]) -> String {
    let line = parts.join(" ");
    if line.len() <= 72 {
        return line;
    }
    let (first, rest) = parts.split_at(if parts.len() > 1 && parts[1].starts_with("-X") { 2 } else { 1 });
    let mut text = first.join(" ");
    for part in rest {
        text.push_str(" \\\n  ");
        text.push_str(part);
    }
    text
}

fn form_parts(document: Document<'_>, media: &Value) -> Vec<String> {
    let schema = document.resolve(&media["schema"]);
    let example = example::given(document, media).unwrap_or(&Value::Null);
    let mut parts = Vec::new();
    for (name, field) in entries(schema, "properties") {
        let given = example.get(name);
        if is_file(document.resolve(field)) {
            // The example holds the content of the file; the command names a file.
            parts.push(format!("-F {}", quoted(&format!("{name}=@page.html"))));
        } else if given.is_some() || list(schema, "required").iter().any(|required| required == name) {
            let value = given.cloned().unwrap_or_else(|| example::made_up(document, field));
            parts.push(format!("-F {}", quoted(&format!("{name}={}", plain(&value)))));
        }
    }
    // The file comes first: the request is about it.
    parts.sort_by_key(|part| !part.contains("=@"));
    parts
}

fn body_parts(document: Document<'_>, media_type: &str, media: &Value) -> Vec<String> {
    if media_type == "application/x-www-form-urlencoded" {
        let example = example::given(document, media).cloned();
        let example = example.unwrap_or_else(|| example::made_up(document, &media["schema"]));
        let pairs = example.as_object().into_iter().flatten();
        return pairs
            .map(|(name, value)| format!("--data-urlencode {}", quoted(&format!("{name}={}", plain(value)))))
            .collect();
    }
    let header = format!("-H {}", quoted(&format!("Content-Type: {media_type}")));
    if !media_type.ends_with("json") {
        return vec![header, "--data-binary @page.html".to_owned()];
    }
    let body = example::given(document, media).cloned();
    let body = body.unwrap_or_else(|| example::made_up(document, &media["schema"]));
    vec![header, format!("-d {}", quoted(&body.to_string()))]
}

fn url(document: Document<'_>, request: &Request<'_>) -> String {
    let mut path = request.path.to_owned();
    let mut query = String::new();
    for parameter in request.parameters {
        let name = text(parameter, "name");
        match text(parameter, "in") {
            "path" => path = path.replace(&format!("{{{name}}}"), &sample(document, parameter)),
            "query" if flag(parameter, "required") => {
                let mark = if query.is_empty() { '?' } else { '&' };
                // Writing to a String cannot fail.
                let _ = write!(query, "{mark}{name}={}", sample(document, parameter));
            }
            _ => {}
        }
    }
    let url = format!("{}{path}{query}", request.base_url);
    let bare = url.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":/._-".contains(&byte));
    if bare {
        url
    } else {
        format!("\"{}\"", url.replace('\\', "\\\\").replace('"', "\\\"").replace('`', "\\`"))
    }
}

/// The parameter's example, or a shell variable named after it.
fn sample(document: Document<'_>, parameter: &Value) -> String {
    let schema = parameter.get("schema");
    let example =
        example::given(document, parameter).or_else(|| schema.and_then(|schema| schema.get("default")));
    example.map_or_else(|| format!("${}", shouted(text(parameter, "name"))), |value| encoded(&plain(value)))
}

/// The header with its example, or with a shell variable in double quotes, in which the shell expands it.
fn header(document: Document<'_>, parameter: &Value) -> String {
    let name = text(parameter, "name");
    match example::given(document, parameter) {
        Some(value) => format!("-H {}", quoted(&format!("{name}: {}", plain(value)))),
        None => format!("-H \"{name}: ${}\"", shouted(name)),
    }
}

/// `idOrSlug` becomes `ID_OR_SLUG`, `Session-Id` becomes `SESSION_ID`.
fn shouted(name: &str) -> String {
    let mut shouted = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !shouted.is_empty() && !shouted.ends_with('_') {
            shouted.push('_');
        }
        shouted.push(if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' });
    }
    shouted
}

fn encoded(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// A word for the shell: bare if possible, otherwise in single quotes.
fn quoted(word: &str) -> String {
    let bare = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"=@:/._-".contains(&byte));
    if bare { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request<'a>(method: &'a str, path: &'a str, parameters: &'a [&'a Value]) -> Request<'a> {
        Request { base_url: "http://localhost:8080", method, path, parameters, body: None, credential: None }
    }

    #[test]
    fn a_form_sends_its_file_and_what_its_example_shows() {
        let root = json!({});
        let media = json!({"example": {"slug": "it's"}, "schema": {"required": ["file"], "properties": {
            "file": {"type": "string", "format": "binary"}, "slug": {"type": "string"}, "other": {"type": "string"}}}});
        let request =
            Request { body: Some(("multipart/form-data", &media)), ..request("POST", "/sites", &[]) };
        let made = command(Document { root: &root }, &json!({}), &request);
        assert_eq!(made, "curl -F file=@page.html -F 'slug=it'\\''s' http://localhost:8080/sites");
    }

    #[test]
    fn a_form_without_files_sends_its_example_field_by_field() {
        let root = json!({});
        let media = json!({"example": {"client_id": "dropleaf-cli", "scope": "sites:read sites:write"}});
        let body = Some(("application/x-www-form-urlencoded", &media));
        let made =
            command(Document { root: &root }, &json!({}), &Request { body, ..request("POST", "/x", &[]) });
        assert_eq!(
            made,
            "curl \\\n  --data-urlencode client_id=dropleaf-cli \\\n  --data-urlencode 'scope=sites:read sites:write' \\\n  http://localhost:8080/x"
        );
    }

    #[test]
    fn paths_are_filled_from_examples_or_named_as_variables() {
        let root = json!({});
        let (id, domain) =
            (json!({"in": "path", "name": "idOrSlug"}), json!({"in": "path", "name": "d", "example": "a b"}));
        let wanted =
            json!({"in": "query", "name": "feature", "required": true, "schema": {"type": "string"}});
        let parameters = [&id, &domain, &wanted];
        let made = command(
            Document { root: &root },
            &json!({}),
            &request("DELETE", "/s/{idOrSlug}/{d}", &parameters),
        );
        assert_eq!(
            made,
            "curl -X DELETE \\\n  \"http://localhost:8080/s/$ID_OR_SLUG/a%20b?feature=$FEATURE\""
        );
    }

    #[test]
    fn headers_are_examples_as_they_are_or_variables_that_the_shell_replaces() {
        let root = json!({});
        let (session, kind) = (
            json!({"in": "header", "name": "Mcp-Session-Id", "required": true}),
            json!({"in": "header", "name": "X-Kind", "required": true, "example": "a, b"}),
        );
        let parameters = [&session, &kind];
        let made = command(Document { root: &root }, &json!({}), &request("DELETE", "/mcp", &parameters));
        assert!(made.contains("-H \"Mcp-Session-Id: $MCP_SESSION_ID\""), "{made}");
        assert!(made.contains("-H 'X-Kind: a, b'"), "{made}");
    }

    #[test]
    fn json_is_sent_with_its_type_and_the_credential() {
        let root = json!({});
        let media = json!({"schema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}});
        let request = Request {
            body: Some(("application/json", &media)),
            credential: Some("Authorization: Bearer $DROPLEAF_KEY".into()),
            ..request("PATCH", "/x", &[])
        };
        let made = command(Document { root: &root }, &json!({}), &request);
        assert!(made.starts_with("curl -X PATCH \\\n  -H \"Authorization: Bearer $DROPLEAF_KEY\""), "{made}");
        assert!(made.contains("-d '{\"name\":\"…\"}'"), "{made}");
    }

    #[test]
    fn a_sample_of_the_document_is_taken_as_it_is() {
        let root = json!({});
        let operation = json!({"x-codeSamples": [{"lang": "Shell", "source": "curl x\n"}]});
        assert_eq!(command(Document { root: &root }, &operation, &request("GET", "/", &[])), "curl x");
    }
}
