//! The congestion laws of TCP that the list of transports names. Must not depend on other parts of a transport.

macro_rules! laws {
    ($($stack:ident is $type:ty $(, in $body:ty)?, by $by:ident { $($line:tt)* })+) => {
        $(laws_of! { $by $($line)* })+
    };
}

/// The lines of TCP; those of other stacks have no congestion law.
macro_rules! laws_of {
    (over_tcp $($name:literal => $module:ident :: $member:ident($settings:ident) law $law:ident),+ $(,)?) => {
        use crate::congestion::{AckEvent, CongestionEvent, CongestionLaw, LawSite, MarkUse, Window, $($module),+};

        weft_core::family! {
            /// All congestion laws.
            pub enum AnyLaw: CongestionLaw;
            /// The congestion law of a transport, with its own parameters.
            pub enum LawSettings;
            called "law" built at LawSite;
            members { $($name => $module::$member($law),)+ }
            methods {
                fn grow(&mut self, window: &mut Window, ack: &AckEvent);
                fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64;
                fn observe(&mut self, window: &mut Window, ack: &AckEvent);
                fn advance(&mut self, window: &mut Window, ack: &AckEvent, grows: bool);
                fn mark_use(&self) -> MarkUse;
            }
        }
    };
    ($other:ident $($line:tt)*) => {};
}

list!(laws);

impl AnyLaw {
    /// [`CongestionLaw::advance`]. The usual law of data centres is inlined, and of `ack` only what it reads is computed.
    #[inline(always)]
    pub(crate) fn advance_with(&mut self, window: &mut Window, ack: impl Fn() -> AckEvent, grows: bool) {
        match self {
            AnyLaw::Dctcp(law) => law.advance_with(window, ack, grows),
            other => other.advance(window, &ack(), grows),
        }
    }
}

#[cfg(test)]
mod traces;
