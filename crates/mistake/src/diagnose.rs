//! Draws mistakes: underlined source lines for people, one line each for logs, JSON for programs.
//!
//! The only module that depends on the drawing crate.

use crate::mistake::{Mistake, Mistakes};
use crate::source::{SourceSpan, Sources};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::json;
use std::fmt;
use std::ops::Range;
use weft_draw::{WIDTH, wrapped};

/// Columns taken by the frame of a message before its lines.
const FRAME: usize = 14;

impl Mistakes {
    /// Every mistake with its source line underlined; `colour` for terminals.
    #[must_use]
    pub fn draw(&self, colour: bool) -> String {
        draw(self.sources(), self.list(), colour)
    }

    /// One line per mistake: `file:line:column  message`.
    #[must_use]
    pub fn short(&self) -> String {
        short(self.sources(), self.list())
    }

    /// A JSON list of `{level, file, line, column, path, message, allowed, nearest}`.
    #[must_use]
    pub fn json(&self) -> String {
        json(self.sources(), self.list())
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.draw(false))
    }
}

impl std::error::Error for Mistakes {}

/// Every mistake with its source line, the offending text underlined, what is allowed, and the nearest name.
fn draw(sources: &Sources, mistakes: &[Mistake], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let drawn = mistakes.iter().take(MOST_DRAWN).map(|mistake| draw_one(sources, mistake, &renderer));
    let count = match mistakes.len() {
        1 => "1 mistake".to_owned(),
        n if n > MOST_DRAWN => {
            format!("{n} mistakes; the first {MOST_DRAWN} are shown, `weft check --format json` lists all")
        }
        n => format!("{n} mistakes"),
    };
    format!("{}\n\n{count}\n", drawn.collect::<Vec<_>>().join("\n\n"))
}

/// Maximum number shown; all are counted.
const MOST_DRAWN: usize = 500;

fn draw_one(sources: &Sources, mistake: &Mistake, renderer: &Renderer) -> String {
    let (name, at) = (&sources.source(mistake.place).name, sources.line_column(mistake.place));
    let (line, start) = sources.line(mistake.place);
    if mistake.path.is_empty() && sources.source(mistake.place).text.is_empty() {
        return draw_whole(mistake, renderer);
    }
    let label = mistake.nearest.as_ref().map(|name| format!("did you mean `{name}`?"));
    let mark = AnnotationKind::Primary.span(visible(line, mistake.place, start)).label(label);
    let snippet = Snippet::source(line).line_start(at.line).path(name.as_str()).annotation(mark);
    let mut group = Group::with_title(Level::ERROR.primary_title(mistake.message.as_str())).element(snippet);
    // an error about a unit already names the allowed units
    let untold = mistake.allowed.as_ref().filter(|_| !mistake.message.contains("allowed:"));
    if let Some(allowed) = untold {
        group = group
            .element(Level::HELP.message(wrapped(&format!("allowed: {allowed}"), WIDTH - FRAME).join("\n")));
    }
    renderer.render(&[group])
}

/// A mistake about a whole file: there is no line to show.
fn draw_whole(mistake: &Mistake, renderer: &Renderer) -> String {
    let title = Group::with_title(Level::ERROR.primary_title(mistake.message.as_str()));
    let hint = mistake.nearest.as_ref().map(|name| Level::HELP.message(format!("did you mean `{name}`?")));
    renderer.render(&[hint.into_iter().fold(title, Group::element)])
}

/// The span inside the line that starts at the byte `from`, at character borders.
fn visible(line: &str, place: SourceSpan, from: usize) -> Range<usize> {
    let border = |at: usize| {
        let mut at = at.saturating_sub(from).min(line.len());
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    border(place.span().start)..border(place.span().end)
}

/// `file:line:column  message (did you mean `x`?)`, one line per mistake.
fn short(sources: &Sources, mistakes: &[Mistake]) -> String {
    let line = |mistake: &Mistake| {
        let (source, at) = (sources.source(mistake.place), sources.line_column(mistake.place));
        let hint = mistake.nearest.as_ref().map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        format!("{}:{}:{}  {}{hint}\n", source.name, at.line, at.column, mistake.message)
    };
    mistakes.iter().map(line).collect()
}

/// The same facts as JSON.
fn json(sources: &Sources, mistakes: &[Mistake]) -> String {
    let object = |mistake: &Mistake| {
        let at = sources.line_column(mistake.place);
        json!({
            "level": "mistake", "file": sources.source(mistake.place).name, "line": at.line, "column": at.column,
            "path": mistake.path, "message": mistake.message,
            "allowed": mistake.allowed, "nearest": mistake.nearest,
        })
    };
    let list: Vec<_> = mistakes.iter().map(object).collect();
    serde_json::to_string_pretty(&list).expect("texts and numbers are always JSON")
}
