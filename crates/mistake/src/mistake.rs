//! Problems in a scenario file: one [`Mistake`] per position, all of a file together as [`Mistakes`].
//!
//! Holds facts only; [`diagnose`](crate::diagnose) draws them.

use crate::source::{LineColumn, SourceSpan, Sources};
use std::sync::Arc;
use weft_core::units::nearest;

/// One mistake of the user, with everything needed to fix it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// The characters to underline.
    pub place: SourceSpan,
    /// The setting concerned, as a dotted path; empty for the file as a whole.
    pub path: String,
    /// What was found, and why it is wrong.
    pub message: String,
    /// What is allowed there.
    pub allowed: Option<String>,
    /// The name that was probably meant.
    pub nearest: Option<String>,
}

impl Mistake {
    /// A mistake at `place` about the setting `path`.
    pub fn new(place: SourceSpan, path: &str, message: impl Into<String>) -> Mistake {
        Mistake { place, path: path.to_owned(), message: message.into(), allowed: None, nearest: None }
    }

    /// Adds what is allowed.
    pub fn allowing(mut self, allowed: impl Into<String>) -> Mistake {
        self.allowed = Some(allowed.into());
        self
    }

    /// Adds the allowed words, and the one that `found` probably means.
    pub fn among<'a>(self, found: &str, names: impl IntoIterator<Item = &'a str>) -> Mistake {
        let names: Vec<&str> = names.into_iter().collect();
        let nearest = nearest(found, names.iter().copied()).map(str::to_owned);
        Mistake { nearest, ..self.allowing(names.join(", ")) }
    }
}

/// All mistakes of a scenario, in the order of their positions, with the texts they point into. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistakes {
    sources: Arc<Sources>,
    list: Vec<Mistake>,
}

impl Mistakes {
    /// Sorts by position and drops duplicates. `list` must not be empty.
    pub fn new(sources: Arc<Sources>, mut list: Vec<Mistake>) -> Mistakes {
        assert!(!list.is_empty(), "mistakes without a mistake");
        list.sort_by_key(|mistake| (Sources::number(mistake.place), mistake.place.span().start));
        let mut seen = std::collections::BTreeSet::new();
        list.retain(|mistake| {
            let (source, span) = (Sources::number(mistake.place), mistake.place.span());
            seen.insert((source, span.start, span.end, mistake.message.clone()))
        });
        Mistakes { sources, list }
    }

    /// The mistakes, top to bottom.
    #[must_use]
    pub fn list(&self) -> &[Mistake] {
        &self.list
    }

    /// Where a mistake starts.
    #[must_use]
    pub fn line_column(&self, mistake: &Mistake) -> LineColumn {
        self.sources.line_column(mistake.place)
    }

    /// The texts that the positions point into.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }
}
