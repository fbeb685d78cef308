//! A JSON reader that records the position of every value, which ordinary JSON readers do not.
//!
//! RFC 8259, strictly; tables keep the order of their keys and every repetition of a key, because a repetition is a
//! finding. Depth is limited, so that a hostile file cannot exhaust the stack. Must not depend on switches.

/// How deep lists and tables may be nested.
const DEEPEST: usize = 64;

/// A value and the bytes it covers.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonNode {
    /// Offset of its first byte.
    pub at: usize,
    /// Offset of the byte after it.
    pub end: usize,
    /// What it is.
    pub content: JsonContent,
}

/// The kinds of values. Numbers stay text: the consumer knows which type it needs.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonContent {
    /// `null`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number as it is written.
    Number(String),
    /// A text without its escapes.
    Text(String),
    /// `[...]`.
    List(Vec<JsonNode>),
    /// `{...}`.
    Table(Vec<JsonEntry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonEntry {
    /// The key.
    pub key: String,
    /// Offset of the key.
    pub at: usize,
    /// The value.
    pub node: JsonNode,
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Offset of the error.
    pub at: usize,
    /// What was found.
    pub found: String,
    /// What is allowed there.
    pub allowed: &'static str,
}

impl JsonNode {
    /// The entries of a table; empty for anything else.
    #[must_use]
    pub fn entries(&self) -> &[JsonEntry] {
        match &self.content {
            JsonContent::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a key; for a repeated key the last, as in other readers.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&JsonNode> {
        self.entries().iter().rev().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// A text or a number, as text.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match &self.content {
            JsonContent::Text(text) | JsonContent::Number(text) => Some(text),
            _ => None,
        }
    }
}

/// Parses a whole text. Offsets of nodes start at `base`, so that several files can share one numbering; the offset in
/// an error starts at 0.
///
/// # Errors
/// [`JsonError`] with the first offset that is not JSON.
pub fn parse(text: &str, base: usize) -> Result<JsonNode, JsonError> {
    let mut reader = Reader { text, at: 0, base };
    let node = reader.value(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.broken("the end of the file")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    base: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn broken(&self, allowed: &'static str) -> JsonError {
        let found = match self.text[self.at..].chars().next() {
            None => "the end of the file".to_owned(),
            Some(letter) => format!("`{}`", letter.escape_debug()),
        };
        JsonError { at: self.at, found, allowed }
    }

    fn take(&mut self, wanted: u8, allowed: &'static str) -> Result<(), JsonError> {
        self.space();
        if self.peek() != Some(wanted) {
            return Err(self.broken(allowed));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<JsonNode, JsonError> {
        self.space();
        let at = self.at;
        if depth > DEEPEST {
            return Err(JsonError { at, found: "deeper nesting".to_owned(), allowed: "64 levels" });
        }
        let content = match self.peek() {
            Some(b'{') => JsonContent::Table(self.table(depth)?),
            Some(b'[') => JsonContent::List(self.list(depth)?),
            Some(b'"') => JsonContent::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => JsonContent::Number(self.number()?),
            _ => self.word()?,
        };
        Ok(JsonNode { at: self.base + at, end: self.base + self.at, content })
    }

    fn word(&mut self) -> Result<JsonContent, JsonError> {
        let words = [
            ("true", JsonContent::Flag(true)),
            ("false", JsonContent::Flag(false)),
            ("null", JsonContent::Null),
        ];
        for (word, content) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(content);
            }
        }
        Err(self.broken("a value: table, list, text, number, true, false or null"))
    }

    fn table(&mut self, depth: usize) -> Result<Vec<JsonEntry>, JsonError> {
        self.at += 1;
        let mut entries = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(entries);
        }
        loop {
            self.space();
            let at = self.base + self.at;
            if self.peek() != Some(b'"') {
                return Err(self.broken("a key in quotes"));
            }
            let key = self.string()?;
            self.take(b':', "a colon after the key")?;
            entries.push(JsonEntry { key, at, node: self.value(depth + 1)? });
            if !self.goes_on(b'}', "a comma or the end of the table, `}`")? {
                return Ok(entries);
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<JsonNode>, JsonError> {
        self.at += 1;
        let mut nodes = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(nodes);
        }
        loop {
            nodes.push(self.value(depth + 1)?);
            if !self.goes_on(b']', "a comma or the end of the list, `]`")? {
                return Ok(nodes);
            }
        }
    }

    /// Called after an element: `true` at a comma, `false` at the end.
    fn goes_on(&mut self, end: u8, allowed: &'static str) -> Result<bool, JsonError> {
        self.space();
        match self.peek() {
            Some(b',') => self.at += 1,
            Some(byte) if byte == end => {
                self.at += 1;
                return Ok(false);
            }
            _ => return Err(self.broken(allowed)),
        }
        Ok(true)
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(letter) = rest.chars().next() else { return Err(self.broken("a closing quote")) };
            match letter {
                '"' => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => text.push(self.escape()?),
                '\0'..='\u{1f}' => return Err(self.broken("no control characters inside a text")),
                other => {
                    text.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                return Err(
                    self.broken("an escape: \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four digits")
                );
            }
        };
        self.at += 1;
        Ok(plain)
    }

    /// Reads a `\u` escape, or two for a character beyond 16 bits; a lone surrogate becomes the replacement character.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            let second = self.hex()?;
            let joined = 0x10000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff);
            return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let digits =
            self.text.get(self.at + 1..self.at + 5).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(digits) = digits else { return Err(self.broken("\\u and four hexadecimal digits")) };
        self.at += 5;
        Ok(u32::from_str_radix(digits, 16).unwrap_or_default())
    }

    fn number(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        self.digits()?;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(self.text[start..self.at].to_owned())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.broken("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_where_they_begin() {
        let node =
            parse("{\n \"PORT\": {\"Ethernet0\": {\"speed\": \"100000\"}},\n \"n\": [1, -2.5e3, null]}", 0)
                .unwrap();
        let speed = node.get("PORT").unwrap().get("Ethernet0").unwrap().get("speed").unwrap();
        assert_eq!((speed.at, speed.word()), (35, Some("100000")));
        let JsonContent::List(numbers) = &node.get("n").unwrap().content else { panic!("a list") };
        assert_eq!((numbers[1].word(), &numbers[2].content), (Some("-2.5e3"), &JsonContent::Null));
    }

    #[test]
    fn a_repeated_key_stays_visible_and_the_last_one_counts() {
        let node = parse("{\"a\": 1, \"a\": 2}", 0).unwrap();
        assert_eq!((node.entries().len(), node.get("a").unwrap().word()), (2, Some("2")));
    }

    #[test]
    fn escapes_become_characters() {
        let node = parse(r#""\u00b5\ud83d\ude00\n\ud800""#, 0).unwrap();
        assert_eq!(node.word(), Some("µ😀\n\u{fffd}"));
    }

    #[test]
    fn what_is_broken_is_named_with_its_place() {
        for (text, at, allowed) in [
            ("{\"a\": }", 6, "a value"),
            ("{\"a\" 1}", 5, "a colon"),
            ("{\"a\": 1,}", 8, "a key"),
            ("[1 2]", 3, "a comma"),
            ("\"abc", 4, "a closing quote"),
            ("\"a\u{0}\"", 2, "no control"),
            ("\"\\q\"", 2, "an escape"),
            ("\"\\u12\"", 2, "\\u and four"),
            ("-", 1, "a digit"),
            ("{} {}", 3, "the end"),
            ("", 0, "a value"),
        ] {
            let broken = parse(text, 0).unwrap_err();
            assert!(broken.at == at && broken.allowed.starts_with(allowed), "{text}: {broken:?}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_before_the_stack_ends() {
        assert_eq!(parse(&"[".repeat(1_000_000), 0).unwrap_err().at, DEEPEST + 1);
        assert!(parse(&format!("{}1{}", "[".repeat(DEEPEST), "]".repeat(DEEPEST)), 0).is_ok());
    }
}
