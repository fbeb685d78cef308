//! A forwarding engine: the unit of independence of a switch (DRILL section 2; a router core in RouteBricks). It owns
//! its balancer's state and its random stream and must not depend on other engines.

use weft_core::{Purpose, Random};

use crate::balance::{AnyBalancer, BalancerSettings, BalancerSite};

/// One forwarding engine.
pub(crate) struct ForwardingEngine {
    pub(crate) balancer: AnyBalancer,
    pub(crate) random: Random,
}

impl ForwardingEngine {
    pub(crate) fn new(settings: &BalancerSettings, site: BalancerSite) -> ForwardingEngine {
        let entity = u64::from(site.switch.0) << 16 | u64::from(site.engine);
        ForwardingEngine {
            balancer: AnyBalancer::new(settings, site),
            random: Random::new(site.seed, Purpose::Balance, entity),
        }
    }
}
