//! The transports a scenario can choose: TCP under each congestion law, RoCE under each rate law, and datagrams at a constant
//! rate.
//!
//! A transport over TCP is one line in `over_tcp!` and one in the list; its law's file is in `congestion/`. One over RoCE is
//! the same with `over_roce!`; its law is in the crate `rate`.

use weft_core::family;
use weft_rate::{RateLawSettings, notification};

use crate::congestion::LawSettings;
use crate::settings::Tcp;

pub mod udp;

/// What a transport amounts to.
#[allow(clippy::large_enum_variant, reason = "a run has one")]
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// TCP under a congestion law.
    Tcp {
        /// The law.
        law: LawSettings,
        /// Everything else.
        tcp: Tcp,
    },
    /// Queue pairs under a rate law.
    Roce {
        /// The law.
        law: RateLawSettings,
        /// How marks become notifications, if the law goes by them.
        notification: Option<notification::Settings>,
        /// Everything else.
        pairs: weft_roce::settings::Settings,
    },
    /// Datagrams.
    Udp(udp::Settings),
}

/// A transport.
pub trait Protocol {
    /// What it amounts to.
    fn plan(&self) -> Plan;
}

impl TransportSettings {
    /// What all laws share; `None` for datagrams.
    #[must_use]
    pub fn tcp(&self) -> Option<&Tcp> {
        match self {
            TransportSettings::NewReno(own) => Some(&own.tcp),
            TransportSettings::Cubic(own) => Some(&own.tcp),
            TransportSettings::Dctcp(own) => Some(&own.tcp),
            TransportSettings::Htcp(own) => Some(&own.tcp),
            _ => None,
        }
    }

    /// What all queue pairs share; `None` for other transports.
    #[must_use]
    pub fn roce(&self) -> Option<weft_roce::settings::Settings> {
        match AnyProtocol::new(self, ()).plan() {
            Plan::Roce { pairs, .. } => Some(pairs),
            Plan::Tcp { .. } | Plan::Udp(_) => None,
        }
    }
}

macro_rules! over_tcp {
    ($($module:ident :: $member:ident),+ $(,)?) => {$(
        #[doc = "TCP under one congestion law."]
        pub mod $module {
            pub use crate::congestion::$module::SUMMARY;
            use super::{LawSettings, Plan, Protocol, Tcp};

            weft_core::settings! {
                /// A congestion law and the rest of TCP, in one table.
                pub struct Settings {
                    /// The law's own parameters.
                    law: crate::congestion::$module::Settings [flatten],
                    /// What all laws share.
                    tcp: Tcp [flatten],
                }
            }

            #[doc = "TCP under this law."]
            #[derive(Clone, Debug)]
            pub struct $member(Plan);

            impl $member {
                #[doc = "From the settings."]
                #[must_use]
                pub fn new(settings: &Settings, _site: ()) -> $member {
                    let law = LawSettings::$member(settings.law.clone());
                    $member(Plan::Tcp { law, tcp: settings.tcp.clone() })
                }
            }

            impl Protocol for $member {
                fn plan(&self) -> Plan {
                    self.0.clone()
                }
            }
        }
    )+};
}

macro_rules! over_roce {
    ($($module:ident :: $member:ident by $law:ident :: $variant:ident $(, with $point:ident)?);+ $(;)?) => {$(
        #[doc = "RoCE under one rate law."]
        pub mod $module {
            pub use weft_rate::$law::SUMMARY;
            use super::{Plan, Protocol, RateLawSettings};

            weft_core::settings! {
                /// A rate law and the rest of RoCE, in one table.
                pub struct Settings {
                    /// The law's own parameters.
                    law: weft_rate::$law::Settings [flatten],
                    $(
                    /// How marks become notifications.
                    $point: weft_rate::notification::Settings [flatten],
                    )?
                    /// What all queue pairs share.
                    pairs: weft_roce::settings::Settings [flatten],
                }
            }

            #[doc = "RoCE under this law."]
            #[derive(Clone, Debug)]
            pub struct $member(Plan);

            impl $member {
                #[doc = "From the settings."]
                #[must_use]
                pub fn new(settings: &Settings, _site: ()) -> $member {
                    let law = RateLawSettings::$variant(settings.law.clone());
                    let notification = None $(.or(Some(settings.$point.clone())))?;
                    $member(Plan::Roce { law, notification, pairs: settings.pairs.clone() })
                }
            }

            impl Protocol for $member {
                fn plan(&self) -> Plan {
                    self.0.clone()
                }
            }
        }
    )+};
}

over_roce! {
    roce::Roce by fixed::Fixed;
    dcqcn::Dcqcn by dcqcn::Dcqcn, with notification;
    timely::Timely by timely::Timely;
    patched_timely::PatchedTimely by patched_timely::PatchedTimely;
    timely_pi::TimelyPi by timely_pi::TimelyPi;
}

over_tcp! { newreno::NewReno, cubic::Cubic, dctcp::Dctcp, htcp::Htcp }

family! {
    /// All transports.
    pub enum AnyProtocol: Protocol;
    /// The transport of a scenario.
    pub enum TransportSettings;
    called "transport" built at ();
    members {
        "newreno" => newreno::NewReno,
        "cubic" => cubic::Cubic,
        "dctcp" => dctcp::Dctcp,
        "htcp" => htcp::Htcp,
        "udp" => udp::Udp,
        "roce" => roce::Roce,
        "dcqcn" => dcqcn::Dcqcn,
        "timely" => timely::Timely,
        "patched-timely" => patched_timely::PatchedTimely,
        "timely-pi" => timely_pi::TimelyPi,
    }
    methods { fn plan(&self) -> Plan; }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use weft_core::settings::{Kind, Setting, Table};

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

    #[test]
    fn every_law_is_a_transport() {
        let transports = TransportSettings::FAMILY.members;
        for law in LawSettings::FAMILY.members {
            assert!(transports.iter().any(|member| member.name == law.name), "{}", law.name);
        }
    }

    #[test]
    fn settings_survive_the_way_through_a_file() {
        let mut settings = dctcp::Settings::default();
        settings.tcp.mtu = weft_core::Bytes(9_000);
        settings.tcp.slow_start_limit = Some(1);
        let settings = TransportSettings::Dctcp(settings);
        assert_eq!(TransportSettings::from_value(&settings.to_value()), settings);
        assert!(
            matches!(AnyProtocol::new(&settings, ()).plan(), Plan::Tcp { tcp, .. } if tcp.mtu.0 == 9_000)
        );
    }
}
