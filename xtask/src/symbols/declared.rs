//! The names that the source declares: items, methods, fields and variants, also those inside macros such as
//! `settings!`, read from tokens. Tests declare nothing.

use crate::sources;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Words in front of a name that they declare.
const KEYWORDS: &[&str] = &["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union"];

/// Where names are declared: by owner (the type, or nothing) and name, the files.
#[derive(Default)]
pub(super) struct Declarations(BTreeMap<(String, String), BTreeSet<String>>);

impl Declarations {
    /// Those of all crates.
    pub(super) fn of(root: &Path) -> Result<Declarations, Vec<String>> {
        let paths = sources::files(&root.join("crates"), "rs");
        let read = |path: &std::path::PathBuf| Ok((sources::shown(path, root), sources::read(path)?));
        let texts: Vec<(String, String)> = paths.iter().map(read).collect::<Result<_, Vec<String>>>()?;
        Declarations::of_texts(texts.iter().map(|(shown, text)| (shown.as_str(), text.as_str())))
    }

    /// Those of source files.
    pub(super) fn of_texts<'a>(
        texts: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Declarations, Vec<String>> {
        let mut all = Declarations::default();
        for (shown, text) in texts {
            let tokens = text.parse().map_err(|error| vec![format!("{shown}: {error}")])?;
            Reader { all: &mut all, file: shown }.read(tokens, "");
        }
        Ok(all)
    }

    /// The files that declare a name, as a part of the owner if one is given.
    pub(super) fn files_with<'a>(
        &'a self,
        owner: Option<&'a str>,
        name: &'a str,
    ) -> impl Iterator<Item = &'a str> {
        let fits = move |key: &(String, String)| key.1 == name && owner.is_none_or(|owner| key.0 == owner);
        self.0
            .iter()
            .filter(move |(key, _)| fits(key))
            .flat_map(|(_, files)| files.iter().map(String::as_str))
    }
}

struct Reader<'a> {
    all: &'a mut Declarations,
    file: &'a str,
}

impl Reader<'_> {
    fn add(&mut self, owner: &str, name: &str) {
        let key = (owner.to_owned(), name.to_owned());
        self.all.0.entry(key).or_default().insert(self.file.to_owned());
    }

    /// Reads what a group, or the file, declares for an owner.
    fn read(&mut self, tokens: TokenStream, owner: &str) {
        let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
        tokens.reverse();
        while let Some(token) = tokens.pop() {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => skip_tests(&mut tokens),
                TokenTree::Group(group) => self.read(group.stream(), owner),
                TokenTree::Ident(word) if word == "impl" => self.read_impl(&mut tokens),
                TokenTree::Ident(word) if KEYWORDS.iter().any(|keyword| word == keyword) => {
                    self.declare(&word.to_string(), owner, &mut tokens);
                }
                _ => {}
            }
        }
    }

    /// The name after a keyword, and the parts of a type or trait.
    fn declare(&mut self, keyword: &str, owner: &str, tokens: &mut Vec<TokenTree>) {
        let Some(TokenTree::Ident(name)) = tokens.last() else { return };
        let name = name.to_string();
        self.add(owner, &name);
        match (keyword, body(tokens)) {
            ("trait", Some(group)) => self.read(group.stream(), &name),
            ("struct" | "enum" | "union", Some(group)) => {
                parts(group.stream()).iter().for_each(|part| self.add(&name, part));
            }
            (_, Some(group)) => tokens.push(TokenTree::Group(group)),
            (_, None) => {}
        }
    }

    /// Methods belong to the type: the first name of a type after `for`, or else after the parameters of `impl`.
    fn read_impl(&mut self, tokens: &mut Vec<TokenTree>) {
        let before = tokens.len();
        let Some(at) = tokens.iter().rposition(is_body) else { return };
        let head: Vec<String> = tokens[at + 1..before].iter().rev().map(ToString::to_string).collect();
        let Some(TokenTree::Group(group)) = tokens.drain(at..).next() else { return };
        self.read(group.stream(), &target(&head));
    }
}

/// The type of the head of an `impl`.
fn target(head: &[String]) -> String {
    let after = head.iter().rposition(|word| word == "for").map_or(head, |at| &head[at + 1..]);
    let mut depth = 0;
    for word in after {
        match word.as_str() {
            "<" => depth += 1,
            ">" => depth -= 1,
            word if depth == 0 && word.starts_with(char::is_uppercase) => return word.to_owned(),
            _ => {}
        }
    }
    String::new()
}

/// Takes the tokens up to the next body; nothing if the item ends before one.
fn body(tokens: &mut Vec<TokenTree>) -> Option<Group> {
    let ends = |token: &TokenTree| {
        matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';') || is_body(token)
    };
    let at = tokens.iter().rposition(ends)?;
    match tokens.drain(at..).next() {
        Some(TokenTree::Group(group)) => Some(group),
        _ => None,
    }
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// The fields or variants in the body of a type: the names at the start of an entry.
fn parts(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let (mut starts, mut depth) = (true, 0);
    for token in tokens {
        match token {
            TokenTree::Punct(mark) => match mark.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                ',' if depth <= 0 => (starts, depth) = (true, 0),
                _ => {}
            },
            TokenTree::Ident(word) if starts && word != "pub" => {
                found.push(word.to_string());
                starts = false;
            }
            _ => {}
        }
    }
    found
}

/// Called after a `#`: removes the attribute and, if it marks a test, the item after it.
fn skip_tests(tokens: &mut Vec<TokenTree>) {
    let Some(TokenTree::Group(attribute)) = tokens.last() else { return };
    let is_for_tests = attribute.stream().to_string().replace(' ', "") == "cfg(test)";
    tokens.pop();
    if is_for_tests {
        body(tokens);
    }
}
