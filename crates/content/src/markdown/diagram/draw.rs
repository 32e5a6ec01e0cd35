//! Draws one diagram: parses the source, counts its parts before the layout, and rewrites the renderer's output with
//! [`super::svg`]. If the renderer panics, the diagram is shown as its source.

use std::panic::{self, AssertUnwindSafe};

use mermaid_rs_renderer::ir::{DiagramKind, EdgeStyle, EdgeStyleOverride, Graph, NodeStyle};
use mermaid_rs_renderer::validator::validate;
use mermaid_rs_renderer::{LayoutConfig, ParseError, Theme, compute_layout, parse_mermaid, render_svg};

use super::svg::{self, Drawing};
use super::{NotDrawn, values, words};

/// The parts of one diagram: nodes, edges, messages and so on.
pub(super) const MOST_PARTS: usize = 150;
/// The edges of a flowchart. Its layout time grows with their square, and is far longer than that of any other kind.
pub(super) const MOST_EDGES: usize = 30;
/// The total work of all diagrams of one document, in the units of [`Diagram::work`].
pub(super) const MOST_WORK: usize = 1000;
/// How much longer an edge of a flowchart takes than a part of another kind.
const EDGE_WORK: usize = 40;
/// The size of one drawing; a large one has about 100 KiB.
const LONGEST_DRAWING: usize = 512 * 1024;
const THICKEST_LINE: f32 = 20.0;

/// A parsed diagram, and how much work its layout will be.
pub(super) struct Diagram {
    graph: Graph,
    pub(super) name: &'static str,
    /// In units of at most two milliseconds, in a build with few optimizations.
    pub(super) work: usize,
}

/// Parses a source. The error names the line, counted from 1, where the renderer knows it.
pub(super) fn read(code: &str) -> Result<Diagram, NotDrawn> {
    match contained(|| validate(code)).ok_or(NotDrawn::Failed)? {
        // The renderer creates participants that were not declared, as Mermaid does.
        Ok(()) | Err(ParseError::UnknownParticipant { .. }) => {}
        Err(error) => return Err(NotDrawn::Unread(line_of(&error))),
    }
    let mut graph =
        contained(|| parse_mermaid(code)).ok_or(NotDrawn::Failed)?.map_err(|_| NotDrawn::Unread(None))?.graph;
    let name = name_of(graph.kind).ok_or(NotDrawn::OtherKind)?;
    let parts = parts_of(&graph);
    let is_flowchart = graph.kind == DiagramKind::Flowchart;
    if parts > MOST_PARTS || (is_flowchart && graph.edges.len() > MOST_EDGES) {
        return Err(NotDrawn::TooMuch);
    }
    if parts == 0 {
        return Err(NotDrawn::Unread(None));
    }
    clean(&mut graph);
    correct(&mut graph);
    let edges = if is_flowchart { graph.edges.len() } else { 0 };
    let work = 1 + edges * edges + parts * parts / EDGE_WORK;
    if work > MOST_WORK {
        return Err(NotDrawn::TooMuch);
    }
    Ok(Diagram { graph, name, work })
}

impl Diagram {
    /// `prefix` keeps its ids distinct from those of the page's other drawings.
    pub(super) fn draw(&self, code: &str, prefix: &str) -> Result<Drawing, NotDrawn> {
        let (theme, config) = (theme(), config());
        let made = contained(|| render_svg(&compute_layout(&self.graph, &theme, &config), &theme, &config));
        let drawing =
            made.and_then(|made| svg::rewrite(&made, prefix, LONGEST_DRAWING)).ok_or(NotDrawn::Failed)?;
        let is_whole = words::are_all_drawn(self.graph.kind, code, &drawing.content);
        is_whole.then_some(drawing).ok_or(NotDrawn::Incomplete)
    }
}

/// Runs the renderer; `None` if it panics. Its only state is a cache of character widths, which it stops using once the lock
/// is poisoned.
pub(super) fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The name of a kind; `None` for kinds that are not drawn well enough.
fn name_of(kind: DiagramKind) -> Option<&'static str> {
    Some(match kind {
        DiagramKind::Flowchart => "Flowchart",
        DiagramKind::Sequence => "Sequence diagram",
        DiagramKind::Class => "Class diagram",
        DiagramKind::State => "State diagram",
        DiagramKind::Er => "Entity relationship diagram",
        DiagramKind::Pie => "Pie chart",
        DiagramKind::Mindmap => "Mind map",
        DiagramKind::GitGraph => "Git graph",
        DiagramKind::Journey => "User journey",
        DiagramKind::Timeline => "Timeline",
        DiagramKind::Quadrant => "Quadrant chart",
        _ => return None,
    })
}

