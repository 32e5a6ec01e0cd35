//! Reads labelled facts, one JSON object per line, and generates a page with the same content from each, so that the
//! check itself is measured. Pages labelled neither `phish` nor `honest` are skipped.

use std::fmt::Write;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::{Sample, sources};

pub(crate) fn read(path: &Path) -> io::Result<Vec<Sample>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            println!("There is no {}: the facts are left out.", path.display());
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let facts = text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
    let facts: Vec<Value> = facts.collect::<Result<_, _>>()?;
    let labelled = |fact: &&Value| matches!(fact["label"].as_str(), Some("phish" | "honest"));
    let facts: Vec<Value> = facts.iter().filter(labelled).cloned().collect();
    let word = |fact: &Value, name: &str| fact[name].as_str().unwrap_or_default().to_owned();
    let samples = facts.iter().zip(sources::of(&facts)).map(|(fact, source)| Sample {
        name: word(fact, "id"),
        category: word(fact, "category"),
        source,
        language: word(fact, "lang")
            .to_lowercase()
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .take(2)
            .collect(),
        harvest: fact["label"] == "phish",
        files: vec![("index.html".to_owned(), page(fact))],
    });
    Ok(samples.collect())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn list<'a>(fact: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    fact[name].as_array().into_iter().flatten()
}

fn hosts<'a>(fact: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, u64)> {
    fact[name]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(host, count)| (host.as_str(), count.as_u64().unwrap_or(1)))
}

fn page(fact: &Value) -> String {
    let mut html = String::from("<!doctype html>\n");
    if fact["copied"].as_bool() == Some(true) {
        html.push_str("<!-- saved from url=(0014)about:internet -->\n");
    }
    let _ = writeln!(html, "<title>{}</title>", escaped(fact["title"].as_str().unwrap_or_default()));
    for (host, _) in hosts(fact, "style_hosts").filter(|(host, _)| host.contains('.')) {
        let _ = writeln!(html, "<link rel=stylesheet href=\"https://{host}/a.css\">");
    }
    for (host, _) in hosts(fact, "image_hosts").filter(|(host, _)| host.contains('.')) {
        let _ = writeln!(html, "<img src=\"https://{host}/a.png\">");
    }
    for alt in list(fact, "alts").filter_map(Value::as_str) {
        let _ = writeln!(html, "<img src=a.png alt=\"{}\">", escaped(alt));
    }
    for heading in list(fact, "headings").filter_map(Value::as_str) {
        let _ = writeln!(html, "<h1>{}</h1>", escaped(heading));
    }
    // The text begins with the title, which a browser does not show twice.
    let title = fact["title"].as_str().unwrap_or_default();
    let text = fact["text"].as_str().unwrap_or_default();
    let text = text.strip_prefix(title).unwrap_or(text);
    let _ = writeln!(html, "<p>{}</p>", escaped(text));
    forms(fact, &mut html);
    links(fact, &mut html);
    scripts(fact, &mut html);
    let missing = fact["text_chars"].as_u64().unwrap_or(0).saturating_sub(text.len() as u64);
    let _ = writeln!(
        html,
        "<div>{}</div>",
        "lorem ipsum dolor "
            .repeat(usize::try_from(missing / 18).unwrap_or(0))
            .replace("lorem ipsum", "and so on")
    );
    for _ in 0..fact["pre_or_code"].as_u64().unwrap_or(0).min(50) {
        html.push_str("<pre>x = 1; print(x, \"quoted code\")</pre>\n");
    }
    html
}

/// Which form a field belongs to is unknown: all go into the form that posts, else into the last one.
fn forms(fact: &Value, html: &mut String) {
    let forms: Vec<&Value> = list(fact, "forms").collect();
    let field = |form: &Value, name: &str| form[name].as_str().unwrap_or_default().to_owned();
    let main = forms
        .iter()
        .position(|form| field(form, "method") == "post" && !field(form, "action_ext").is_empty())
        .or_else(|| forms.iter().position(|form| field(form, "method") == "post"))
        .unwrap_or(forms.len().saturating_sub(1));
    for (place, form) in forms.iter().enumerate() {
        let extension = field(form, "action_ext");
        let file = if extension.is_empty() { "go".to_owned() } else { format!("go.{extension}") };
        let action = match field(form, "action_host").as_str() {
            "none" => String::new(),
            "#" => " action=\"#\"".to_owned(),
            "relative" => format!(" action=\"{file}\""),
            host => format!(" action=\"https://{host}/{file}\""),
        };
        let _ = writeln!(html, "<form method=\"{}\"{action}>", field(form, "method"));
        if place == main {
            inputs(fact, html);
        }
        html.push_str("</form>\n");
    }
    if forms.is_empty() {
        inputs(fact, html);
    }
}

fn inputs(fact: &Value, html: &mut String) {
    for (number, input) in list(fact, "inputs").enumerate() {
        let tag = input["tag"].as_str().unwrap_or("input");
        let id = input["id"].as_str().map_or_else(|| format!("field-{number}"), str::to_owned);
        if let Some(label) = input["label"].as_str() {
            let _ = writeln!(html, "<label for=\"{}\">{}</label>", escaped(&id), escaped(label));
        }
        let _ = write!(html, "<div></div><{tag} id=\"{}\"", escaped(&id));
        for name in ["type", "name", "placeholder", "autocomplete", "maxlength"] {
            if let Some(value) = input[name].as_str() {
                let _ = write!(html, " {name}=\"{}\"", escaped(value));
            }
        }
        html.push_str(if tag == "input" { ">\n" } else { "></" });
        if tag != "input" {
            let _ = writeln!(html, "{tag}>");
        }
    }
    for button in list(fact, "buttons").filter_map(Value::as_str) {
        let _ = writeln!(html, "<button>{}</button>", escaped(button));
    }
}

fn links(fact: &Value, html: &mut String) {
    let dead = fact["dead_links"].as_u64().unwrap_or(0);
    let total = fact["n_links"].as_u64().unwrap_or(0);
    for number in 0..total.min(500) {
        html.push_str(if number < dead { "<a href=\"#\">x</a>\n" } else { "<a href=\"page.html\">x</a>\n" });
    }
    for (host, _) in hosts(fact, "links").filter(|(host, _)| host.contains('.')) {
        let _ = writeln!(html, "<a href=\"https://{host}/\">y</a>");
    }
    for (host, _) in hosts(fact, "iframes").filter(|(host, _)| host.contains('.')) {
        let _ = writeln!(html, "<iframe src=\"https://{host}/\"></iframe>");
    }
}

fn scripts(fact: &Value, html: &mut String) {
    html.push_str("<script>\n");
    for (host, _) in hosts(fact, "script_hosts") {
        let _ = writeln!(html, "var place = \"https://{}/\";", host.replace('"', ""));
    }
    for call in list(fact, "script_calls").filter_map(Value::as_str) {
        let _ = writeln!(html, "{call}{}", if call.ends_with('(') { "place);" } else { ";" });
    }
    html.push_str("</script>\n");
}
