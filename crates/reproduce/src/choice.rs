//! The claims of a call: `C1,C20-C23`.

use crate::source::{PublishedClaim, PublishedSource};
use weft::Error;

/// The claims named by the texts, in the order of the source; all claims if there is no text.
///
/// # Errors
/// Every text that names no claim.
pub(crate) fn choose<'a>(
    source: &'a PublishedSource,
    texts: &[String],
) -> Result<Vec<&'a PublishedClaim>, Error> {
    let all = || source.claims.iter();
    if texts.is_empty() {
        return Ok(all().collect());
    }
    let lost: Vec<&str> = texts
        .iter()
        .map(String::as_str)
        .filter(|text| !ends(text).iter().all(|end| has(source, end)))
        .collect();
    if lost.is_empty() {
        return Ok(all().filter(|claim| texts.iter().any(|text| names(text, claim))).collect());
    }
    let known: Vec<&str> = all().map(|claim| claim.id.get_ref().as_str()).collect();
    Err(Error::BadInput(format!("there is no claim {}\nallowed: {}", lost.join(", "), known.join(", "))))
}

fn has(source: &PublishedSource, id: &str) -> bool {
    source.claims.iter().any(|claim| claim.id.get_ref() == id)
}

/// The claims that a text names: one, or the ends of a range.
fn ends(text: &str) -> Vec<&str> {
    match text.split_once('-') {
        Some((from, to)) if is_range(from, to) => vec![from, to],
        _ => vec![text],
    }
}

/// Whether these are the ends of a range: `F2-N10` is a claim, not one from F2 to N10.
fn is_range(from: &str, to: &str) -> bool {
    let ends = split(from).zip(split(to));
    ends.is_some_and(|((kind, from), (last, to))| kind == last && from <= to)
}

fn names(text: &str, claim: &PublishedClaim) -> bool {
    let id = claim.id.get_ref();
    let within = || {
        let (from, to) = text.split_once('-')?;
        let ((kind, from), (last, to), (own, number)) = (split(from)?, split(to)?, split(id)?);
        Some(kind == last && kind == own && (from..=to).contains(&number))
    };
    text == id || within().unwrap_or(false)
}

/// Splits `C20` into C and 20.
fn split(id: &str) -> Option<(&str, u32)> {
    let at = id.find(|c: char| c.is_ascii_digit())?;
    Some((&id[..at], id[at..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(texts: &[&str]) -> Result<Vec<String>, String> {
        let claim = |id: &str| {
            format!("[[claim]]\nid = \"{id}\"\nplace = \"\"\nsays = \"\"\nnot_comparable = \"x\"\n")
        };
        let text: String = ["C1", "C2", "C20", "C21", "D2", "F2", "F2-N10"].map(claim).concat();
        let source: PublishedSource =
            toml::from_str(&format!("title=\"\"\nreference=\"\"\nabout=\"\"\n{text}")).unwrap();
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let ids =
            |claims: Vec<&PublishedClaim>| claims.iter().map(|claim| claim.id.get_ref().clone()).collect();
        choose(&source, &texts).map(ids).map_err(|error| error.to_string())
    }

    #[test]
    fn claims_are_named_alone_and_by_range() {
        assert_eq!(chosen(&["D2", "C1-C20"]).unwrap(), ["C1", "C2", "C20", "D2"]);
        assert_eq!(chosen(&["F2-N10"]).unwrap(), ["F2-N10"]);
        assert_eq!(chosen(&[]).unwrap().len(), 7);
    }

    #[test]
    fn a_text_that_names_no_claim_is_refused() {
        let message = chosen(&["C1", "C3", "E1-E2", "C1-C22", "C20-C1"]).unwrap_err();
        assert!(
            message.contains("no claim C3, E1-E2, C1-C22, C20-C1\n") && message.contains("allowed: C1, C2"),
            "{message}"
        );
    }
}
