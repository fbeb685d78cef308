//! The little language of expectations: `fct.mean(drill)`, `fct.p99(ecmp) / fct.p99(drill)`.
//!
//! Only reads texts; which cases the words mean is decided in [`expect`](super).

/// A metric, and which case it is taken from as far as the text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) metric: String,
    pub(crate) selectors: Vec<Selector>,
}

/// `drill`, or `traffic.trace.load = 0.8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) path: Option<String>,
    pub(crate) value: String,
}

/// Reads one or two terms.
///
/// # Errors
/// What is wrong with the text.
pub(crate) fn parse(text: &str) -> Result<(Term, Option<Term>), String> {
    let terms: Vec<&str> = split_outside(text, '/');
    match terms.as_slice() {
        [one] => Ok((term(one)?, None)),
        [above, below] => Ok((term(above)?, Some(term(below)?))),
        _ => Err("more than one `/`".to_owned()),
    }
}

/// Splits at a character outside of parentheses.
fn split_outside(text: &str, at: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (index, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if c == at && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn term(text: &str) -> Result<Term, String> {
    let text = text.trim();
    let Some((metric, rest)) = text.split_once('(') else {
        return if text.is_empty() { Err("a metric is missing".to_owned()) } else { Ok(plain(text)) };
    };
    let inside = rest.strip_suffix(')').ok_or_else(|| format!("`{text}` does not end with `)`"))?;
    let selectors = inside.split(',').map(selector).collect::<Result<_, _>>()?;
    Ok(Term { selectors, ..plain(metric.trim()) })
}

fn plain(metric: &str) -> Term {
    Term { metric: metric.to_owned(), selectors: Vec::new() }
}

fn selector(text: &str) -> Result<Selector, String> {
    let (path, value) = match text.split_once('=') {
        Some((path, value)) => (Some(path.trim().to_owned()), value.trim()),
        None => (None, text.trim()),
    };
    if value.is_empty() {
        return Err("nothing stands between the parentheses or commas".to_owned());
    }
    Ok(Selector { path, value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_two_terms_with_selectors() {
        let (above, below) = parse("fct.mean(ecmp) / fct.mean(drill, traffic.trace.load = 0.8)").unwrap();
        assert_eq!(above.metric, "fct.mean");
        assert_eq!(above.selectors, [Selector { path: None, value: "ecmp".into() }]);
        let below = below.unwrap();
        assert_eq!(below.selectors[1].path.as_deref(), Some("traffic.trace.load"));
        assert_eq!(below.selectors[1].value, "0.8");
    }

    #[test]
    fn a_value_is_one_term() {
        let (term, none) = parse("reordering.over_3").unwrap();
        assert_eq!((term.metric.as_str(), none), ("reordering.over_3", None));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["", "a / b / c", "a(b", "a()", "a(,)", "/ b", "a(x=)"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
