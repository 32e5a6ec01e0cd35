//! Tests diagrams in whole documents: every kind, hostile sources, limits and warnings.

use super::*;
use crate::markdown_page;

/// One diagram of each supported kind, with words that must be in the drawing.
const KINDS: [(&str, &str, &[&str]); 11] = [
    (
        "Flowchart",
        "flowchart TD\n  A[Pick] -->|ripe| B(Press)\n  B --> C{Sweet?}\n  C -.-> D[(Cellar)]\n  subgraph Mill\n    B\n  end\n\
         classDef red fill:#f96,stroke:#333,stroke-width:2px;\n  class A red",
        &["Pick", "ripe", "Press", "Sweet?", "Cellar", "Mill"],
    ),
    (
        "Sequence diagram",
        "sequenceDiagram\n  actor U as User\n  participant S as Server\n  U->>+S: Publish\n  Note right of S: Checks it\n  S-->>-U: Link\n\
         alt private\n  U->>S: Password\n  else public\n  U->>S: Open\n  end",
        &["User", "Server", "Publish", "Checks it", "Password"],
    ),
    (
        "Class diagram",
        "classDiagram\n  Fruit <|-- Apple\n  Fruit : +int weight\n  class Apple{\n    +String sort\n    +press()\n  }\n  Apple \"1\" --> \"many\" Seed : has",
        &["Fruit", "Apple", "+int weight", "+press()", "Seed", "has"],
    ),
    (
        "State diagram",
        "stateDiagram-v2\n  [*] --> Still\n  Still --> Moving : push\n  state Moving {\n    [*] --> Slow\n    Slow --> Fast\n  }\n  Moving --> [*]",
        &["Still", "Moving", "push", "Slow", "Fast"],
    ),
    (
        "Entity relationship diagram",
        "erDiagram\n  CUSTOMER ||--o{ ORDER : places\n  ORDER ||--|{ ITEM : contains",
        &["CUSTOMER", "ORDER", "places", "ITEM", "contains"],
    ),
    (
        "Pie chart",
        "pie showData title Fruit\n  \"Apples\" : 386\n  \"Pears\" : 85",
        &["Fruit", "Apples", "Pears"],
    ),
    (
        "Mind map",
        "mindmap\n  root((Orchard))\n    Trees\n      Old ones\n    Presses",
        &["Orchard", "Trees", "Old ones"],
    ),
    (
        "Git graph",
        "gitGraph\n  commit id: \"first\"\n  branch develop\n  checkout develop\n  commit tag: \"v1.0\"\n  checkout main\n  merge develop",
        &["first", "develop", "v1.0", "main"],
    ),
    (
        "User journey",
        "journey\n  title My day\n  section Morning\n    Make tea: 5: Me\n    Work: 1: Me, Cat",
        &["My day", "Morning", "Make tea"],
    ),
    (
        "Timeline",
        "timeline\n  title Years\n  2002 : Planted\n  2004 : First apples : First juice",
        &["Years", "2002", "Planted", "First juice"],
    ),
    (
        "Quadrant chart",
        "quadrantChart\n  title Fruit\n  x-axis Sour --> Sweet\n  y-axis Small --> Large\n  quadrant-1 Sell\n  Apple: [0.3, 0.6]",
        &["Fruit", "Sour", "Sweet", "Sell", "Apple"],
    ),
];

/// A diagram with a line for each number.
fn many(head: &str, line: &dyn Fn(usize) -> String, count: usize) -> String {
    (0..count).fold(format!("{head}\n"), |code, number| code + &line(number) + "\n")
}

/// The page of a document with one diagram.
fn page(code: &str) -> (String, Vec<String>) {
    let page = markdown_page(&format!("Words\n\n```mermaid\n{code}\n```\n"), None);
    let body = page.html.split("<main>").nth(1).unwrap().split("<script>").next().unwrap().to_owned();
    (body, page.warnings)
}

/// The text of a drawing, without the spaces at which lines are broken.
fn drawn_text(body: &str) -> String {
    let svg = &body[body.find("<svg").unwrap()..body.find("</svg>").unwrap()];
    svg.split('<')
        .filter_map(|part| part.split_once('>'))
        .map(|(_, text)| text)
        .collect::<String>()
        .replace(' ', "")
}

/// The tags of a page, each with its attributes.
fn tags(body: &str) -> Vec<&str> {
    body.split('<').skip(1).map(|part| part.split('>').next().unwrap_or_default()).collect()
}

