//! The string literals of a source file, with the function of rules that they are passed to. Texts of tests are left out.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::shape::is_for_tests;

/// Methods of rules whose texts are settings below the chosen member of a family.
const BELOW: &[(&str, &str)] =
    &[("transport", "transport"), ("idle_transport", "transport"), ("balancer", "balance")];

/// A string literal.
pub(super) struct Text {
    pub(super) value: String,
    pub(super) line: usize,
    /// The section of the family in whose member it names a setting.
    pub(super) below: Option<&'static str>,
}

/// All of them, in order.
pub(super) fn of_file(code: &str) -> Result<Vec<Text>, syn::Error> {
    let mut reader = Reader { texts: Vec::new(), below: None };
    reader.visit_file(&syn::parse_file(code)?);
    Ok(reader.texts)
}

struct Reader {
    texts: Vec<Text>,
    below: Option<&'static str>,
}

impl Reader {
    fn add(&mut self, literal: &syn::LitStr) {
        let line = literal.span().start().line;
        self.texts.push(Text { value: literal.value(), line, below: self.below });
    }

    fn add_from(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_from(group.stream()),
                TokenTree::Literal(literal) => {
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.add(&text);
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    /// Attributes hold documentation.
    fn visit_attribute(&mut self, _attribute: &'ast syn::Attribute) {}

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.add(literal);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.add_from(call.tokens.clone());
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        let before = self.below;
        self.below = BELOW.iter().find(|(method, _)| call.method == method).map(|(_, section)| *section);
        // Of several arguments, the first names settings; the others give the reason.
        call.args.iter().take(1).for_each(|argument| self.visit_expr(argument));
        self.below = before;
        call.args.iter().skip(1).for_each(|argument| self.visit_expr(argument));
    }
}
