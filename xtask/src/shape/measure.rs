//! Measures one source text: lines without tests, the length of each function from `fn` to its closing brace, and the
//! types it declares.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The measurements of one file.
#[derive(Debug, Default)]
pub(crate) struct FileShape {
    /// Lines that are not inside an item for tests.
    pub(crate) lines: usize,
    /// Whether it begins with an inner doc comment.
    pub(crate) has_purpose: bool,
    /// Functions outside tests.
    pub(crate) functions: Vec<Function>,
    /// Types and traits declared outside tests, also inside calls of macros.
    pub(crate) types: Vec<TypeName>,
    /// Modules declared here, in files of their own, that only tests include.
    pub(crate) test_modules: Vec<String>,
    /// Lines inside items for tests.
    test_lines: usize,
}

/// The name of a type or a trait where it is declared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypeName {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// Whether it is `pub` or `pub(crate)`.
    pub(crate) visible: bool,
}

/// A function and its length.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// The line of `fn`.
    pub(crate) line: usize,
    /// Lines from `fn` to the closing brace, both included; comments and blank lines count.
    pub(crate) lines: usize,
}

/// Measures a source text.
pub(crate) fn file(text: &str) -> Result<FileShape, syn::Error> {
    let mut measured = FileShape { has_purpose: text.starts_with("//!"), ..FileShape::default() };
    measured.visit_file(&syn::parse_file(text)?);
    measured.lines = text.lines().count() - measured.test_lines;
    Ok(measured)
}

/// `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`
pub(crate) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let names_test =
            |list: &syn::MetaList| list.tokens.clone().into_iter().any(|token| mentions_test(&token));
        match &attribute.meta {
            syn::Meta::Path(path) => path.is_ident("test"),
            syn::Meta::List(list) => list.path.is_ident("cfg") && names_test(list),
            syn::Meta::NameValue(_) => false,
        }
    })
}

fn mentions_test(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(word) => word == "test" || word == "doctest",
        TokenTree::Group(group) => group.stream().into_iter().any(|inner| mentions_test(&inner)),
        _ => false,
    }
}

/// Lines that something occupies.
fn height(thing: &impl Spanned) -> usize {
    let span = thing.span();
    span.end().line - span.start().line + 1
}

impl FileShape {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let line = signature.fn_token.span.start().line;
        let lines = block.span().end().line - line + 1;
        self.functions.push(Function { name: signature.ident.to_string(), line, lines });
    }

    fn declare(&mut self, name: &syn::Ident, visible: bool) {
        let line = name.span().start().line;
        self.types.push(TypeName { name: name.to_string(), line, visible });
    }

    /// `pub struct Name` and the like in the tokens of a macro, at any depth.
    fn declare_in(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match (token, tokens.get(at + 1)) {
                (TokenTree::Group(group), _) => self.declare_in(group.stream()),
                (TokenTree::Ident(word), Some(TokenTree::Ident(name))) if declares_type(word) => {
                    self.declare(name, says_pub_before(&tokens[..at]));
                }
                _ => {}
            }
        }
    }
}

fn declares_type(word: &syn::Ident) -> bool {
    ["struct", "enum", "trait", "type", "union"].iter().any(|keyword| word == keyword)
}

/// Whether the tokens before `struct` end in `pub` or `pub(crate)`.
fn says_pub_before(tokens: &[TokenTree]) -> bool {
    let is = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(found) if found == word);
    match tokens {
        [.., token] if is(token, "pub") => true,
        [.., token, TokenTree::Group(group)] if is(token, "pub") => {
            group.stream().into_iter().all(|inner| is(&inner, "crate"))
        }
        _ => false,
    }
}

/// Whether it is visible in the whole crate, provided that the enclosing modules are.
fn says_pub(visibility: &syn::Visibility) -> bool {
    match visibility {
        syn::Visibility::Public(_) => true,
        syn::Visibility::Restricted(to) => to.path.is_ident("crate"),
        syn::Visibility::Inherited => false,
    }
}

impl<'ast> Visit<'ast> for FileShape {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            return visit::visit_item_mod(self, module);
        }
        self.test_lines += height(module);
        if module.content.is_none() {
            self.test_modules.push(module.ident.to_string());
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if is_for_tests(&function.attrs) {
            self.test_lines += height(function);
            return;
        }
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        if is_for_tests(&block.attrs) {
            self.test_lines += height(block);
            return;
        }
        visit::visit_item_impl(self, block);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            self.add(&function.sig, &function.block);
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.declare(&item.ident, says_pub(&item.vis));
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.declare(&item.ident, says_pub(&item.vis));
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.declare(&item.ident, says_pub(&item.vis));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.declare(&item.ident, says_pub(&item.vis));
        visit::visit_item_trait(self, item);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        self.declare_in(item.mac.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! Purpose.
/// Doc comments do not count.
fn three() {
    call();
}
trait Greets {
    fn one(&self) {}
    fn none(&self);
}
#[cfg(test)]
mod tests {
    fn not_counted() {}
}
#[cfg(test)]
mod traces;
";

    #[test]
    fn functions_count_from_fn_to_brace_and_tests_do_not_count() {
        let measured = file(SOURCE).expect("it parses");
        let lengths: Vec<(&str, usize, usize)> =
            measured.functions.iter().map(|f| (f.name.as_str(), f.line, f.lines)).collect();
        assert_eq!(lengths, [("three", 3, 3), ("one", 7, 1)]);
        assert_eq!(measured.lines, 9);
        assert_eq!(measured.test_modules, ["traces"]);
        assert!(measured.has_purpose && measured.types[0].name == "Greets");
    }

    #[test]
    fn types_are_found_in_calls_of_macros_and_know_whether_others_see_them() {
        let text = "struct A;\npub(crate) type B = A;\nsettings! {\n    /// C.\n    pub(crate) struct C { a: A }\n}\n\
                    macro_rules! d { () => { pub enum D {} pub struct $name; pub(super) enum E {} } }\n";
        let measured = file(text).expect("it parses");
        let found: Vec<(&str, usize, bool)> =
            measured.types.iter().map(|found| (found.name.as_str(), found.line, found.visible)).collect();
        let wanted = [("A", 1, false), ("B", 2, true), ("C", 5, true), ("D", 7, true), ("E", 7, false)];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_not_rust_is_an_error() {
        assert!(file("fn (").is_err());
    }
}