#[test]
fn every_kind_is_drawn_with_all_of_its_words() {
    for (name, code, words) in KINDS {
        let (body, warnings) = page(code);
        assert!(warnings.is_empty(), "{name}: {warnings:?}");
        assert!(
            body.contains(&format!("<svg role=\"img\" aria-label=\"{name}\" viewBox=\"")),
            "{name}: {body}"
        );
        let text = drawn_text(&body);
        for word in words {
            assert!(text.contains(&word.replace(' ', "")), "{name}: {word} is missing from {text}");
        }
        assert!(body.contains(
            "<summary class=\"source\">Source</summary>\n<pre data-lang=\"mermaid\" tabindex=\"0\"><code>"
        ));
    }
}

#[test]
fn a_drawing_is_the_same_every_time() {
    for (name, code, _) in KINDS {
        let first = page(code).0;
        for _ in 0..3 {
            assert_eq!(page(code).0, first, "{name}");
        }
    }
}

#[test]
fn other_kinds_and_broken_ones_are_shown_as_their_source() {
    for (code, line, cause) in [
        ("", 3, "it could not be parsed"),
        ("just words", 3, "it could not be parsed"),
        ("flowchart TD", 3, "it could not be parsed"),
        ("flowchart TD\n  subgraph one\n  a --> b", 5, "it could not be parsed"),
        ("C4Context\n  Person(a, \"A\")", 3, "this diagram type is not supported"),
        ("gantt\n  Pick :a1, 2024-01-01, 10d", 3, "this diagram type is not supported"),
        ("sequenceDiagram\n  a->>b: One\n  a-)b: Two", 3, "it uses an unsupported feature"),
    ] {
        let (body, warnings) = page(code);
        assert!(!body.contains("<svg") && body.contains("<pre data-lang=\"mermaid\""), "{code}: {body}");
        let expected = format!("The Mermaid diagram at line {line} is shown as source text: {cause}.");
        assert_eq!(warnings, [expected], "{code}");
    }
}

#[test]
fn titles_are_captions_and_names() {
    let (body, _) = page("---\ntitle: Apples \"&\" <pears>\n---\nflowchart TD\n a --> b");
    assert!(body.contains("<figcaption>Apples \"&amp;\" &lt;pears&gt;</figcaption>"), "{body}");
    assert!(
        body.contains("<svg role=\"img\" aria-label=\"Flowchart: Apples &quot;&amp;&quot; &lt;pears&gt;\""),
        "{body}"
    );
}

#[test]
fn ids_of_drawings_on_one_page_differ() {
    let block = "```mermaid\nsequenceDiagram\n a->>b: words\n```\n";
    let html = markdown_page(&block.repeat(2), None).html;
    for number in [1, 2] {
        assert_eq!(html.matches(&format!("id=\"diagram-{number}-arrow-seq-0\"")).count(), 1, "{html}");
        assert!(html.contains(&format!("url(#diagram-{number}-arrow-seq-0)")), "{html}");
    }
    assert!(!html.contains("url(#arrow"), "{html}");
}

#[test]
fn nothing_of_the_author_runs_or_loads() {
    for code in [
        "flowchart TD\n a[\"<img src=x onerror=alert(1)>\"] --> b[\"<script>alert(1)</script>\"]",
        "flowchart TD\n a --> b\n click a \"javascript:alert(1)\" \"tip\"\n click b call callback()\n click a href \"https://evil.example\" _blank",
        "flowchart TD\n a --> b\n style a fill:url(https://evil.example/x),stroke:\"><script>alert(1)</script>",
        "flowchart TD\n a --> b\n linkStyle 0 stroke:\"/><script>alert(1)</script><path x=\"",
        "flowchart TD\n a --> b\n linkStyle default stroke:red\" onload=\"alert(1),stroke-width:1e30",
        "flowchart TD\n a --> b\n classDef c fill:#f00\" onload=\"alert(1)\n class a c",
        "flowchart TD\n a:::c --> b\n classDef c fill:var(--page),stroke-dasharray:1\" onload=\"x",
        "%%{init: {\"themeCSS\": \"*{background:url(https://evil.example/x)}\", \"fontFamily\": \"x\\\"/><script>\"}}%%\nflowchart TD\n a --> b",
        "---\nconfig:\n  themeCSS: \"</style><script>alert(1)</script>\"\n---\nflowchart TD\n a --> b",
        "flowchart TD\n a[\"</text></svg><script>alert(1)</script>\"]",
        "flowchart TD\n a[\"&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;\"]",
        "flowchart TD\n subgraph x [\"</svg><iframe src=https://evil.example>\"]\n a\n end",
        "sequenceDiagram\n participant a as <script>alert(1)</script>\n a->>b: <img src=x onerror=alert(1)>\n link a: x @ javascript:alert(1)",
        "sequenceDiagram\n box red\" onload=\"alert(1) name\n participant z\n end\n rect rgb(0,0,0)\" onload=\"alert(1)\n z->>z: hi\n end",
        "classDiagram\n class A[\"<script>alert(1)</script>\"]\n A : +<img src=x onerror=alert(1)>\n click A href \"javascript:alert(1)\"",
        "stateDiagram-v2\n a : <script>alert(1)</script>\n a --> b : \" onload=\"alert(1)",
        "erDiagram\n \"<script>\" ||--o{ B : \"\\\" onload=alert(1)\"",
        "pie title <script>alert(1)</script>\n \"<img src=x onerror=alert(1)>\" : 3",
        "mindmap\n root((<script>alert(1)</script>))\n  ::icon(fa fa-x\" onload=\"alert(1))\n  b",
        "gitGraph\n commit id: \"<script>\" tag: \"<img src=x onerror=alert(1)>\"",
        "gantt\n title <script>\n section <img src=x onerror=alert(1)>\n a :a1, 2024-01-01, 3d\n click a1 href \"javascript:alert(1)\"",
        "journey\n title <script>\n section <b>\n  <img src=x onerror=alert(1)>: 3: \" onload=\"x",
        "timeline\n title <script>\n <img src=x onerror=alert(1)> : </svg><script>",
        "quadrantChart\n title <script>\n quadrant-1 </text><script>\n <img src=x>: [0.5, 0.5]",
    ] {
        let (body, _) = page(code);
        for tag in tags(&body) {
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            let known = "p figure figcaption div svg g rect path circle ellipse line polygon polyline text tspan defs marker \
                         linearGradient stop details summary pre code span main body html";
            assert!(known.split(' ').any(|known| known == name), "<{tag}> in {code}: {body}");
            for bad in [" on", "href", " style", "src=", "url(h", "url(/", "var("] {
                assert!(!tag.contains(bad), "<{tag}> in {code}");
            }
        }
    }
}

