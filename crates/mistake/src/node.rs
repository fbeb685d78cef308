//! The scenario file as a tree in which every key and value has its position.
//!
//! Must not depend on settings: the decoder decides what a key means.

use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use crate::mistake::Mistake;
use crate::source::SourceSpan;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The documented default: the user gave none.
    #[default]
    Default,
    /// The scenario file.
    File,
    /// A value of `[sweep]`.
    Sweep,
    /// The `[demo]` table.
    Demo,
    /// `--set path=value`.
    CommandLine,
}

/// A value with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Toml {
    /// Its position.
    pub place: SourceSpan,
    /// Where it comes from.
    pub origin: Origin,
    /// The value.
    pub content: Content,
}

/// The kinds of values in TOML. Dates are texts that no setting accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// True or false.
    Flag(bool),
    /// A date or a time, as written.
    Date(String),
    /// An array. Copies of a tree share it until one of them changes it.
    List(Arc<Vec<Toml>>),
    /// A table, in the order of the file.
    Table(Vec<TomlEntry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct TomlEntry {
    /// The key.
    pub key: String,
    /// The key's position.
    pub place: SourceSpan,
    /// The value.
    pub node: Toml,
}

/// Reads a whole document. The tree holds the valid parts; the mistakes are the syntax errors.
pub fn parse_document(text: &str) -> (Toml, Vec<Mistake>) {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader::new(0, Origin::File, text, errors);
    let content = reader.table(document.get_ref());
    let end_of_first_line = text.find('\n').unwrap_or(text.len());
    (reader.node(0..end_of_first_line, content), reader.mistakes)
}

/// Parses the value of a `--set` argument in these bytes of its text; a value that is not TOML is a plain text.
///
/// # Errors
/// A value that is TOML but cannot be read, such as a number out of range: the first mistake in it.
pub fn parse_argument(source: usize, text: &str, within: Range<usize>) -> Result<Toml, Mistake> {
    let own = &text[within.clone()];
    let (value, errors) = DeValue::parse_recoverable(own);
    let mut reader = Reader::new(source, Origin::CommandLine, own, Vec::new());
    if !errors.is_empty() {
        let words = own.trim().to_owned();
        return Ok(reader.node(within, Content::Text(words)));
    }
    let node = reader.value(&value).moved(within.start);
    let first = reader.mistakes.into_iter().next();
    first.map_or(Ok(node), |first| Err(Mistake { place: first.place.moved(within.start), ..first }))
}

/// Parses values between commas, `ecmp,drill`, as a list; a TOML value as it is.
///
/// # Errors
/// As [`parse_argument`].
pub fn parse_values(source: usize, text: &str, within: Range<usize>) -> Result<Toml, Mistake> {
    let (from, values) = (within.start, &text[within.clone()]);
    let is_toml = || DeValue::parse_recoverable(values).1.is_empty();
    if values.trim_start().starts_with('[') || !values.contains(',') || is_toml() {
        return parse_argument(source, text, within);
    }
    let ends = values.match_indices(',').map(|(at, _)| from + at).chain([within.end]);
    let starts = std::iter::once(from).chain(values.match_indices(',').map(|(at, _)| from + at + 1));
    let items = starts.zip(ends).map(|(start, end)| parse_argument(source, text, start..end));
    let items = items.collect::<Result<_, _>>()?;
    let reader = Reader::new(source, Origin::CommandLine, text, Vec::new());
    Ok(reader.node(within, Content::List(Arc::new(items))))
}

struct Reader<'a> {
    source: usize,
    origin: Origin,
    text: &'a str,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn new(source: usize, origin: Origin, text: &str, errors: Vec<Error>) -> Reader<'_> {
        let mistake = |error: &Error| {
            let span = error.span().unwrap_or(0..0);
            Mistake::new(
                SourceSpan::new(source, span),
                "",
                format!("not TOML: {}", error.message().replace('\n', ", ")),
            )
        };
        let mistakes = errors.iter().map(mistake).collect();
        Reader { source, origin, text, mistakes }
    }

    fn node(&self, span: Range<usize>, content: Content) -> Toml {
        Toml { place: SourceSpan::new(self.source, span), origin: self.origin, content }
    }

    fn wrong(&mut self, span: Range<usize>, message: String) {
        self.mistakes.push(Mistake::new(SourceSpan::new(self.source, span), "", message));
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> Toml {
        let span = value.span();
        let content = match value.get_ref() {
            DeValue::String(text) => Content::Text(text.to_string()),
            DeValue::Integer(digits) => self.integer(digits.as_str(), digits.radix(), &span),
            DeValue::Float(digits) => self.float(digits.as_str(), &span),
            DeValue::Boolean(flag) => Content::Flag(*flag),
            DeValue::Datetime(date) => Content::Date(date.to_string()),
            DeValue::Array(items) => {
                Content::List(Arc::new(items.iter().map(|item| self.value(item)).collect()))
            }
            DeValue::Table(table) => {
                self.refuse_loose_inline_table(table, &span);
                self.table(table)
            }
        };
        self.node(span, content)
    }

    fn integer(&mut self, digits: &str, radix: u32, span: &Range<usize>) -> Content {
        let number = i64::from_str_radix(digits, radix).unwrap_or_else(|_| {
            let limits = format!("whole numbers lie between {} and {}", i64::MIN, i64::MAX);
            self.wrong(span.clone(), format!("`{digits}` is out of range: {limits}"));
            0
        });
        Content::Integer(number)
    }

    fn float(&mut self, digits: &str, span: &Range<usize>) -> Content {
        let number = digits.parse().unwrap_or_else(|_| {
            self.wrong(span.clone(), format!("`{digits}` is not a number"));
            0.0
        });
        Content::Float(number)
    }

    fn table(&mut self, table: &DeTable<'_>) -> Content {
        let mut entries: Vec<TomlEntry> = table
            .iter()
            .map(|(key, value)| TomlEntry {
                key: key.get_ref().to_string(),
                place: SourceSpan::new(self.source, key.span()),
                node: self.value(value),
            })
            .collect();
        entries.sort_by_key(|entry| entry.place.span().start);
        Content::Table(entries)
    }

    /// Refuses inline tables over several lines or with a trailing comma, which TOML 1.0 does not allow.
    fn refuse_loose_inline_table(&mut self, table: &DeTable<'_>, span: &Range<usize>) {
        let Some(text) = self.text.get(span.clone()).filter(|text| text.starts_with('{')) else { return };
        let mut between: Vec<u8> = text.as_bytes().to_vec();
        for value in table.values() {
            for at in value.span() {
                if let Some(byte) = at.checked_sub(span.start).and_then(|at| between.get_mut(at)) {
                    *byte = b'v';
                }
            }
        }
        let bare: Vec<u8> = between.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        if between.contains(&b'\n') || bare.ends_with(b",}") {
            let rule = "an inline table is written on one line, without a trailing comma (TOML 1.0)";
            self.wrong(span.clone(), format!("{rule}; write a long one as a [section]"));
        }
    }
}

impl Toml {
    /// An empty table at the position of another value.
    pub fn empty_table(place: SourceSpan, origin: Origin) -> Toml {
        Toml { place, origin, content: Content::Table(Vec::new()) }
    }

    /// The value of a key of a table.
    pub fn get(&self, key: &str) -> Option<&Toml> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The keys and values of a table; empty for anything else.
    pub fn entries(&self) -> &[TomlEntry] {
        match &self.content {
            Content::Table(entries) => entries,
            _ => &[],
        }
    }

    /// Takes a key out of a table.
    pub fn take(&mut self, key: &str) -> Option<TomlEntry> {
        let Content::Table(entries) = &mut self.content else { return None };
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(at))
    }

    /// The text, if the value is one.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value with another origin.
    pub fn said_by(mut self, origin: Origin) -> Toml {
        self.origin = origin;
        self.content = match self.content {
            Content::List(items) => items_of(items, |item| item.said_by(origin)),
            Content::Table(entries) => Content::Table(
                entries
                    .into_iter()
                    .map(|entry| TomlEntry { node: entry.node.said_by(origin), ..entry })
                    .collect(),
            ),
            other => other,
        };
        self
    }

    /// The value with its position moved by `by` bytes.
    fn moved(mut self, by: usize) -> Toml {
        self.place = self.place.moved(by);
        self.content = match self.content {
            Content::List(items) => items_of(items, |item| item.moved(by)),
            Content::Table(entries) => {
                Content::Table(entries.into_iter().map(|entry| entry.moved(by)).collect())
            }
            other => other,
        };
        self
    }

    /// The value in words, with an article, as in "found a list".
    pub fn described(&self) -> String {
        match &self.content {
            Content::Text(text) => format!("the text \"{text}\""),
            Content::Integer(number) => format!("the number {number}"),
            Content::Float(number) => format!("the number {number:?}"),
            Content::Flag(flag) => format!("`{flag}`"),
            Content::Date(date) => format!("the date {date}"),
            Content::List(_) => "a list".to_owned(),
            Content::Table(_) => "a table".to_owned(),
        }
    }

    /// A short form for labels: `drill`, `0.8`, `drill choices=2`.
    pub fn label(&self) -> String {
        match &self.content {
            Content::Text(text) | Content::Date(text) => text.clone(),
            Content::Integer(number) => number.to_string(),
            Content::Float(number) => format!("{number:?}"),
            Content::Flag(flag) => flag.to_string(),
            Content::List(items) => items.iter().map(Toml::label).collect::<Vec<_>>().join("+"),
            Content::Table(entries) => {
                entries.iter().map(TomlEntry::label).collect::<Vec<_>>().join(" ").trim().to_owned()
            }
        }
    }
}

