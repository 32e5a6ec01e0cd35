//! Disguises: transformations that make a page look new to a program but not to people.

/// A part of a page: a tag, a text, or neither.
enum Part<'a> {
    Tag(&'a str),
    Text(&'a str),
    Raw(&'a str),
}

fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = page;
    while !rest.is_empty() {
        let end = if rest.starts_with("<!--") {
            rest.find("-->").map_or(rest.len(), |at| at + 3)
        } else if rest.starts_with('<') {
            tag_end(rest)
        } else {
            rest.find('<').unwrap_or(rest.len())
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        parts.push(match part.as_bytes()[0] {
            b'<' if part.starts_with("<!") => Part::Raw(part),
            b'<' => Part::Tag(part),
            _ => Part::Text(part),
        });
        let raw = ["script", "style", "title", "textarea"].into_iter().find(|name| {
            part.to_ascii_lowercase().strip_prefix('<').is_some_and(|tag| tag.starts_with(name))
        });
        if let Some(name) = raw {
            let end = rest.to_ascii_lowercase().find(&format!("</{name}")).unwrap_or(rest.len());
            parts.push(Part::Raw(&rest[..end]));
            rest = &rest[end..];
        }
    }
    parts
}

/// The end of a tag; quoted values may contain brackets.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    text.len()
}

fn rewritten(page: &str, tag: impl Fn(&str) -> String, text: impl Fn(&str) -> String) -> String {
    let parts = parts(page);
    let rewritten = parts.into_iter().map(|part| match part {
        Part::Tag(part) => tag(part),
        Part::Text(part) => text(part),
        Part::Raw(part) => part.to_owned(),
    });
    rewritten.collect()
}

/// Changes letters outside character references.
fn letters(text: &str, mut change: impl FnMut(char) -> String) -> String {
    let mut changed = String::new();
    let mut reference = false;
    for c in text.chars() {
        reference = (reference && c != ';' && !c.is_whitespace()) || c == '&';
        changed.push_str(&if reference || c == ';' { c.to_string() } else { change(c) });
    }
    changed
}

fn respaced(page: &str) -> String {
    let tag = |tag: &str| format!("<!-- {} -->{}", tag.len(), tag.replace(' ', "\n\t "));
    rewritten(page, tag, |text| text.replace(' ', "  \n"))
}

pub(crate) fn renamed(page: &str) -> String {
    let page = page.replace("class=\"", "class=\"zz-").replace("<div", "<section data-q='7'");
    let page = page.replace("</div", "</section").replace("</head>", "<style>b{color:#123}</style></head>");
    format!("<!-- new -->{page}")
}

fn look_alikes(page: &str) -> String {
    let change = |text: &str| {
        letters(text, |c| match c {
            'a' => "\u{430}".to_owned(),
            'e' => "&#101;".to_owned(),
            'o' => "\u{3bf}\u{200b}".to_owned(),
            's' => "s&shy;".to_owned(),
            'p' => "&#x70;".to_owned(),
            other => other.to_string(),
        })
    };
    rewritten(page, str::to_owned, change)
}

fn split(page: &str) -> String {
    let change = |text: &str| {
        let mut count = 0;
        letters(text, |c| {
            count += usize::from(c.is_alphabetic());
            match count % 3 {
                0 if c.is_alphabetic() => format!("<span>{c}</span>"),
                1 if c.is_alphabetic() => format!("<b>{c}</b>"),
                _ => c.to_string(),
            }
        })
    };
    rewritten(page, str::to_owned, change)
}

fn base64(page: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut packed = String::new();
    for group in page.as_bytes().chunks(3) {
        let word =
            group.iter().fold(0, |word, byte| word << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = char::from(DIGITS[word >> (18 - 6 * place) & 63]);
            packed.push(if place > group.len() { '=' } else { digit });
        }
    }
    format!("<script>document.write(atob('{packed}'))</script>")
}

fn percent(page: &str) -> String {
    let packed = page.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
    format!("<body><script>document.write(unescape('{packed}'))</script></body>")
}

/// Adds five times as much innocent text, before and after.
fn padded(page: &str) -> String {
    let words =
        "garden weather bread carpet window pencil river mountain letter kitchen summer bicycle music forest";
    let words: Vec<&str> = words.split(' ').collect();
    let mut padding = String::new();
    let mut at = 7_usize;
    while padding.len() < 5 * page.len().max(3000) {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        padding.push_str(words[(at >> 33) % words.len()]);
        padding.push(' ');
    }
    let (before, after) = padding.split_at(padding.len() / 2);
    page.replace("<body>", &format!("<body><p>{before}</p>")) + &format!("<p>{after}</p>")
}

/// Replaces the name, the numbers and every tenth word.
fn reworded(page: &str) -> String {
    let title =
        page.split("<title>").nth(1).and_then(|rest| rest.split(['<', ' ']).next()).unwrap_or_default();
    let page =
        if title.len() > 3 && title.is_ascii() { page.replace(title, "Zandora") } else { page.to_owned() };
    let count = std::cell::Cell::new(0);
    let change = |text: &str| {
        let words = text.split(' ').map(|word| {
            let is_word = word.chars().filter(|c| c.is_alphabetic()).count() > 2 && !word.contains('&');
            count.set(count.get() + usize::from(is_word));
            let tenth = is_word && count.get().is_multiple_of(10);
            if tenth { "quartz".to_owned() } else { word.replace(['1', '2', '3'], "7") }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    rewritten(&page, str::to_owned, change)
}

/// Puts the second half of the body before the first.
fn reordered(page: &str) -> String {
    let from = page.find("<body").and_then(|at| page[at..].find('>').map(|end| at + end + 1)).unwrap_or(0);
    let to = page.rfind("</body>").unwrap_or(page.len());
    let body = &page[from..to];
    let middle = body.len() / 2;
    let cut = ["</p>", "</form>", "</h1>", "</div>", "</label>", "</li>"]
        .iter()
        .flat_map(|end| body.match_indices(end).map(move |(at, _)| at + end.len()))
        .min_by_key(|at| at.abs_diff(middle))
        .unwrap_or(0);
    format!("{}{}<hr>{}{}", &page[..from], &body[cut..], &body[..cut], &page[to..])
}

fn shouted(page: &str) -> String {
    rewritten(page, str::to_owned, |text| letters(text, |c| c.to_uppercase().to_string()))
}

type Disguise = fn(&str) -> String;

pub(crate) const DISGUISES: [(&str, Disguise); 10] = [
    ("other white space and remarks", respaced),
    ("other names and styles", renamed),
    ("look-alike letters, references, no width", look_alikes),
    ("letters split by tags", split),
    ("packed as base64", base64),
    ("packed with percent signs", percent),
    ("long honest text around it", padded),
    ("another name and other words", reworded),
    ("sections in another order", reordered),
    ("capitals", shouted),
];
