//! Measures one source text: lines without tests, and the length of each function from `fn` to its closing brace.

use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// What was measured in one file.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Lines that are not inside an item for tests.
    pub(crate) lines: usize,
    /// It begins with an inner doc comment.
    pub(crate) has_purpose: bool,
    /// Functions outside tests.
    pub(crate) functions: Vec<Function>,
    /// Names of types and traits.
    pub(crate) names: BTreeSet<String>,
    /// Modules declared here, in files of their own, that only tests include.
    pub(crate) test_modules: Vec<String>,
    /// Lines inside items for tests.
    test_lines: usize,
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
pub(crate) fn file(text: &str) -> Result<Measured, syn::Error> {
    let mut measured = Measured { has_purpose: text.starts_with("//!"), ..Measured::default() };
    measured.visit_file(&syn::parse_file(text)?);
    measured.lines = text.lines().count() - measured.test_lines;
    Ok(measured)
}

/// `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
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

fn mentions_test(token: &proc_macro2::TokenTree) -> bool {
    match token {
        proc_macro2::TokenTree::Ident(word) => word == "test" || word == "doctest",
        proc_macro2::TokenTree::Group(group) => group.stream().into_iter().any(|inner| mentions_test(&inner)),
        _ => false,
    }
}

/// Lines that something occupies.
fn height(thing: &impl Spanned) -> usize {
    let span = thing.span();
    span.end().line - span.start().line + 1
}

impl Measured {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let line = signature.fn_token.span.start().line;
        let lines = block.span().end().line - line + 1;
        self.functions.push(Function { name: signature.ident.to_string(), line, lines });
    }
}

impl<'ast> Visit<'ast> for Measured {
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
        self.names.insert(item.ident.to_string());
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.names.insert(item.ident.to_string());
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.names.insert(item.ident.to_string());
        visit::visit_item_trait(self, item);
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
        assert!(measured.has_purpose && measured.names.contains("Greets"));
    }

    #[test]
    fn what_is_not_rust_is_an_error() {
        assert!(file("fn (").is_err());
    }
}