#[test]
fn hostile_sources_are_drawn_or_shown_and_take_bounded_work() {
    let deep = |open: &str, inside: &str, close: &str, levels: usize| {
        format!("{}{inside}\n{}", format!("{open}\n").repeat(levels), format!("{close}\n").repeat(levels))
    };
    for code in [
        many("flowchart TD", &|n| format!("a{n} --> a{}", n + 1), 10_000),
        many("flowchart TD", &|n| format!("a{n} --> a{}", n + 1), 40),
        many("flowchart LR", &|n| format!("r --> a{n}"), 20),
        many("flowchart TD", &|n| format!("a{} -->|l| a{}", n * 31 % 40, n * 17 % 40), 20),
        many("sequenceDiagram", &|n| format!("a{n}->>b{n}: m"), 50),
        many("stateDiagram-v2", &|n| format!("s{} --> s{} : t", n * 31 % 40, n * 17 % 40), 100),
        many("classDiagram", &|n| format!("C{} <|-- C{}", n * 31 % 40, n * 17 % 40), 100),
        many("erDiagram", &|n| format!("C{} ||--o{{ C{} : t", n * 31 % 40, n * 17 % 40), 100),
        many("mindmap", &|n| format!("{}n{n}", " ".repeat(n + 1)), 140),
        many("gitGraph", &|n| format!("branch b{n}\ncommit"), 70),
        many("gantt", &|n| format!("a{n} :t{n}, after t{}, 3d", n + 1), 100),
        many("pie", &|n| format!("\"a{n}\" : {n}"), 150),
        many("timeline", &|n| format!("{n} : a : b"), 50),
        many("journey", &|n| format!("a{n}: 3: Me, You"), 70),
        format!("flowchart TD\n{}", deep("subgraph s", "x --> y", "end", 70)),
        format!("flowchart TD\n{}", deep("subgraph s", "x --> y", "end", 2000)),
        format!("sequenceDiagram\n{}", deep("loop x", "a->>b: c", "end", 70)),
        format!("sequenceDiagram\n{}", deep("loop x", "a->>b: c", "end", 2000)),
        format!("stateDiagram-v2\n{}", deep("state s {", "x --> y", "}", 500)),
        format!("flowchart TD\n {} --> b", ["a"; 1000].join(" & ")),
        format!("flowchart TD\n a{}", " --> a".repeat(2000)),
        format!("flowchart TD\n a[\"{}\"] --> b", "x".repeat(15_000)),
        format!("flowchart TD\n a[\"{}\"] --> b", "x y ".repeat(3800)),
        format!("flowchart TD\n a[\"$${}x{}$$\"]", "\\sqrt{".repeat(2000), "}".repeat(2000)),
        format!("flowchart TD\n a{}x{}", "(".repeat(7000), ")".repeat(7000)),
        format!("%%{{init: {}}}%%\nflowchart TD\n a --> b", "[".repeat(15_000)),
        format!("---\nconfig: {}\n---\nflowchart TD\n a --> b", "{".repeat(15_000)),
        "flowchart TD\n a --> a\n a --> a\n subgraph a\n a\n end".to_owned(),
        "flowchart TD\n subgraph a\n b\n end\n subgraph b\n a\n end\n a --> b".to_owned(),
        "stateDiagram-v2\n state a {\n state b {\n state a {\n a --> b\n }\n }\n }".to_owned(),
        "gantt\n dateFormat YYYY-MM-DD\n a :a1, 0001-01-01, 999999999d\n b: after a1, 99999999999999999999d"
            .to_owned(),
        "gantt\n a :a1, after a2, 3d\n b :a2, after a1, 3d".to_owned(),
        "pie\n \"a\" : 0\n \"b\" : 1e309\n \"c\": -5\n \"d\": nan".to_owned(),
        "quadrantChart\n a: [nan, inf]\n b: [1e300, -5]".to_owned(),
        "gitGraph\n commit id:\"a\"\n merge main\n checkout x\n cherry-pick id:\"z\"".to_owned(),
        "flowchart TD\n a[\"\u{0}\u{1}\u{202e}\u{fffe}日本語 مرحبا 😀\"] --> b".to_owned(),
    ] {
        let (body, warnings) = page(&code);
        let start: String = code.chars().take(60).collect();
        assert!(body.contains("<svg") != (warnings.len() == 1), "{start}: {warnings:?}");
        assert!(body.contains("<pre data-lang=\"mermaid\""), "{start}");
    }
}

