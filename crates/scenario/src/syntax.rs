//! Goes on after lines that are not TOML, such as `rate = 10 Gbps` without quotes: without them the rest of the file is
//! checked, too. Must not depend on settings.

use weft_mistake::node::{Toml, parse_document};
use weft_mistake::{Mistake, Sources};

/// The document without the lines of these errors, and the errors with the paths of their keys. `None` if an error is not
/// in the value of a single line, or the rest is not TOML either.
pub(crate) fn without_wrong_lines(text: &str, errors: &[Mistake]) -> Option<(Toml, Vec<Mistake>)> {
    let mut rest = text.to_owned();
    let mut told = Vec::new();
    for error in errors {
        let at = error.place.span().start.min(text.len());
        let (start, end) = line_around(text, at)?;
        let path = path_of(text, (start, end), at)?;
        let blank: String = " ".repeat(end - start);
        rest.replace_range(start..end, &blank);
        told.push(Mistake { path, ..error.clone() });
    }
    let (document, others) = parse_document(&rest);
    others.is_empty().then_some((document, told))
}

/// Where the line with this byte starts and ends.
fn line_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    Some((start, text[at..].find('\n').map_or(text.len(), |length| at + length)))
}

/// The path of the key whose value, on one line, contains this byte.
fn path_of(text: &str, (start, end): (usize, usize), at: usize) -> Option<String> {
    let (key, _) = text[start..end].split_once('=')?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || "-_.\"' \t".contains(c);
    if key.trim().is_empty() || !key.chars().all(is_key) || at <= start + key.len() {
        return None;
    }
    let headers = text[..start].lines().rev().map(str::trim);
    let header =
        headers.filter(|line| line.starts_with('[')).map(|line| line.trim_matches(['[', ']'])).next();
    let plain = |words: &str| words.replace(['"', '\'', ' ', '\t'], "");
    Some(match header {
        Some(section) => format!("{}.{}", plain(section), plain(key)),
        None => plain(key),
    })
}

/// Whether a mistake may follow from what could not be read: it is about the same key, or about a section whose parts
/// depend on each other.
pub(crate) fn follows_from(unreadable: &[Mistake], mistake: &Mistake) -> bool {
    let ends = |path: &str| {
        let mut steps = path.split(['.', '[']).map(|step| step.trim_end_matches(']').to_owned());
        let first = steps.next().unwrap_or_default();
        (first.clone(), steps.next_back().unwrap_or(first))
    };
    let (section, key) = ends(&mistake.path);
    let own = |one: &Mistake| {
        let (of, name) = ends(&one.path);
        let whole = ["sweep", "demo", "expect"].contains(&of.as_str());
        of == section
            && (name == key || whole)
            && Sources::number(one.place) == Sources::number(mistake.place)
    };
    unreadable.iter().any(own)
}
