//! Draws any text as a Mermaid diagram of a Markdown page: no panic, no element that could run anything, and no event handler.
//! The text follows the keyword of a diagram kind, so that the fuzzer does not have to find those.

#![no_main]

use dropleaf_content::markdown_page;
use libfuzzer_sys::fuzz_target;

const KINDS: [&str; 13] = [
    "",
    "classDiagram",
    "erDiagram",
    "flowchart TD",
    "gantt",
    "gitGraph",
    "journey",
    "mindmap",
    "pie",
    "quadrantChart",
    "sequenceDiagram",
    "stateDiagram-v2",
    "timeline",
];

// A panic of the renderer is contained by design; libFuzzer's own panic hook would abort the process before that.
fuzz_target!(init: drop(std::panic::take_hook()), |data: (u8, &str)| {
    let (kind, code) = data;
    let kind = KINDS[usize::from(kind) % KINDS.len()];
    // Nothing in the code may end the block.
    let code = code.replace("~~~", "");
    let page = markdown_page(&format!("~~~mermaid\n{kind}\n{code}\n~~~\n"), None);
    let Some(svg) = page.html.split_once("<svg").and_then(|(_, rest)| rest.split_once("</svg>")) else { return };
    for tag in svg.0.split('<').skip(1).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag) {
        assert!(!tag.contains(" on") && !tag.contains("href") && !tag.contains(" style"), "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        assert!(!matches!(name, "script" | "style" | "foreignObject" | "image" | "use" | "a"), "{tag}");
    }
});
