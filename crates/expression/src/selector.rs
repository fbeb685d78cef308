//! Selectors: the case that a term's text means. Must not depend on cases; their labels are texts here.

/// `drill`, or `traffic.trace.load = 0.8`; a path may be shortened to its last words: `load = 0.8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    text: String,
}

impl Selector {
    /// The path of the axis, if the selector names one. The text before `=` is a path only if it is a single word: the
    /// label `drill choices=2` names none.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        let (path, _) = self.text.split_once('=')?;
        Some(path.trim()).filter(|path| !path.is_empty() && !path.contains(char::is_whitespace))
    }

    /// The value, without the path.
    #[must_use]
    pub fn value(&self) -> &str {
        match (self.path(), self.text.split_once('=')) {
            (Some(_), Some((_, value))) => value.trim(),
            _ => &self.text,
        }
    }

    /// Whether it names this axis, or none.
    #[must_use]
    pub fn is_about(&self, path: &str) -> bool {
        self.path().is_none_or(|wanted| path == wanted || path.ends_with(&format!(".{wanted}")))
    }

    /// Whether it selects the cases with this label on this axis. A label equal to the whole selector always matches.
    #[must_use]
    pub fn picks(&self, path: &str, label: &str) -> bool {
        self.text == label || self.is_about(path) && same(self.value(), label)
    }
}

/// Whether two words, or two numbers such as `0.8` and `0.80`, are equal.
#[must_use]
pub fn same(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

/// Parses `drill, load = 0.8`.
///
/// # Errors
/// The problem with the text.
pub fn list(text: &str) -> Result<Vec<Selector>, String> {
    let selector = |part: &str| {
        let selector = Selector { text: part.trim().to_owned() };
        if selector.text.is_empty() || selector.text.ends_with('=') {
            return Err("the parentheses, commas or `=` enclose nothing".to_owned());
        }
        Ok(selector)
    };
    text.split(',').map(selector).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Selector {
        list(text).unwrap().remove(0)
    }

    #[test]
    fn a_label_with_settings_is_named_whole_or_after_its_path() {
        let label = "drill choices=2 memory=1";
        for text in [label, "balance = drill choices=2 memory=1", "balance=drill choices=2 memory=1"] {
            assert!(one(text).picks("balance", label), "{text}");
            assert!(!one(text).picks("balance", "drill choices=2 memory=2"), "{text}");
        }
        assert!(one("choices=2").picks("switch.setting", "choices=2"));
        assert_eq!((one(label).path(), one(label).value()), (None, label));
    }

    #[test]
    fn a_path_may_be_cut_to_its_last_words_and_numbers_are_compared_as_such() {
        assert!(one("load = 0.80").picks("traffic.trace.load", "0.8"));
        assert!(one("trace.load=0.8").picks("traffic.trace.load", "0.8"));
        assert!(!one("oad = 0.8").picks("traffic.trace.load", "0.8"));
        assert!(!one("load = 0.8").picks("balance", "0.8"));
        assert!(one("0.8").picks("balance", "0.8"));
    }
}
