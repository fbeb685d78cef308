//! The language of measures: `fct.mean(ecmp) / fct.mean(drill)`, `1 - imbalance.hop1(drill) / imbalance.hop1(random)`.
//!
//! Numbers, `+ - * /`, parentheses, `min`, `max` and `reach`, and metrics with selectors, the same as in `[[expect]]`:
//! a word in parentheses picks the case with this value. `E3:fct.mean(ecmp)` takes the metric from another experiment.
//! Knows texts and numbers; which case a selector means is decided by the plan.

/// A metric, and where it is taken from as far as the text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    /// The experiment; `None`: that of the claim.
    pub(crate) experiment: Option<String>,
    pub(crate) metric: String,
    pub(crate) selectors: Vec<Selector>,
}

impl Term {
    /// Is it solved as equations instead of run as packets?
    pub(crate) fn is_fluid(&self) -> bool {
        self.metric.starts_with("fluid.")
    }
}

/// `drill`, or `traffic.trace.load = 0.8`; a path may be cut to its last words: `load = 0.8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) path: Option<String>,
    pub(crate) value: String,
}

/// What is computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Number(f64),
    Term(Term),
    Binary(char, Box<Expression>, Box<Expression>),
    Extreme(Extreme, Vec<Expression>),
    /// The place on the axis that the term leaves open, where its metric reaches the level: between places of the sweep,
    /// or by bisection between two bounds.
    Reach(Term, Box<Expression>, Option<(f64, f64)>),
}

/// How a measure uses a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Its value.
    Value,
    /// Its values along the axis that it leaves open.
    Curve,
    /// Its values where a search looks.
    Searched,
}

/// Which of several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    Least,
    Greatest,
}

/// What gives measured values.
pub(crate) trait Values {
    /// A term's value.
    fn value(&self, term: &Term) -> Option<f64>;
    /// The values along the axis that a term leaves open, by place.
    fn curve(&self, term: &Term) -> Option<Vec<(f64, f64)>>;
}

impl Expression {
    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Expression, String> {
        let mut reader = Reader { rest: text };
        let expression = reader.sum()?;
        match reader.peek() {
            None => Ok(expression),
            Some(c) => Err(format!("`{c}` stands where the end is due")),
        }
    }

    /// Its value; absent when a part of it has none.
    pub(crate) fn value(&self, values: &dyn Values) -> Option<f64> {
        let value = match self {
            Expression::Number(number) => *number,
            Expression::Term(term) => values.value(term)?,
            Expression::Binary(sign, left, right) => {
                applied(*sign, left.value(values)?, right.value(values)?)
            }
            Expression::Extreme(which, parts) => {
                let all = parts.iter().map(|part| part.value(values)).collect::<Option<Vec<f64>>>()?;
                all.into_iter().reduce(match which {
                    Extreme::Least => f64::min,
                    Extreme::Greatest => f64::max,
                })?
            }
            Expression::Reach(term, level, _) => reached(&values.curve(term)?, level.value(values)?)?,
        };
        value.is_finite().then_some(value)
    }

    /// All its terms; with each how it is used.
    pub(crate) fn terms(&self) -> Vec<(&Term, Use)> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Term(term) => vec![(term, Use::Value)],
            Expression::Binary(_, left, right) => [left.terms(), right.terms()].concat(),
            Expression::Extreme(_, parts) => parts.iter().flat_map(Expression::terms).collect(),
            Expression::Reach(term, level, None) => [vec![(term, Use::Curve)], level.terms()].concat(),
            Expression::Reach(term, level, _) => [vec![(term, Use::Searched)], level.terms()].concat(),
        }
    }

    /// Every search in it: metric, level, bounds.
    pub(crate) fn searches(&self) -> Vec<(&Term, &Expression, (f64, f64))> {
        match self {
            Expression::Number(_) | Expression::Term(_) => Vec::new(),
            Expression::Binary(_, left, right) => [left.searches(), right.searches()].concat(),
            Expression::Extreme(_, parts) => parts.iter().flat_map(Expression::searches).collect(),
            Expression::Reach(term, level, between) => {
                let own = between.map(|between| (term, level.as_ref(), between));
                own.into_iter().chain(level.searches()).collect()
            }
        }
    }

    /// Is it a quotient, whose values are compared as ratios?
    pub(crate) fn is_ratio(&self) -> bool {
        matches!(self, Expression::Binary('/', ..))
    }
}

fn applied(sign: char, left: f64, right: f64) -> f64 {
    match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        _ => left / right,
    }
}

/// Where a curve first reaches a level, straight in the logarithm of the value between two measured places. Absent when
/// it begins above the level or never reaches it.
fn reached(curve: &[(f64, f64)], level: f64) -> Option<f64> {
    let [(from, low), (to, high)] = crossing(curve, level)?;
    let share = if high > low { (level / low).ln() / (high / low).ln() } else { 0.0 };
    Some(from + share * (to - from))
}