/// A list of changed items.
fn items_of(items: Arc<Vec<Toml>>, change: impl FnMut(Toml) -> Toml) -> Content {
    Content::List(Arc::new(Arc::unwrap_or_clone(items).into_iter().map(change).collect()))
}

impl TomlEntry {
    fn moved(self, by: usize) -> TomlEntry {
        TomlEntry { place: self.place.moved(by), node: self.node.moved(by), key: self.key }
    }

    fn label(&self) -> String {
        match &self.node.content {
            Content::Table(_) => format!("{} {}", self.key, self.node.label()),
            _ => format!("{}={}", self.key, self.node.label()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_syntax_error_is_reported() {
        let (_, mistakes) = parse_document("a = \nb = 1\nb = 2\nc = [1,\n");
        let lines: Vec<usize> = mistakes.iter().map(|mistake| mistake.place.span().start).collect();
        assert!(mistakes.len() >= 3, "{mistakes:?}");
        assert!(lines.iter().all(|&at| at <= 25));
    }

    #[test]
    fn keys_keep_the_order_of_the_file() {
        let (node, mistakes) = parse_document("z = 1\na = 2\n[m]\nx = 1\n");
        assert_eq!(mistakes, []);
        let keys: Vec<&str> = node.entries().iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "m"]);
    }

    #[test]
    fn only_inline_tables_of_toml_one_are_read() {
        let wrong = |text: &str| parse_document(text).1.len();
        assert_eq!(wrong("a = { b = 1, c = [\n1,\n2] }"), 0);
        assert_eq!(wrong("a = { b = 1,\n c = 2 }"), 1);
        assert_eq!(wrong("a = { b = 1, }"), 1);
    }

    #[test]
    fn an_argument_is_a_value_or_else_a_text() {
        let parsed = |text: &str| parse_argument(1, text, 2..text.len()).expect("a value");
        assert_eq!(parsed("x=0.5").content, Content::Float(0.5));
        assert_eq!(parsed("x=drill").content, Content::Text("drill".into()));
        assert_eq!(parsed("x=40 Gbps").content, Content::Text("40 Gbps".into()));
        assert_eq!(parsed("x=\"a\"").place.span(), 2..5);
    }

    /// A number is not a text because it is large.
    #[test]
    fn whole_numbers_out_of_range_are_refused_where_they_stand() {
        for (argument, place) in [
            ("x=9223372036854775808", 2..21),
            ("x=[1, 0x8000000000000000]", 6..24),
            ("x=-9223372036854775809", 2..22),
        ] {
            let refused = parse_argument(1, argument, 2..argument.len()).expect_err("out of range");
            assert!(refused.message.contains("is out of range"), "{}", refused.message);
            assert_eq!(refused.place.span(), place, "{argument}");
        }
        assert!(parse_values(1, "x=1,9223372036854775808", 2..23).is_err());
        let largest = parse_argument(1, "x=9223372036854775807", 2..21).map(|node| node.content);
        assert_eq!(largest, Ok(Content::Integer(i64::MAX)));
    }

    #[test]
    fn labels_are_short() {
        let (node, _) = parse_document("a = { drill = { choices = 2 } }\nb = 0.8\nc = \"ecmp\"");
        let label = |key: &str| node.get(key).map(Toml::label);
        assert_eq!(label("a").as_deref(), Some("drill choices=2"));
        assert_eq!(label("b").as_deref(), Some("0.8"));
        assert_eq!(label("c").as_deref(), Some("ecmp"));
    }
}
