//! Parses an expression. Must not depend on metrics or cases.

use crate::selector::{self, Selector};
use crate::{Expression, Extreme, Term};

/// The longest text that is read, in bytes. The limit bounds the depth of the resulting tree, which is walked
/// recursively.
const LONGEST: usize = 2000;
/// The deepest nesting of parentheses.
const DEEPEST: usize = 32;

type Parsed<T> = Result<T, String>;

pub(crate) fn read(text: &str) -> Parsed<Expression> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let mut reader = Reader { rest: text, depth: 0 };
    let expression = reader.sum()?;
    match reader.peek() {
        None => Ok(expression),
        Some(c) => Err(format!("found `{c}`, expected the end")),
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes the next character if it is one of `wanted`.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let c = self.peek().filter(|c| wanted.contains(c))?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn must(&mut self, wanted: char) -> Parsed<()> {
        self.take(&[wanted]).map(|_| ()).ok_or_else(|| format!("`{wanted}` is missing"))
    }

    fn sum(&mut self) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("parentheses nest more than {DEEPEST} deep"));
        }
        let sum = self.chain(&['+', '-'], Reader::product);
        self.depth -= 1;
        sum
    }

    fn product(&mut self) -> Parsed<Expression> {
        self.chain(&['*', '/'], Reader::factor)
    }

    fn chain(&mut self, signs: &[char], part: fn(&mut Self) -> Parsed<Expression>) -> Parsed<Expression> {
        let mut left = part(self)?;
        while let Some(sign) = self.take(signs) {
            left = Expression::Binary(sign, Box::new(left), Box::new(part(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parsed<Expression> {
        if self.take(&['(']).is_some() {
            let inside = self.sum()?;
            self.must(')')?;
            return Ok(inside);
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() => {
                let number = self.word(|c| c.is_ascii_digit() || c == '.');
                number.parse().map(Expression::Number).map_err(|_| format!("`{number}` is not a number"))
            }
            Some(c) if c.is_alphabetic() => self.named(),
            Some(c) => Err(format!("found `{c}`, expected a metric or a number")),
            None => Err("a metric or a number is missing at the end".to_owned()),
        }
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn named(&mut self) -> Parsed<Expression> {
        match self.name() {
            "min" => Ok(Expression::Extreme(Extreme::Least, self.parts()?)),
            "max" => Ok(Expression::Extreme(Extreme::Greatest, self.parts()?)),
            "reach" => {
                self.must('(')?;
                self.peek();
                let name = self.name();
                let term = self.term(name)?;
                self.must(',')?;
                let level = self.sum()?;
                let between = match self.take(&[',']) {
                    Some(_) => Some(self.bounds()?),
                    None => None,
                };
                self.must(')')?;
                Ok(Expression::Reach(term, Box::new(level), between))
            }
            name => self.term(name).map(Expression::Term),
        }
    }

    /// Letters, digits, `.`, `_` and `-`; the last only inside, before a letter, for names of experiments.
    fn name(&mut self) -> &'a str {
        let inside = |c: char| c.is_alphanumeric() || ['.', '_'].contains(&c);
        let mut end = 0;
        let bytes: Vec<(usize, char)> = self.rest.char_indices().collect();
        for (at, (index, c)) in bytes.iter().enumerate() {
            let joined = *c == '-' && bytes.get(at + 1).is_some_and(|(_, next)| next.is_alphanumeric());
            if !inside(*c) && !joined {
                break;
            }
            end = index + c.len_utf8();
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn parts(&mut self) -> Parsed<Vec<Expression>> {
        self.must('(')?;
        let mut parts = vec![self.sum()?];
        while self.take(&[',']).is_some() {
            parts.push(self.sum()?);
        }
        self.must(')')?;
        Ok(parts)
    }

    /// The bounds of a search: `0.2, 0.5`.
    fn bounds(&mut self) -> Parsed<(f64, f64)> {
        let Expression::Number(from) = self.factor()? else {
            return Err("a search starts with two numbers".into());
        };
        self.must(',')?;
        let Expression::Number(to) = self.factor()? else {
            return Err("a search starts with two numbers".into());
        };
        if from < to { Ok((from, to)) } else { Err(format!("there is no number between {from} and {to}")) }
    }

    fn term(&mut self, name: &'a str) -> Parsed<Term> {
        let (experiment, metric) = match self.take(&[':']) {
            Some(_) => (Some(name.to_owned()), self.name().to_owned()),
            None => (None, name.to_owned()),
        };
        if !metric.starts_with(char::is_alphabetic) {
            return Err("a metric is missing".to_owned());
        }
        let selectors = if self.take(&['(']).is_some() { self.selectors()? } else { Vec::new() };
        Ok(Term { experiment, metric, selectors })
    }

    fn selectors(&mut self) -> Parsed<Vec<Selector>> {
        let (inside, rest) = self.rest.split_once(')').ok_or("`)` is missing after the selectors")?;
        self.rest = rest;
        selector::list(inside)
    }
}
