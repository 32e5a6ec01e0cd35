//! The benchmark inputs: the project's own test pages, large pages as tools write them, and adversarial input.

use std::io;
use std::path::Path;

/// An upload.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) files: Vec<(String, String)>,
}

impl Input {
    fn one(name: &str, text: String) -> Self {
        Self { name: name.to_owned(), files: vec![(name.to_owned(), text)] }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.files.iter().map(|(_, text)| text.len()).sum()
    }
}

/// Generates an upload of a given size in bytes.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) make: Box<dyn Fn(usize) -> Input>,
}

fn kind(name: &'static str, make: impl Fn(usize) -> Input + 'static) -> Kind {
    Kind { name, make: Box::new(make) }
}

fn repeated(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len())
}

/// The project's own test pages, and a megabyte of each large kind.
pub(crate) fn corpus() -> io::Result<Vec<Input>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("phishing/fixtures");
    let mut inputs = Vec::new();
    collect(&folder, &mut inputs)?;
    inputs.extend(LARGE.iter().map(|(name, unit)| Input::one(name, repeated(unit, 1 << 20))));
    Ok(inputs)
}

fn collect(folder: &Path, inputs: &mut Vec<Input>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, inputs)?;
        } else {
            inputs.push(Input::one(&path.to_string_lossy(), std::fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// Small pages of the most common kinds.
pub(crate) fn small() -> Vec<Input> {
    let head = "<!doctype html><html lang=en><head><meta charset=utf-8><title>Report</title><style>body{font:16px sans-serif}</style></head><body><h1>Weekly report</h1>";
    let paragraph = LARGE[0].1;
    let form = "<form><label for=q>Your name</label><input id=q name=name><button>Send</button></form>";
    let script =
        "<script>document.querySelector('h1').onclick=()=>fetch('data.json').then(r=>r.json())</script>";
    let page = |bytes: usize, more: &str| format!("{head}{}{more}</body></html>", repeated(paragraph, bytes));
    vec![
        Input::one("note.html", page(350, "")),
        Input::one("form.html", page(200, form)),
        Input::one("report.html", page(4800, "")),
        Input::one("app.html", page(4500, &format!("{form}{script}"))),
    ]
}

pub(crate) fn kinds() -> Vec<Kind> {
    let unit = |(name, unit): &(&'static str, &'static str)| {
        let (name, unit) = (*name, *unit);
        kind(name, move |bytes| Input::one(name, repeated(unit, bytes)))
    };
    LARGE.iter().chain(SLOW.iter()).map(unit).chain(together()).collect()
}

/// Inputs that are slow only as a whole: one endless element, or many files that refer to each other.
fn together() -> Vec<Kind> {
    let around = |name, before: &'static str, unit: &'static str, after: &'static str| {
        kind(name, move |bytes| Input::one(name, format!("{before}{}{after}", repeated(unit, bytes))))
    };
    vec![
        around("many-attributes.html", "<a ", "b ", ">"),
        around("one-attribute.html", "<a title='", "x y ", "'>"),
        around("one-handler.html", "<a onclick=\"", "atob('QUFB');", "\">"),
        around("one-payload.html", "<script>document.write(atob('", "PGI+YTwvYj4g", "'))</script>"),
        around("one-percent.html", "<script>document.write(unescape('", "%3Cb%3Ea", "'))</script>"),
        around("one-code-list.js", "eval(String.fromCharCode(", "60,98,62,", "60))"),
        around("one-template.js", "a.innerHTML=`", "<p>text <input name=q></p>", "`"),
        around("one-comment.html", "<!--", "- ", ""),
        around("one-script.html", "<script>", "a<b;/*'\"", ""),
        around("one-frame.html", "<iframe srcdoc='", "&lt;input&gt;", "'>"),
        kind("forms-and-labels.html", |bytes| {
            let unit = "<label for=f7>Password</label><form action=a.php><input id=f7 name=card1 type=password></form>";
            Input::one("forms-and-labels.html", repeated(unit, bytes))
        }),
        kind("pages-of-one-script.zip", shared_script),
        kind("pages-of-all-scripts.zip", all_scripts),
        kind("pages-of-refused-script.zip", refused_script),
    ]
}

/// Two thousand pages that all load one script, which makes up nearly the whole size.
fn shared_script(bytes: usize) -> Input {
    let unit = "el.innerHTML='<p>Enter your code</p><input name=code type=password>';fetch('/api/x');\n";
    let page = "<title>Step</title><h1>Sign in</h1><script src=all.js></script>";
    let mut files = vec![("all.js".to_owned(), repeated(unit, bytes))];
    files.extend((0..1999).map(|number| (format!("{number}.html"), page.to_owned())));
    Input { name: "pages-of-one-script.zip".to_owned(), files }
}

/// Two thousand pages that are all refused for the end of one script, which makes up nearly the whole size.
fn refused_script(bytes: usize) -> Input {
    let end = "el.innerHTML='<h1>Sign in to your PayPal account</h1><input name=user><input type=password>';\
               fetch('https://api.telegram.org/bot1:INVALID/sendMessage');\n";
    let mut files = vec![("all.js".to_owned(), repeated("let x = 1;\n", bytes) + end)];
    let page = "<script src=all.js></script>";
    files.extend((0..1999).map(|number| (format!("{number}.html"), page.to_owned())));
    Input { name: "pages-of-refused-script.zip".to_owned(), files }
}

/// A hundred scripts and pages that load each of them.
fn all_scripts(bytes: usize) -> Input {
    let unit = "el.innerHTML='<p>Enter your code</p><input name=code>';";
    let tags: String =
        (0..100).flat_map(|script| ["<script src=".to_owned(), format!("{script}.js></script>")]).collect();
    let mut files: Vec<(String, String)> =
        (0..100).map(|script| (format!("{script}.js"), repeated(unit, bytes / 100))).collect();
    files.extend((0..500).map(|page| (format!("{page}.html"), format!("<h1>Sign in</h1>{tags}"))));
    Input { name: "pages-of-all-scripts.zip".to_owned(), files }
}

/// Building blocks of legitimate large pages.
#[rustfmt::skip]
const LARGE: [(&str, &str); 6] = [
        (
            "prose.html",
            "<p>The quarterly figures show a <b>steady rise</b> in orders, while returns fell by a third. See <a href=\"t.html\">table</a>.</p>\n",
        ),
        (
            "table.html",
            "<tr><td class=\"num\">1284</td><td>2026-03-01</td><td>north</td><td>98.4</td></tr>\n",
        ),
        (
            "data.html",
            "<script type=\"application/json\">[0.1283,0.9921,\"series a\",null,true,12.0001,9.1e-3]</script>\n",
        ),
        (
            "library.js",
            "function n(e,t){var r=e.length;for(var i=0;i<r;i++){if(t(e[i],i)===!1){break}}return e}\n",
        ),
        (
            "picture.html",
            "<img alt=\"chart\" src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4\">\n",
        ),
        (
            "russian.html",
            "<p>Отчёт за третий квартал показывает устойчивый рост заказов, и возвраты сократились.</p>\n",
        ),
];

/// Building blocks that could make a careless parser slow.
#[rustfmt::skip]
const SLOW: [(&str, &str); 34] = [
    ("opening-brackets.html", "<"),
    ("comment-starts.html", "<!--"),
    ("dashes.html", "<!-- -"),
    ("tags.html", "<a>"),
    ("nested-tags.html", "<div><span><b>"),
    ("attributes.html", "<a b=c d='"),
    ("scripts-in-comments.html", "<script><!--<script>"),
    ("script-starts.html", "</script><script>"),
    ("references.html", "&#&amp;&#x&nbs"),
    ("quotes.js", "fetch('\\'url:\\\"`innerHTML atob("),
    ("base64.html", "<script>atob('PGZvcm0+PGlucHV0IHR5cGU9cGFzc3dvcmQ+')</script>"),
    ("base64-runs.html", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo"),
    ("e-mail-runs.html", "a.b-c_d+e@f.g-h."),
    ("forms.html", "<form action=x.php><input type=password name=password>"),
    ("brands.html", "paypal sign in to your paypal account © paypal "),
    ("drawings.html", "<svg><math><title>"),
    ("islands.html", "<svg><foreignObject><svg>"),
    ("titles.html", "<title>PayPal</title>"),
    ("frames.html", "<iframe srcdoc='<iframe srcdoc=&quot;<input type=password>&quot;>'></iframe>"),
    ("hidden.html", "<span style='display:none'>x</span>"),
    ("hidden-items.html", "<ul><li hidden>x</ol>"),
    ("selectors.html", "<style>((.a[,/*{}*/.b:not(.c,.d) .e{display:/**/none}"),
    ("links.html", "<a href=https://a.b.c.d.e.f.example.org/login>x</a>"),
    ("fallbacks.html", "<noframes><noframes>"),
    ("ampersands.html", "&"),
    ("open-references.html", "&abcd"),
    ("unknown-references.html", "&a;"),
    ("long-references.html", "&abcdefghi;"),
    ("capital-links.html", "<a href=\"HTTP://A.B/\">"),
    ("empty-attributes.html", "<a b b b b b b b b b b b b b>"),
    ("entities.svg", "<!ENTITY"),
    ("entity-values.svg", "<!ENTITY a '"),
    ("attribute-lists.svg", "<!ATTLIST"),
    ("spaces.svg", "<!ATTLIST a xmlns CDATA 'b' "),
];
