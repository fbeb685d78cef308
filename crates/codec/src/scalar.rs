//! Single values: texts with units, numbers in ranges, words.
//!
//! Must not depend on tables; units are read by the core.

use std::str::FromStr;
use weft_core::settings::{Kind, Value};
use weft_core::units::TextError;
use weft_core::{Bytes, Rate, Span};
use weft_mistake::Mistake;
use weft_mistake::node::{Content, Toml};

/// Reads a value of a kind without inner structure.
pub(crate) fn read(kind: &Kind, node: &Toml, path: &str) -> Result<Value, Mistake> {
    let value = match kind {
        Kind::Span => quantity(node).map(|span: Span| Value::Span(span)),
        Kind::Size => quantity(node).map(|size: Bytes| Value::Size(size)),
        Kind::Rate => quantity(node).map(|rate: Rate| Value::Rate(rate)),
        Kind::Amount => amount(node),
        Kind::Integer { min, max } => integer(node, *min, *max),
        Kind::Number { min, max } => number(node).and_then(|x| inside(x, *min, *max)),
        Kind::Share { min, max } => share(node).and_then(|x| inside(x, *min, *max)),
        Kind::Flag => match node.content {
            Content::Flag(flag) => Ok(Value::Flag(flag)),
            _ => Err(String::new()),
        },
        Kind::Text => node.text().map(|text| Value::Text(text.to_owned())).ok_or_else(String::new),
        Kind::Choice(words) => return choice(words, node, path),
        _ => unreachable!("kinds with structure are read by the walk"),
    };
    value.map_err(|why| {
        let message = format!("found {}, expected {}", node.described(), noun(kind));
        let message = if why.is_empty() { message } else { format!("{message}: {why}") };
        Mistake::new(node.place, path, message).allowing(describe(kind))
    })
}

fn choice(words: &[(&'static str, &'static str)], node: &Toml, path: &str) -> Result<Value, Mistake> {
    let found = node.text().unwrap_or("");
    match words.iter().find(|(word, _)| *word == found) {
        Some((word, _)) => Ok(Value::Text((*word).to_owned())),
        None => {
            let message = format!("{} is not allowed here", node.described());
            Err(Mistake::new(node.place, path, message).among(found, words.iter().map(|(word, _)| *word)))
        }
    }
}

/// The digits of a bare number, for the core's hint about units.
fn digits(node: &Toml) -> Option<String> {
    match node.content {
        Content::Integer(number) => Some(number.to_string()),
        Content::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

fn quantity<Q: FromStr<Err = TextError>>(node: &Toml) -> Result<Q, String> {
    let text = node.text().map(str::to_owned).or_else(|| digits(node)).ok_or_else(String::new)?;
    text.parse().map_err(|error: TextError| error.to_string())
}

fn amount(node: &Toml) -> Result<Value, String> {
    let Some(count) = node.text().and_then(|text| text.trim().strip_suffix("pkt")) else {
        return quantity(node).map(Value::Size);
    };
    let count = count.trim().replace('_', "");
    match count.parse::<u64>() {
        Ok(packets) => Ok(Value::Packets(packets)),
        Err(_) => Err(format!("`{count}` is not a whole number of packets")),
    }
}

fn integer(node: &Toml, min: u64, max: u64) -> Result<Value, String> {
    let Content::Integer(number) = node.content else {
        return Err(String::new());
    };
    match u64::try_from(number) {
        Ok(number) if (min..=max).contains(&number) => Ok(Value::Integer(number)),
        _ => Err(format!("{number} is out of range")),
    }
}

fn number(node: &Toml) -> Result<f64, String> {
    match node.content {
        Content::Float(number) => Ok(number),
        Content::Integer(number) => Ok(number as f64),
        _ => Err(String::new()),
    }
}

fn share(node: &Toml) -> Result<f64, String> {
    let Some(text) = node.text() else { return number(node) };
    let percent = text.trim().strip_suffix('%').ok_or("write 0.8 or \"80 %\"")?.trim().replace('_', "");
    percent.parse::<f64>().map(|x| x / 100.0).map_err(|_| format!("`{percent}` is not a number"))
}

fn inside(x: f64, min: f64, max: f64) -> Result<Value, String> {
    if (min..=max).contains(&x) { Ok(Value::Number(x)) } else { Err(format!("{x} is out of range")) }
}

/// The noun for a value of this kind.
fn noun(kind: &Kind) -> &'static str {
    match kind {
        Kind::Span => "a time",
        Kind::Size => "a size",
        Kind::Amount => "a size or a number of packets",
        Kind::Rate => "a rate",
        Kind::Integer { .. } => "a whole number",
        Kind::Number { .. } => "a number",
        Kind::Share { .. } => "a share",
        Kind::Flag => "true or false",
        Kind::Text => "a text",
        Kind::Choice(_) => "a word",
        Kind::List(_) => "a list",
        Kind::Table(_) | Kind::Flatten(_) => "a table",
        Kind::Family(_) => "a name or a table",
        Kind::Optional(inner) | Kind::Override(inner) => noun(inner),
        Kind::Named(_) => "a table of tables",
    }
}

/// The allowed values of a setting of this kind, in one line.
pub fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Span => "a time such as \"2 us\" (ps, ns, us, ms, s)".to_owned(),
        Kind::Size => "a size such as \"300 kB\" (B, kB, KiB, MB, MiB, GB, GiB, TB)".to_owned(),
        Kind::Amount => "a size such as \"300 kB\", or packets such as \"65 pkt\"".to_owned(),
        Kind::Rate => "a rate such as \"40 Gbps\" (bps, kbps, Mbps, Gbps, Tbps)".to_owned(),
        Kind::Integer { min, max } if *min as f64 == *max as f64 => format!("the number {min}"),
        Kind::Integer { min, max } => format!("a whole number{}", range(*min as f64, *max as f64)),
        Kind::Number { min, max } => format!("a number{}", range(*min, *max)),
        Kind::Share { min, max } => format!("a share such as 0.8 or \"80 %\"{}", range(*min, *max)),
        Kind::Flag => "true or false".to_owned(),
        Kind::Text => "a text in quotes".to_owned(),
        Kind::Choice(words) => words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", "),
        Kind::List(item) => format!("a list of: {}", describe(item)),
        Kind::Table(table) | Kind::Flatten(table) => {
            // A family among the keys of an entry is chosen by `kind`.
            let word = |key: &'static str| if key == crate::FLATTENED_FAMILY { "kind" } else { key };
            let keys: Vec<_> = crate::declared::keys(table).into_iter().map(word).collect();
            format!("a table with {}", keys.join(", "))
        }
        Kind::Family(family) => {
            let names: Vec<_> = crate::declared::names(family).collect();
            format!("{}: {}", with_article(family.name), names.join(", "))
        }
        Kind::Optional(inner) => format!("{}; or false for none", describe(inner)),
        Kind::Override(inner) => describe(inner),
        Kind::Named(inner) => format!("a table of names, each with {}", describe(inner)),
    }
}

/// A noun with its indefinite article.
pub(crate) fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// ` from 1 to 9`; limits of the number's type are omitted.
fn range(min: f64, max: f64) -> String {
    let (low, high) = (min > f64::MIN, max < f64::from(u32::MAX));
    match (low, high) {
        (true, true) => format!(" from {min} to {max}"),
        (true, false) => format!(", at least {min}"),
        (false, true) => format!(", at most {max}"),
        (false, false) => String::new(),
    }
}