fn parts_of(graph: &Graph) -> usize {
    let events: usize = graph.timeline.events.iter().map(|event| 1 + event.events.len()).sum();
    [
        graph.nodes.len(),
        graph.edges.len(),
        graph.subgraphs.len(),
        graph.sequence_participants.len(),
        graph.sequence_frames.iter().map(|frame| 1 + frame.sections.len()).sum(),
        graph.sequence_notes.len(),
        graph.sequence_activations.len(),
        graph.sequence_boxes.len(),
        graph.state_notes.len(),
        graph.pie_slices.len(),
        graph.quadrant.points.len(),
        graph.gantt_tasks.len(),
        graph.gantt_sections.len(),
        graph.gitgraph.commits.iter().map(|commit| 1 + commit.tags.len()).sum(),
        graph.gitgraph.branches.len(),
        graph.mindmap.nodes.len(),
        events,
    ]
    .iter()
    .sum()
}

/// Removes links, and styles that are not colours or lengths, because the renderer writes them unescaped.
fn clean(graph: &mut Graph) {
    graph.node_links.clear();
    let styles = [&mut graph.class_defs, &mut graph.node_styles, &mut graph.subgraph_styles];
    styles.into_iter().flat_map(|styles| styles.values_mut()).for_each(clean_node);
    graph.edge_styles.values_mut().chain(&mut graph.edge_style_default).for_each(clean_edge);
    for group in &mut graph.sequence_boxes {
        keep_colour(&mut group.color);
    }
}

/// Works around two faults of the renderer. It assigns no rank to a node that only a dotted edge leads to, so dotted edges
/// become dashed ones; and it does not recognize where an activation of a sequence diagram ends, so activations are removed.
fn correct(graph: &mut Graph) {
    graph.sequence_activations.clear();
    if graph.kind != DiagramKind::Flowchart {
        return;
    }
    for (number, edge) in
        graph.edges.iter_mut().enumerate().filter(|(_, edge)| edge.style == EdgeStyle::Dotted)
    {
        edge.style = EdgeStyle::Solid;
        graph.edge_styles.entry(number).or_default().dasharray.get_or_insert_with(|| "3 4".to_owned());
    }
}

fn clean_node(style: &mut NodeStyle) {
    for colour in [&mut style.fill, &mut style.stroke, &mut style.text_color, &mut style.line_color] {
        keep_colour(colour);
    }
    keep_width(&mut style.stroke_width);
    keep_dashes(&mut style.stroke_dasharray);
}

fn clean_edge(style: &mut EdgeStyleOverride) {
    keep_colour(&mut style.stroke);
    keep_colour(&mut style.label_color);
    keep_width(&mut style.stroke_width);
    keep_dashes(&mut style.dasharray);
}

fn keep_colour(colour: &mut Option<String>) {
    colour.take_if(|colour| !values::is_colour(colour));
}

fn keep_width(width: &mut Option<f32>) {
    width.take_if(|width| !(0.0..=THICKEST_LINE).contains(width));
}

fn keep_dashes(dashes: &mut Option<String>) {
    dashes.take_if(|dashes| values::numbers(dashes).is_none());
}

fn line_of(error: &ParseError) -> Option<usize> {
    let line = match error {
        ParseError::UnclosedSubgraph { opened_at } => *opened_at,
        ParseError::UnknownParticipant { line, .. }
        | ParseError::UnexpectedToken { line, .. }
        | ParseError::InvalidDirective { line, .. } => *line,
        _ => return None,
    };
    usize::try_from(line).ok()
}

/// The colours of a light page: drawings have a light background in dark pages too.
fn theme() -> Theme {
    Theme {
        // No font has this name: widths are estimated, so that a drawing does not depend on the server's fonts.
        font_family: "dropleaf-estimated".to_owned(),
        ..Theme::mermaid_default()
    }
}

fn config() -> LayoutConfig {
    LayoutConfig { fast_text_metrics: true, ..LayoutConfig::default() }
}
