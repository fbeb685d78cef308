//! The paths that a file names, from its tokens, also inside macros; those of tests are left out. Must not depend on which
//! modules exist.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path such as `crate::a::B`, and the name under which a `use` makes it known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The path, from `crate`, `self` or `super`.
    pub(super) path: Vec<String>,
    /// The name that a `use` gives: the last part, or the name after `as`.
    pub(super) alias: Option<String>,
    pub(super) line: usize,
}

/// All of a file.
pub(super) fn of(text: &str) -> Result<Vec<Named>, String> {
    let tokens: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
    let mut found = Vec::new();
    read(&tokens.into_iter().collect::<Vec<_>>(), &mut found);
    Ok(found)
}

fn read(tokens: &[TokenTree], found: &mut Vec<Named>) {
    let mut at = 0;
    while at < tokens.len() {
        at = match &tokens[at] {
            TokenTree::Punct(mark) if mark.as_char() == '#' && is_test(tokens.get(at + 1)) => {
                skip(tokens, at + 2)
            }
            TokenTree::Group(group) => {
                read(&group.stream().into_iter().collect::<Vec<_>>(), found);
                at + 1
            }
            TokenTree::Ident(word) if word == "use" => tree(tokens, at + 1, &Vec::new(), (true, found)),
            TokenTree::Ident(word) if is_root(&word.to_string()) && is_path(tokens, at + 1) => {
                tree(tokens, at, &Vec::new(), (false, found))
            }
            _ => at + 1,
        };
    }
}

fn is_root(word: &str) -> bool {
    matches!(word, "crate" | "self" | "super")
}

/// Whether `::` is at this position.
fn is_path(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    colon(at) && colon(at + 1)
}

fn is_test(attribute: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = attribute else { return false };
    group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The position after the item at this position.
fn skip(tokens: &[TokenTree], at: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    tokens[at.min(tokens.len())..].iter().position(ends).map_or(tokens.len(), |length| at + length + 1)
}

/// Reads a path, or in a `use` a tree of paths, that continues `before`. Returns the position after it.
fn tree(
    tokens: &[TokenTree],
    mut at: usize,
    before: &[String],
    (uses, found): (bool, &mut Vec<Named>),
) -> usize {
    let mut path = before.to_vec();
    loop {
        let line = tokens.get(at).map_or(0, |token| token.span().start().line);
        match tokens.get(at) {
            Some(TokenTree::Group(group)) if uses && group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                branches(&inner, &path, found);
                return at + 1;
            }
            Some(TokenTree::Ident(word)) => path.push(word.to_string()),
            Some(TokenTree::Punct(mark)) if mark.as_char() == '*' && uses => {
                found.push(Named { path, alias: None, line });
                return at + 1;
            }
            _ => {
                found.push(Named { path, alias: None, line });
                return at + 1;
            }
        }
        at += 1;
        if !is_path(tokens, at) {
            let alias = uses.then(|| alias(tokens, at).or(path.last().cloned())).flatten();
            found.push(Named { path, alias, line });
            return at;
        }
        at += 2;
    }
}

/// The trees between the braces of a `use`.
fn branches(tokens: &[TokenTree], path: &[String], found: &mut Vec<Named>) {
    let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
    for branch in tokens.split(comma).filter(|branch| !branch.is_empty()) {
        let itself = matches!(&branch[0], TokenTree::Ident(word) if word == "self");
        match itself && !path.is_empty() {
            true => found.push(Named {
                path: path.to_vec(),
                alias: alias(branch, 1).or(path.last().cloned()),
                line: branch[0].span().start().line,
            }),
            false => _ = tree(branch, 0, path, (true, found)),
        }
    }
}

/// The name after `as` at this position.
fn alias(tokens: &[TokenTree], at: usize) -> Option<String> {
    match (tokens.get(at), tokens.get(at + 1)) {
        (Some(TokenTree::Ident(word)), Some(TokenTree::Ident(name))) if word == "as" => {
            Some(name.to_string())
        }
        _ => None,
    }
}
