//! The symbols of a page: code spans that look like Rust, each with the files that its sentence names for it.

use crate::markdown;

/// A symbol in a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Line, counted from 1.
    pub(super) line: usize,
    /// As written: `Switch::receive`.
    pub(super) path: String,
    /// Files and folders that must declare it; empty: any source file.
    pub(super) places: Vec<String>,
}

impl Named {
    /// The last word of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit("::").next().unwrap_or(&self.path)
    }

    /// The type in front of the last word.
    pub(super) fn owner(&self) -> Option<&str> {
        self.before().filter(|word| is_type(word))
    }

    /// The crate in front of the last word.
    pub(super) fn krate(&self) -> Option<&str> {
        self.before().filter(|word| !is_type(word))
    }

    fn before(&self) -> Option<&str> {
        self.path.rsplit("::").nth(1)
    }
}

/// A code span and the text up to the next one in its block.
struct Span {
    line: usize,
    code: String,
    then: String,
}

impl Span {
    /// A file or folder of a crate.
    fn is_place(&self) -> bool {
        self.code.starts_with("crates/") && !self.code.contains(['*', '<'])
    }

    fn ends_a_sentence(&self) -> bool {
        [". ", "; "].iter().any(|end| self.then.contains(end))
    }
}

/// The symbols of a page, in order. A single lower-case word is a function only in a sentence that names a source file, which then
/// must declare it, and never if it is a crate.
pub(super) fn of_page(text: &str, is_crate: impl Fn(&str) -> bool) -> Vec<Named> {
    let mut found = Vec::new();
    for block in blocks(text) {
        let spans = spans(&block);
        for sentence in spans.split_inclusive(Span::ends_a_sentence) {
            found.extend(symbols(sentence, &is_crate));
        }
    }
    found
}

fn symbols(sentence: &[Span], is_crate: impl Fn(&str) -> bool) -> Vec<Named> {
    let places = sentence.iter().filter(|span| span.is_place()).map(|span| span.code.clone());
    let places: Vec<String> = places.collect();
    let names_a_file = places.iter().any(|place| place.ends_with(".rs"));
    let mut found = Vec::new();
    for (index, span) in
        sentence.iter().enumerate().filter(|(_, span)| span.code.split("::").all(is_identifier))
    {
        let certain = is_path_or_type(&span.code);
        let places = match place_of(sentence, index) {
            _ if !certain && (!names_a_file || is_crate(&span.code)) => continue,
            Some(place) => vec![place.to_owned()],
            None if certain => Vec::new(),
            None => places.clone(),
        };
        found.push(Named { line: span.line, path: span.code.clone(), places });
    }
    found
}

/// The file that follows at once: ``` `Setup` in `crates/plan/src/setup.rs` ```, or in parentheses.
fn place_of(sentence: &[Span], index: usize) -> Option<&str> {
    let next = sentence.get(index + 1).filter(|next| next.is_place())?;
    ["in", "("].contains(&sentence[index].then.trim()).then_some(next.code.as_str())
}

/// Paragraphs, list items and table rows: the first line and the text.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (line, content) in markdown::prose(text) {
        let starts = content.trim_start().starts_with(['-', '|', '#']);
        match all.last_mut().filter(|_| open && !starts) {
            Some((_, block)) => {
                block.push('\n');
                block.push_str(content);
            }
            None => all.push((line, content.to_owned())),
        }
        open = !content.trim().is_empty();
    }
    all
}

fn spans((first, block): &(usize, String)) -> Vec<Span> {
    let pieces: Vec<&str> = block.split('`').collect();
    let lines_before =
        |index: usize| pieces[..index].iter().map(|piece| piece.matches('\n').count()).sum::<usize>();
    let span = |index: usize| Span {
        line: first + lines_before(index),
        code: pieces[index].to_owned(),
        then: pieces.get(index + 1).map_or(String::new(), |then| then.replace('\n', " ")),
    };
    (1..pieces.len()).step_by(2).map(span).collect()
}

/// `Switch::receive`, `Setup` or `serve_card`; not `weft` or `core`.
fn is_path_or_type(code: &str) -> bool {
    code.contains(|letter: char| letter.is_ascii_uppercase() || "_:".contains(letter))
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn is_type(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
}
