//! The choice of a call: which complete runs are not computed again. Must not depend on runs.

/// Which complete runs of earlier calls are results of this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// Those of a program built from the same sources.
    #[default]
    SameBuild,
    /// Also those of other builds with the same results epoch.
    SameResults,
}