#[test]
fn a_panic_of_the_renderer_goes_no_further() {
    assert_eq!(draw::contained(|| 1), Some(1));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let caught = draw::contained(|| std::panic::panic_any("broken"));
    std::panic::set_hook(hook);
    assert_eq!(caught.map(|()| 1), None);
}

#[test]
fn diagrams_of_a_document_are_bounded_by_number_and_by_work() {
    let small = "```mermaid\nflowchart TD\n a --> b\n```\n\n";
    let page = markdown_page(&small.repeat(DOCUMENT.diagrams + 7), None);
    assert_eq!(page.html.matches("<svg").count(), DOCUMENT.diagrams);
    assert_eq!(page.warnings.len(), MOST_WARNINGS + 1, "{:?}", page.warnings);
    assert_eq!(page.warnings[MOST_WARNINGS], "2 more Mermaid diagrams are shown as source text.");
    let large = many("flowchart TD", &|n| format!("a{n} --> b{n}"), 20);
    let work = draw::read(&large).ok().unwrap().work;
    assert!(work > 400, "{work}");
    let page = markdown_page(&format!("```mermaid\n{large}```\n\n").repeat(DOCUMENT.work / work + 2), None);
    assert_eq!(page.html.matches("<svg").count(), DOCUMENT.work / work);
    let larger = many("flowchart TD", &|n| format!("a --> b{n}"), draw::MOST_EDGES + 1);
    assert_eq!(draw::read(&larger).err(), Some(NotDrawn::TooMuch));
}

#[test]
fn documents_of_an_archive_share_one_budget() {
    let mut budget = Budget { diagrams: 3, ..DOCUMENT };
    let document = "```mermaid\nflowchart TD\n a --> b\n```\n\n".repeat(2);
    let mut drawn = || {
        let mut diagrams = Diagrams::new(budget);
        let html: String = (0..2).map(|_| diagrams.html("flowchart TD\n a --> b", 1, "<pre>")).collect();
        diagrams.finish(&mut budget);
        html.matches("<svg").count()
    };
    assert_eq!((drawn(), drawn(), drawn()), (2, 1, 0));
    assert!(!crate::render_fragment(&document).contains("<svg"), "our own texts have no style for drawings");
}

#[test]
fn the_line_of_a_diagram_is_that_of_its_fence() {
    for (document, line) in [
        ("```mermaid\nx\n```\n", 1),
        ("a\n\n~~~ Mermaid title=x\nx\n~~~\n", 3),
        ("---\ntitle: T\n---\n\n- item\n\n  ```mermaid\n  x\n  ```\n", 7),
        ("a[^1]\n\n[^1]: b\n\n    ```mermaid 99\n    x\n    ```\n", 5),
        ("> q\n> ```mermaid\n> x\n> ```\n", 2),
    ] {
        let page = markdown_page(document, None);
        assert!(page.warnings[0].contains(&format!("at line {line} is")), "{document}: {:?}", page.warnings);
    }
    assert!(markdown_page("```mermaidx\nx\n```\n", None).warnings.is_empty());
}

#[test]
fn drawings_have_no_say_in_the_direction_of_the_page() {
    let page = markdown_page(
        "שלום\n\n```mermaid\nflowchart TD\n a[Many Latin letters] --> b[And more of them]\n```\n",
        None,
    );
    assert!(page.html.starts_with("<!doctype html>\n<html dir=\"rtl\">"), "{}", &page.html[..60]);
}
