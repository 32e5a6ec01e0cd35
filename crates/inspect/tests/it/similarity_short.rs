//! Short blocklisted pages, recognized by their text, and stock pages, which are never blocked.

use dropleaf_inspect::similarity::{Blocklist, Match};

use crate::disguises::{self, DISGUISES};
use crate::similarity::{fingerprints, fingerprints_of, marks, taken_down};
use crate::support::{fixtures, upload, zip_of};

/// Single-file phishing pages that are too short for a sketch.
fn short() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = fixtures("harvest")
        .into_iter()
        .filter(|(_, files)| files.len() == 1)
        .map(|(name, mut files)| (name, files.remove(0).1))
        .filter(|(_, page)| marks(&fingerprints("index.html", page.clone())).1.is_empty())
        .collect();
    let own = "<!doctype html><html><head><title>Staff portal</title></head><body><div class=\"a\"><h1>Staff portal</h1>\
               <p>Please confirm your mailbox.</p><form><label>Email address</label><input name=\"e\">\
               <input type=\"password\" placeholder=\"Mailbox password\"><button>Go on now</button></form></div></body></html>";
    pages.push(("own".to_owned(), own.to_owned()));
    pages
}

#[test]
fn a_short_page_is_recognised_by_what_it_says() {
    let (mut missed, mut recognised, mut others) = (Vec::new(), 0, Vec::new());
    for (name, page) in short() {
        let blocklist = taken_down(&fingerprints("index.html", page.clone()));
        // Recognized by its bytes and its text, unless there is too little text.
        if blocklist.find(&fingerprints("a.html", format!("{page}<!-- x -->"))).is_none() {
            others.push(name);
            continue;
        }
        recognised += 1;
        for (disguise, dress) in DISGUISES {
            let same = !["long honest", "another name", "sections in"]
                .iter()
                .any(|start| disguise.starts_with(start));
            let found = blocklist.find(&fingerprints("other.html", dress(&page)));
            if same && found.is_none() {
                missed.push(format!("{name}: {disguise}"));
            }
        }
        let archive = zip_of(&[("index.html", "<p>Welcome</p>"), ("x/y.htm", &disguises::renamed(&page))]);
        let found = blocklist.find(&fingerprints("a.zip", archive));
        assert_eq!(
            found,
            Some(Match { id: "it".to_owned(), file: Some("x/y.htm".to_owned()), exact: false })
        );
    }
    // Text that is already encoded twice and then once more is not read.
    missed.retain(|what| !what.starts_with("hidden-06-twice.html: packed"));
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(recognised >= 5, "{recognised}, not {others:?}");
}

#[test]
fn short_pages_of_everybody_are_nobodys_mark() {
    for page in [
        "<title>301 Moved Permanently</title><h1>Moved Permanently</h1><p>The document has moved <a href=x>here</a>.</p>\
         <address>Server at example.com Port 443, which has been written here to be long enough for anybody at all</address>",
        "<h1>Page not found</h1><p>Sorry, we could not find what you wanted.</p>\
         <form><input name=q placeholder='Words to look for'><button>Try again</button></form>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
        "<h1>Sign in</h1><form><input placeholder=Email><input type=password placeholder=Password><button>Sign in</button></form>",
    ] {
        let blocklist = taken_down(&fingerprints("a.html", page));
        assert_eq!(
            blocklist.find(&fingerprints("a.html", format!("<!-- other bytes -->{page}"))),
            None,
            "{page}"
        );
    }
}

#[test]
fn no_honest_page_says_what_a_harvest_page_says() {
    let of = |files: &[(String, String)]| {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        match files.as_slice() {
            [(path, text)] => upload(path, (*text).to_owned()).ok().map(|bundle| fingerprints_of(&bundle)),
            several => upload("a.zip", zip_of(several)).ok().map(|bundle| fingerprints_of(&bundle)),
        }
    };
    let entries = fixtures("harvest").into_iter().filter_map(|(name, files)| {
        let fingerprints = of(&files)?;
        let (exact, sketches) = marks(&fingerprints);
        Some((name, exact, sketches))
    });
    let blocklist = Blocklist::new(entries);
    for (name, files) in fixtures("honest") {
        assert_eq!(of(&files).and_then(|fingerprints| blocklist.find(&fingerprints)), None, "{name}");
    }
}
