//! How fast the check reads: a mixed corpus, a large page, and time against size on input made to be slow.

use std::time::Instant;

use dropleaf_content::phishing::{File, Rules, check};

use crate::Sample;

const MEGABYTE: f64 = 1_000_000.0;

/// Seconds that this thread has spent on a core, where the system tells: other work on the machine does not count.
fn on_core() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

fn timed(pages: &[(String, String)], rules: &Rules) -> f64 {
    let (started, core) = (Instant::now(), on_core());
    for (path, text) in pages {
        let _ = check(&[File { path, text }], rules);
    }
    match (core, on_core()) {
        (Some(before), Some(after)) => after - before,
        _ => started.elapsed().as_secs_f64(),
    }
}

pub(crate) fn measure(fixtures: &[Sample], rules: &Rules) {
    let mut pages: Vec<(String, String)> = fixtures.iter().flat_map(|sample| sample.files.clone()).collect();
    pages.extend(
        large_kinds().into_iter().map(|(name, unit)| (name.to_owned(), unit.repeat((1 << 20) / unit.len()))),
    );
    let bytes: usize = pages.iter().map(|(_, text)| text.len()).sum();
    let size = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / MEGABYTE;
    let seconds = (0..5).map(|_| timed(&pages, rules)).fold(f64::MAX, f64::min);
    println!("\nspeed\n  mixed corpus of {size:.1} MB: {:.0} MB/s", size / seconds);
    for (name, unit) in large_kinds().into_iter().chain(slow_kinds()) {
        let page = |megabytes: usize| vec![(name.to_owned(), unit.repeat((megabytes << 20) / unit.len()))];
        let best = |pages: &[(String, String)]| (0..3).map(|_| timed(pages, rules)).fold(f64::MAX, f64::min);
        let (five, ten) = (best(&page(5)), best(&page(10)));
        println!("  {name:<24} 5 MiB {:>5.0} ms, 10 MiB {:>5.0} ms", five * 1000.0, ten * 1000.0);
    }
}

/// What honest large pages are made of.
fn large_kinds() -> Vec<(&'static str, &'static str)> {
    vec![
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
    ]
}

/// What could make a careless reader slow.
fn slow_kinds() -> Vec<(&'static str, &'static str)> {
    vec![
        ("opening-brackets.html", "<"),
        ("comment-starts.html", "<!--"),
        ("dashes.html", "<!-- -"),
        ("tags.html", "<a>"),
        ("attributes.html", "<a b=c d='"),
        ("scripts-in-comments.html", "<script><!--<script>"),
        ("references.html", "&#&amp;&#x"),
        ("quotes.js", "fetch('\\'url:\\\"`innerHTML atob("),
        ("base64.html", "<script>atob('PGZvcm0+PGlucHV0IHR5cGU9cGFzc3dvcmQ+')</script>"),
        ("forms.html", "<form action=x.php><input type=password name=password>"),
        ("brands.html", "paypal sign in to your paypal account © paypal "),
        ("drawings.html", "<svg><math><title>"),
        ("titles.html", "<title>PayPal</title>"),
    ]
}