/// The first two neighbours of a curve between which it reaches a level.
pub(crate) fn crossing(curve: &[(f64, f64)], level: f64) -> Option<[(f64, f64); 2]> {
    let crosses = |pair: &&[(f64, f64)]| pair[0].1 <= level && level <= pair[1].1;
    curve.windows(2).find(crosses).map(|pair| [pair[0], pair[1]])
}

struct Reader<'a> {
    rest: &'a str,
}

type Parsed<T> = Result<T, String>;

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes the next character if it is one of these.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let c = self.peek().filter(|c| wanted.contains(c))?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn must(&mut self, wanted: char) -> Parsed<()> {
        self.take(&[wanted]).map(|_| ()).ok_or_else(|| format!("`{wanted}` is missing"))
    }

    fn sum(&mut self) -> Parsed<Expression> {
        self.chain(&['+', '-'], Reader::product)
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
                number.parse().map(Expression::Number).map_err(|_| format!("`{number}` is no number"))
            }
            Some(c) if c.is_alphabetic() => self.named(),
            Some(c) => Err(format!("`{c}` stands where a metric or a number is due")),
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

    /// `0.2, 0.5`: where a search begins.
    fn bounds(&mut self) -> Parsed<(f64, f64)> {
        let Expression::Number(from) = self.factor()? else {
            return Err("a search begins with two numbers".into());
        };
        self.must(',')?;
        let Expression::Number(to) = self.factor()? else {
            return Err("a search begins with two numbers".into());
        };
        if from < to { Ok((from, to)) } else { Err(format!("no number lies between {from} and {to}")) }
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
        selectors(inside)
    }
}

/// Reads `drill, load = 0.8`.
pub(crate) fn selectors(text: &str) -> Parsed<Vec<Selector>> {
    let selector = |part: &str| {
        let (path, value) = match part.split_once(" = ") {
            Some((path, value)) => (Some(path.trim().to_owned()), value.trim()),
            None => (None, part.trim()),
        };
        if value.is_empty() {
            return Err("nothing stands between the parentheses or commas".to_owned());
        }
        Ok(Selector { path, value: value.to_owned() })
    };
    text.split(',').map(selector).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Table;

    impl Values for Table {
        fn value(&self, term: &Term) -> Option<f64> {
            match term.selectors.first()?.value.as_str() {
                "ecmp" => Some(8.0),
                "drill" => Some(2.0),
                _ => None,
            }
        }

        fn curve(&self, _: &Term) -> Option<Vec<(f64, f64)>> {
            Some(vec![(0.1, 1.0), (0.3, 4.0), (0.5, 16.0)])
        }
    }

    fn value(text: &str) -> Option<f64> {
        Expression::parse(text).unwrap().value(&Table)
    }

    #[test]
    fn arithmetic_has_its_usual_order() {
        assert_eq!(value("1 - fct.mean(drill) / fct.mean(ecmp)"), Some(0.75));
        assert_eq!(value("(1 + 2) * fct.p99_9(ecmp) - 4"), Some(20.0));
        assert_eq!(value("max(fct.mean(drill), fct.mean(ecmp)) / min(fct.mean(drill), 1)"), Some(8.0));
        assert_eq!(value("fct.mean(other) / 2"), None);
        assert_eq!(value("1 / (fct.mean(ecmp) - 8)"), None);
    }

    #[test]
    fn a_level_is_found_between_measured_places() {
        let half_way = value("reach(fct.p99(drill), fct.mean(ecmp))").unwrap();
        assert!((half_way - 0.4).abs() < 1e-12, "{half_way}");
        assert_eq!(value("reach(fct.p99(drill), 17)"), None);
        assert_eq!(value("reach(fct.p99(drill), 0.5)"), None);
    }

    #[test]
    fn terms_name_experiment_metric_and_case() {
        let text = "E1-shim:fct.mean(drill choices=1 memory=2, load = 0.8) / fct.mean(round-robin)";
        let expression = Expression::parse(text).unwrap();
        let terms = expression.terms();
        assert_eq!(terms[0].0.experiment.as_deref(), Some("E1-shim"));
        assert_eq!(terms[0].0.selectors[0].value, "drill choices=1 memory=2");
        assert_eq!(terms[0].0.selectors[1].path.as_deref(), Some("load"));
        assert_eq!(terms[1].0.selectors[0], Selector { path: None, value: "round-robin".into() });
        assert!(expression.is_ratio());
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in [
            "",
            "1 +",
            "fct.mean(",
            "fct.mean()",
            "(1",
            "a b",
            "/ 2",
            "reach(1, 2)",
            "reach(a.b(c), 1, 2)",
            "reach(a.b(c), 1, 2, 1)",
            "E1:",
            "1.2.3",
        ] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }
}
