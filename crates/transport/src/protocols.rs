//! The transports that a scenario can choose, generated from the list in `list.rs`, and the types that hold any of their
//! stacks.
//!
//! An independent transport has its own module in `protocols/`; those over TCP and RoCE differ in a law, and their
//! modules are generated here from the law and the settings that all of them share.

use std::sync::Arc;

use weft_core::segment::{Needs, Segment, Toll};
use weft_core::stack::{Classes, End, HostPart, Layout, Receiving, Sending, Side, Sizes, Stack};
use weft_core::{
    Class, FlowId, FlowSite, Header, InBand, PacketKind, Rate, ReceiverReport, SenderReport, Time,
};
use weft_rate::RateLawSettings;
use weft_roce::QueuePairs;
use weft_roce::settings::QueuePairSettings;

use crate::datagrams::Datagrams;
use crate::laws::LawSettings;
use crate::settings::Tcp;
use crate::stacks::{HoldsLayout, HostOf};
use crate::tcp::TcpStack;

pub mod ndp;
pub mod pase;
pub mod pdq;
pub mod pfabric;
pub mod udp;

/// A transport.
pub trait Protocol {
    /// The stack that carries its flows.
    fn stack(&self) -> AnyStack;
}

impl TransportSettings {
    /// The stack that carries its flows.
    #[must_use]
    pub fn stack(&self) -> AnyStack {
        AnyProtocol::new(self, ()).stack()
    }

    /// The settings that all laws over TCP share; `None` for other transports.
    #[must_use]
    pub fn tcp(&self) -> Option<Tcp> {
        match self.stack() {
            AnyStack::Tcp(stack) => Some(stack.tcp.clone()),
            _ => None,
        }
    }

    /// The settings that all queue pairs share; `None` for other transports.
    #[must_use]
    pub fn roce(&self) -> Option<QueuePairSettings> {
        match self.stack() {
            AnyStack::Roce(pairs) => Some(pairs.settings().clone()),
            _ => None,
        }
    }
}

macro_rules! over_tcp {
    ($($name:literal => $module:ident :: $member:ident($settings:ident) law $law:ident),+ $(,)?) => {
    $(
        #[doc = "TCP under one congestion law."]
        pub mod $module {
            pub use crate::congestion::$module::SUMMARY;
            use super::{AnyStack, Arc, LawSettings, Protocol, Tcp, TcpStack};

            weft_core::settings! {
                /// A congestion law and the rest of TCP, in one table.
                pub struct $settings {
                    /// The law's own parameters.
                    law: crate::congestion::$module::$law [flatten],
                    /// What all laws share.
                    tcp: Tcp [flatten],
                }
            }

            #[doc = "TCP under this law."]
            #[derive(Clone, Debug)]
            pub struct $member(Arc<TcpStack>);

            impl $member {
                #[doc = "From the settings."]
                #[must_use]
                pub fn new(settings: &$settings, _site: ()) -> $member {
                    let law = LawSettings::$member(settings.law.clone());
                    $member(Arc::new(TcpStack::new(law, settings.tcp.clone())))
                }
            }

            impl Protocol for $member {
                fn stack(&self) -> AnyStack {
                    AnyStack::Tcp(Arc::clone(&self.0))
                }
            }
        }
    )+};
}

macro_rules! over_roce {
    (
        $($name:literal => $module:ident :: $member:ident($settings:ident)
            law $law:ident :: $variant:ident($own:ident) $($point:ident)?),+ $(,)?
    ) => {$(
        #[doc = "RoCE under one rate law."]
        pub mod $module {
            pub use weft_rate::$law::SUMMARY;
            use super::{AnyStack, Arc, Protocol, QueuePairSettings, QueuePairs, RateLawSettings};

            weft_core::settings! {
                /// A rate law and the rest of RoCE, in one table.
                pub struct $settings {
                    /// The law's own parameters.
                    law: weft_rate::$law::$own [flatten],
                    $(
                    /// How marks become notifications.
                    $point: weft_rate::notification::NotificationSettings [flatten],
                    )?
                    /// The settings that all queue pairs share.
                    pairs: QueuePairSettings [flatten],
                }
            }

            #[doc = "RoCE under this law."]
            #[derive(Clone, Debug)]
            pub struct $member(Arc<QueuePairs>);

            impl $member {
                #[doc = "From the settings."]
                #[must_use]
                pub fn new(settings: &$settings, _site: ()) -> $member {
                    let law = RateLawSettings::$variant(settings.law.clone());
                    let notification = None $(.or(Some(settings.$point.clone())))?;
                    $member(Arc::new(QueuePairs::new(law, notification, settings.pairs.clone())))
                }
            }

            impl Protocol for $member {
                fn stack(&self) -> AnyStack {
                    AnyStack::Roce(Arc::clone(&self.0))
                }
            }
        }
    )+};
}

/// Transports with their own module need nothing more.
macro_rules! alone {
    ($($anything:tt)*) => {};
}

list!(stacks);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use weft_core::settings::{Kind, Setting, Table, Value};

    fn names(table: &Table, into: &mut Vec<&'static str>) {
        for field in table.fields {
            match field.kind {
                Kind::Flatten(inner) => names(inner, into),
                _ => into.push(field.name),
            }
        }
    }

    #[test]
    fn no_two_settings_of_a_transport_share_a_name() {
        for member in TransportSettings::FAMILY.members {
            let mut all = Vec::new();
            names(member.table, &mut all);
            let distinct: BTreeSet<_> = all.iter().collect();
            assert_eq!(distinct.len(), all.len(), "{}", member.name);
        }
    }

    /// Whether a table contains the settings of another.
    fn holds(table: &Table, part: &Table) -> bool {
        let held = |inner: &Table| inner.name == part.name || holds(inner, part);
        table.fields.iter().any(|field| matches!(field.kind, Kind::Flatten(inner) if held(inner)))
    }

    /// Rules, the linter and the ideal completion time ask `tcp` and `roce`, not for names of transports.
    #[test]
    fn whoever_has_the_settings_of_tcp_or_of_queue_pairs_says_so() {
        for member in TransportSettings::FAMILY.members {
            let value = Value::Member(member.name, Box::new(member.table.defaults()));
            let settings = TransportSettings::from_value(&value);
            assert_eq!(settings.name(), member.name);
            assert_eq!(settings.tcp().is_some(), holds(member.table, &Tcp::TABLE), "{}", member.name);
            assert_eq!(
                settings.roce().is_some(),
                holds(member.table, &QueuePairSettings::TABLE),
                "{}",
                member.name
            );
        }
    }

    #[test]
    fn a_body_is_a_cache_line_whatever_its_layout() {
        assert_eq!(size_of::<Body>(), 64);
    }

    #[test]
    fn stacks_without_host_state_take_no_memory_for_it() {
        assert_eq!((size_of::<HostOf<TcpStack>>(), size_of::<HostOf<Datagrams>>()), (0, 0));
    }

    #[test]
    fn settings_survive_the_way_through_a_file() {
        let mut settings = dctcp::TcpDctcpSettings::default();
        settings.tcp.mtu = weft_core::Bytes(9_000);
        settings.tcp.slow_start_limit = Some(1);
        let settings = TransportSettings::Dctcp(settings);
        assert_eq!(TransportSettings::from_value(&settings.to_value()), settings);
        assert_eq!(settings.tcp().expect("it is one over TCP").mtu.0, 9_000);
    }
}
