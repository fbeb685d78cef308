//! Max-min fair rates of flows over links, by progressive filling: all rates rise together until a link is full or a
//! flow has all it can use; those stop, and the others keep rising. Must not depend on time or windows.

/// The demand of a flow on the links.
pub(crate) trait Sharer {
    /// Links, and what each carries for one byte of payload, including all multiplicities.
    fn uses(&self) -> &[(u32, f64)];
    /// The most it can use, in bytes of payload per second.
    fn most(&self) -> f64;
}

/// Memory for the computation, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct FairShares {
    /// By link: remaining capacity, in wire bytes per second.
    left: Vec<f64>,
    /// By link: the total that rising flows put on it per byte of payload.
    rising: Vec<f64>,
    /// By link: rising flows.
    open: Vec<u32>,
    /// By link: its flows.
    members: Vec<Vec<u32>>,
    /// Links with flows, ascending.
    used: Vec<u32>,
    /// Flows by what they can use, least first.
    order: Vec<u32>,
    stopped: Vec<bool>,
}

impl FairShares {
    /// Rates of flows in bytes of payload per second, in their order; `capacity` in wire bytes per second by link.
    pub(crate) fn divide<S: Sharer>(&mut self, capacity: &[f64], flows: &[S], rates: &mut Vec<f64>) {
        self.prepare(capacity, flows);
        rates.clear();
        rates.resize(flows.len(), 0.0);
        let mut modest = 0;
        while let Some((link, share)) = self.tightest() {
            let first = modest;
            while let Some(flow) = self.order.get(modest).map(|flow| *flow as usize) {
                if flows[flow].most() > share {
                    break;
                }
                modest += 1;
                self.stop(flows, flow, flows[flow].most(), rates);
            }
            if modest == first {
                let members = std::mem::take(&mut self.members[link]);
                members.iter().for_each(|flow| self.stop(flows, *flow as usize, share, rates));
                self.members[link] = members;
            }
        }
    }

    fn prepare<S: Sharer>(&mut self, capacity: &[f64], flows: &[S]) {
        if self.members.len() < capacity.len() {
            self.members.resize(capacity.len(), Vec::new());
            (self.rising, self.open) = (vec![0.0; capacity.len()], vec![0; capacity.len()]);
        }
        self.left.clear();
        self.left.extend_from_slice(capacity);
        for link in self.used.drain(..).map(|link| link as usize) {
            self.members[link].clear();
            (self.rising[link], self.open[link]) = (0.0, 0);
        }
        for (number, flow) in flows.iter().enumerate() {
            for (link, amount) in flow.uses() {
                let at = *link as usize;
                if self.open[at] == 0 {
                    self.used.push(*link);
                }
                self.members[at].push(number as u32);
                self.rising[at] += amount;
                self.open[at] += 1;
            }
        }
        self.used.sort_unstable();
        self.stopped.clear();
        self.stopped.resize(flows.len(), false);
        self.order.clear();
        self.order.extend((0..flows.len() as u32).filter(|flow| flows[*flow as usize].most().is_finite()));
        let most = |flow: &u32| flows[*flow as usize].most();
        self.order.sort_by(|a, b| most(a).total_cmp(&most(b)));
    }

    /// The link at which rising flows stop first, and the rate at which they do.
    fn tightest(&self) -> Option<(usize, f64)> {
        let share = |link: &u32| {
            let at = *link as usize;
            (self.open[at] > 0).then(|| (at, self.left[at].max(0.0) / self.rising[at]))
        };
        self.used.iter().filter_map(share).reduce(|best, next| if next.1 < best.1 { next } else { best })
    }

    fn stop<S: Sharer>(&mut self, flows: &[S], flow: usize, rate: f64, rates: &mut [f64]) {
        if std::mem::replace(&mut self.stopped[flow], true) {
            return;
        }
        rates[flow] = rate;
        for (link, amount) in flows[flow].uses() {
            let at = *link as usize;
            self.left[at] -= amount * rate;
            self.rising[at] -= amount;
            self.open[at] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Wants(Vec<(u32, f64)>, f64);

    impl Sharer for Wants {
        fn uses(&self) -> &[(u32, f64)] {
            &self.0
        }
        fn most(&self) -> f64 {
            self.1
        }
    }

    fn rates(capacity: &[f64], flows: &[(&[u32], f64)]) -> Vec<f64> {
        let wants =
            |(links, most): &(&[u32], f64)| Wants(links.iter().map(|link| (*link, 1.0)).collect(), *most);
        let flows: Vec<Wants> = flows.iter().map(wants).collect();
        let mut rates = Vec::new();
        let mut shares = FairShares::default();
        // Twice: nothing remains of the first computation.
        shares.divide(capacity, &flows, &mut rates);
        shares.divide(capacity, &flows, &mut rates);
        rates
    }

    const ANY: f64 = f64::INFINITY;

    #[test]
    fn flows_on_one_link_share_it_equally_and_what_one_cannot_use_goes_to_the_others() {
        assert_eq!(rates(&[12.0], &[(&[0], ANY), (&[0], ANY)]), [6.0, 6.0]);
        assert_eq!(rates(&[12.0], &[(&[0], 2.0), (&[0], ANY), (&[0], ANY)]), [2.0, 5.0, 5.0]);
        assert_eq!(rates(&[12.0], &[(&[0], 2.0), (&[0], 3.0)]), [2.0, 3.0], "the link is not full");
    }

    /// The parking lot: one long flow over two links, one short flow on each (Bertsekas and Gallager, Data Networks, 6.5.2).
    #[test]
    fn a_long_flow_gets_the_share_of_its_tightest_link() {
        let flows: [(&[u32], f64); 3] = [(&[0, 1], ANY), (&[0], ANY), (&[1], ANY)];
        assert_eq!(rates(&[10.0, 4.0], &flows), [2.0, 8.0, 2.0]);
    }

    #[test]
    fn a_flow_that_spreads_over_links_puts_its_part_on_each() {
        let spread = Wants(vec![(0, 1.0), (1, 0.5), (2, 0.5)], ANY);
        let (mut rates, mut shares) = (Vec::new(), FairShares::default());
        shares.divide(&[100.0, 30.0, 40.0], &[spread], &mut rates);
        assert_eq!(rates, [60.0], "half of it fills the slower of the two");
    }
}
