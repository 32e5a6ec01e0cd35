//! What in a script is worth noticing: calls that send, unpack, copy or approve, and hosts that collect.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// A call whose next literal is an address.
    Send,
    /// `open(method, address)`.
    Open,
    /// A host that collects, by its place in the list.
    Host(u16),
    Unpack,
    CharCodes,
    Markup,
    SecretField,
    Clipboard,
    Shell,
    Approval,
    Kit,
    Lookup,
    Lock,
    Siren,
}

const CALLS: &[(Mark, &[&str])] = &[
    (
        Mark::Send,
        &[
            "fetch(",
            "axios.post(",
            "axios.get(",
            "axios(",
            "sendbeacon(",
            "$.post(",
            "$.get(",
            "$.ajax(",
            "jquery.post(",
            "jquery.ajax(",
            "url:",
            "\"url\":",
            "'url':",
            ".action=",
            ".action =",
            "setattribute(\"action\"",
            "setattribute('action'",
            "new websocket(",
            "axios.create(",
            "new image().src",
            "ky.post(",
            "superagent.post(",
            "baseurl:",
        ],
    ),
    (Mark::Open, &[".open("]),
    (
        Mark::Unpack,
        &[
            "atob(",
            "unescape(",
            "decodeuricomponent(",
            "decodeuri(",
            "\\x3c",
            "\\u003c",
            "data:text/html",
            "base64",
            "reverse()",
            "cryptojs",
        ],
    ),
    (Mark::CharCodes, &["fromcharcode"]),
    (
        Mark::Markup,
        &[
            "document.write",
            "innerhtml",
            "outerhtml",
            "insertadjacenthtml",
            "srcdoc",
            "$('body').html",
            ".html(",
            "createcontextualfragment",
            "parsefromstring",
            "<input",
            "<form",
        ],
    ),
    (
        Mark::SecretField,
        &[
            "type=\"password\"",
            "type='password'",
            "type=password",
            "type=\\\"password\\\"",
            "type:\"password\"",
            "type: \"password\"",
            "type:'password'",
            "type: 'password'",
            ".type=\"password\"",
            ".type = \"password\"",
            ".type='password'",
            ".type = 'password'",
            "\"type\",\"password\"",
            "\"type\", \"password\"",
            "'type','password'",
            "'type', 'password'",
        ],
    ),
    (
        Mark::Clipboard,
        &[
            "clipboard.writetext",
            "clipboard.write(",
            "execcommand('copy",
            "execcommand(\"copy",
            "clipboarddata.setdata",
        ],
    ),
    (
        Mark::Shell,
        &[
            "powershell",
            "mshta",
            "cmd /c",
            "cmd.exe",
            "msiexec",
            "rundll32",
            "regsvr32",
            "bitsadmin",
            "certutil",
            "-encodedcommand",
            "-w hidden",
            "-windowstyle hidden",
            "invoke-expression",
            "invoke-webrequest",
            "iex(",
            "iwr ",
            "| bash",
            "|bash",
            "| sh",
            "|sh",
            "base64 -d",
            "curl -s",
            "curl -k",
            "osascript",
            "conhost",
            "wscript",
            "cscript",
            "ssh.exe",
            "finger.exe",
            "forfiles",
        ],
    ),
    (
        Mark::Approval,
        &[
            "setapprovalforall",
            "increaseallowance",
            "eth_signtypeddata",
            "signalltransactions",
            "permit2",
            "ffffffffffffffffffffffffffffffffffffffff",
            "maxuint256",
            "createapprove",
            "seaport",
            "transferfrom(",
        ],
    ),
    (
        Mark::Kit,
        &[
            "logo.clearbit.com",
            "image.thum.io",
            "logo.uplead.com",
            "s2/favicons?domain=",
            "favicons?sz=64&domain",
            "$aptargetssid",
            "evilginx",
            "gophish",
            "zphisher",
            "socialfish",
            "hiddeneye",
            "blackeye",
            "xbalti",
            "16shop",
            "telegram_bot",
            "bot_token",
            "chat_id",
            "parse_mode",
            "antibot",
        ],
    ),
    (
        Mark::Lookup,
        &[
            "ipapi.co",
            "api.ipify.org",
            "ipinfo.io",
            "ip-api.com",
            "geolocation-db.com",
            "geoiplookup",
            "ipgeolocation.io",
            "api.db-ip.com",
            "ipwhois.app",
            "freegeoip",
            "extreme-ip-lookup",
            "checkip.amazonaws.com",
            "jsonip.com",
            "ipdata.co",
            "cloudflare.com/cdn-cgi/trace",
            "ipwho.is",
        ],
    ),
    (
        Mark::Lock,
        &[
            "oncontextmenu",
            "\"contextmenu\"",
            "'contextmenu'",
            "keycode == 123",
            "keycode==123",
            "keycode === 123",
            "keycode===123",
            "disable-devtool",
            "key === 'f12'",
            "key == 'f12'",
            "key === \"f12\"",
        ],
    ),
    (
        Mark::Siren,
        &[
            "onbeforeunload",
            "\"beforeunload\"",
            "'beforeunload'",
            "requestfullscreen",
            "speechsynthesis",
            "new audio(",
            "keyboard.lock",
            "requestpointerlock",
        ],
    ),
];

#[derive(Debug)]
pub(crate) struct ScriptWords {
    automaton: Option<AhoCorasick>,
    marks: Vec<Mark>,
    hosts: Vec<String>,
}

impl ScriptWords {
    pub(crate) fn new(hosts: &[String]) -> Self {
        let mut patterns: Vec<&str> = Vec::new();
        let mut marks = Vec::new();
        for (mark, words) in CALLS {
            patterns.extend(*words);
            marks.extend(words.iter().map(|_| *mark));
        }
        for (number, host) in hosts.iter().enumerate() {
            if let Ok(number) = u16::try_from(number) {
                patterns.push(host);
                marks.push(Mark::Host(number));
            }
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&patterns)
            .ok();
        Self { automaton, marks, hosts: hosts.to_vec() }
    }

    pub(crate) fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Mark, usize, usize)> + 'a {
        let found = self.automaton.iter().flat_map(move |automaton| automaton.find_iter(text));
        found.filter_map(|found| {
            let mark = self.marks[found.pattern().as_usize()];
            // The name of a host within a longer name is another host.
            let before = found.start().checked_sub(1).map(|at| text.as_bytes()[at]);
            let inside = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            let goes_on =
                text.as_bytes().get(found.end()).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'-');
            let is_host = matches!(mark, Mark::Host(_));
            (!is_host || !(inside || goes_on)).then_some((mark, found.start(), found.end()))
        })
    }

    pub(crate) fn host(&self, number: u16) -> &str {
        self.hosts.get(usize::from(number)).map_or("", String::as_str)
    }
}
