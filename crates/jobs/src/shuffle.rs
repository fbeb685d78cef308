//! The shuffle: which finished map outputs a reducer fetches next, and from which host.
//!
//! A reducer fetches from several hosts concurrently, over one connection per host that carries all outputs waiting
//! there. Must not depend on time or on the network.

use weft_core::Bytes;

/// One connection: outputs of one host for one reducer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// Index of the host among those that compute.
    pub(crate) host: usize,
    pub(crate) size: Bytes,
}

/// How an output is distributed to the tasks of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputSpread {
    /// Each task gets an equal part.
    Parts,
    /// Each task gets all of it.
    Whole,
}

/// The requests of a reducer to a host.
#[derive(Clone, Copy, Debug, Default)]
struct Source {
    /// Outputs requested so far.
    asked: usize,
    /// Of these, outputs on the open connection.
    open: usize,
    /// Bytes on the open connection.
    size: Bytes,
}

/// The progress of one reducer.
#[derive(Clone, Debug)]
struct Reader {
    hosts: Vec<Source>,
    connections: u32,
    /// Maps whose output has arrived.
    received: usize,
    /// The host it fetches from first, so that reducers do not all start with the same one.
    first: usize,
    /// The part it fetches.
    part: u32,
}

/// The outputs that a stage reads and the progress of its tasks, here called maps and reducers.
#[derive(Clone, Debug)]
pub(crate) struct Fetches {
    /// Sizes of the outputs of maps that finished, by host.
    outputs: Vec<Vec<(Bytes, OutputSpread)>>,
    /// First one for each part, then copies of reducers.
    readers: Vec<Reader>,
    parts: u32,
    /// Connections of a reducer.
    fetchers: u32,
    pub(crate) carried: Bytes,
}

/// The part of an output that belongs to a reducer, given its number and the number of all; equal parts add up to the
/// output.
pub(crate) fn part(output: Bytes, spread: OutputSpread, (reducer, reducers): (u32, u32)) -> Bytes {
    let (whole, n) = (u128::from(output.0), u128::from(reducers));
    let up_to = |r: u32| (whole * u128::from(r) / n) as u64;
    match spread {
        OutputSpread::Parts => Bytes(up_to(reducer + 1) - up_to(reducer)),
        OutputSpread::Whole => output,
    }
}

impl Fetches {
    pub(crate) fn new(hosts: usize, reducers: u32, fetchers: u32) -> Fetches {
        let mut fetches = Fetches {
            outputs: vec![Vec::new(); hosts],
            readers: Vec::new(),
            parts: reducers,
            fetchers,
            carried: Bytes::ZERO,
        };
        (0..reducers).for_each(|part| _ = fetches.read(part));
        fetches
    }

    /// Adds a reader of a part; returns its number.
    pub(crate) fn read(&mut self, part: u32) -> usize {
        let hosts = self.outputs.len();
        let first = part as usize % hosts;
        self.readers.push(Reader {
            hosts: vec![Source::default(); hosts],
            connections: 0,
            received: 0,
            first,
            part,
        });
        self.readers.len() - 1
    }

    /// Makes the output of a finished map available.
    pub(crate) fn add(&mut self, host: usize, output: Bytes, spread: OutputSpread) {
        self.outputs[host].push((output, spread));
    }

    /// The next connection of a reducer, if it may open one and any host has a new output.
    pub(crate) fn next(&mut self, reducer: usize) -> Option<Fetch> {
        let (count, reducers) = (self.outputs.len(), self.parts);
        let reader = &mut self.readers[reducer];
        if reader.connections == self.fetchers {
            return None;
        }
        let has_new = |host: &usize| {
            let source = reader.hosts[*host];
            source.open == 0 && source.asked < self.outputs[*host].len()
        };
        let host = (0..count).map(|n| (reader.first + n) % count).find(has_new)?;
        let source = &mut reader.hosts[host];
        let new = &self.outputs[host][source.asked..];
        let own = (reader.part, reducers);
        let size = new.iter().map(|(output, spread)| part(*output, *spread, own)).sum();
        *source = Source { asked: source.asked + new.len(), open: new.len(), size };
        reader.connections += 1;
        reader.first = (host + 1) % count;
        Some(Fetch { host, size })
    }

    /// Called when a connection has delivered its outputs. Returns the number of maps whose output the reducer now
    /// has.
    pub(crate) fn arrived(&mut self, reducer: usize, host: usize) -> usize {
        let reader = &mut self.readers[reducer];
        reader.connections -= 1;
        let source = &mut reader.hosts[host];
        reader.received += std::mem::take(&mut source.open);
        self.carried += source.size;
        reader.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_output_add_up_to_it() {
        for (output, reducers) in [(134_217_728, 14), (7, 3), (2, 5), (u64::MAX, 3)] {
            let parts =
                (0..reducers).map(|reducer| part(Bytes(output), OutputSpread::Parts, (reducer, reducers)));
            assert_eq!(parts.sum::<Bytes>(), Bytes(output));
        }
    }

    #[test]
    fn a_reducer_opens_one_connection_for_each_host_and_takes_all_outputs_that_wait_there() {
        let mut shuffle = Fetches::new(3, 2, 2);
        for (host, output) in [(0, 100), (0, 60), (1, 40), (2, 20)] {
            shuffle.add(host, Bytes(output), OutputSpread::Parts);
        }
        let fetch = |host, size| Fetch { host, size: Bytes(size) };
        assert_eq!(shuffle.next(1), Some(fetch(1, 20)), "reducer 1 begins with host 1");
        assert_eq!(shuffle.next(1), Some(fetch(2, 10)));
        assert_eq!(shuffle.next(1), None, "it has two connections");
        shuffle.add(1, Bytes(40), OutputSpread::Parts);
        assert_eq!(shuffle.arrived(1, 2), 1);
        assert_eq!(shuffle.next(1), Some(fetch(0, 80)), "two outputs of host 0 at once; host 1 is busy");
        assert_eq!(shuffle.arrived(1, 0), 3);
        assert_eq!(shuffle.arrived(1, 1), 4);
        assert_eq!(shuffle.next(1), Some(fetch(1, 20)));
    }
}
