//! TeraSort on a cluster, as a scenario describes it. Must not depend on how it runs.

use weft_core::settings::Share;
use weft_core::{Bytes, Problem, Rate, Span};

weft_core::choice! {
    /// How a framework assigns containers to tasks.
    pub enum Framework {
        /// A new container for every task; hosts get tasks only at their heartbeats.
        MapReduce = "mapreduce",
        /// Containers are reused: the next task starts in them at once.
        Tez = "tez",
    }
}

weft_core::settings! {
    /// TeraSort: its input is read in blocks by maps, sorted, fetched by reducers and written to the file system.
    pub struct TeraSortSettings {
        /// Size of the input.
        input: Bytes,
        /// How tasks get their containers.
        framework: Framework = Framework::MapReduce,
        /// Input of one map (`dfs.blocksize`; default of Hadoop 3).
        block: Bytes = Bytes(128 << 20),
        /// Number of reducers.
        reducers: u32 [1, 100000],
        /// Maps that run at a time on a host.
        map_containers: u32 [1, 1024] = 8,
        /// Reducers that run at a time on a host.
        reduce_containers: u32 [1, 1024] = 4,
        /// Input that a core sorts per unit of time in a map.
        map_rate: Rate = Rate::from_mbps(800),
        /// Input that a core merges and writes per unit of time in a reducer.
        reduce_rate: Rate = Rate::from_mbps(800),
        /// Disks of a host; a request occupies one of them.
        disks: u32 [1, 1000] = 12,
        /// Sequential rate of a disk.
        disk_rate: Rate = Rate::from_mbps(1_200),
        /// Time of a disk before each request.
        seek: Span = Span::from_ms(8),
        /// Times a map writes its output to local disk: 1, and 1 more for each merge of spills.
        spills: u32 [0, 16] = 1,
        /// Times a reducer writes its input to local disk before it reduces.
        merges: u32 [0, 16] = 0,
        /// Hosts from which a reducer fetches at a time (`mapreduce.reduce.shuffle.parallelcopies`).
        fetchers: u32 [1, 10000] = 5,
        /// Share of the maps that must be done before reducers start
        /// (`mapreduce.job.reduce.slowstart.completedmaps`).
        slow_start: Share [0.0, 1.0] = Share(0.05),
        /// Replicas of the input.
        replicas: u32 [1, 10] = 3,
        /// Replicas of the output, written as a pipeline from host to host.
        output_replicas: u32 [1, 10] = 1,
        /// Interval of a host's reports to the scheduler, at which it gets tasks.
        heartbeat: Span = Span::from_s(1),
        /// From the allocation of a container to the first instruction of its task.
        container_start: Span = Span::from_s(2),
        /// From the submission of the job to its first request for containers.
        submit: Span = Span::from_s(10),
        /// From the last reducer to the end of the job.
        commit: Span = Span::from_s(2),
        /// Remote procedure calls to the master, one after the other, before a task reads or writes its data.
        calls: u32 [0, 100000] = 2,
        /// Size of such a call, each way.
        call: Bytes = Bytes(512),
        /// Calls of the application master, on the first host that runs tasks, to the master, one after the other: half of
        /// them before it requests containers, half after the last reducer.
        job_calls: u32 [0, 1000000] = 0,
        /// Job history that the application master writes to the first host that stores files before the job ends.
        history: Bytes = Bytes::ZERO,
        /// Log of a task, written to a host that stores files when the task is done. No task waits for it.
        log: Bytes = Bytes::ZERO,
        /// The run ends with its jobs: flows of other traffic that are still open then count as unfinished.
        ends_run: bool = false,
        /// Hosts that run tasks; absent: all but the master.
        compute: Vec<u32> = Vec::new(),
        /// Hosts that store the input and the output; absent: those that run tasks.
        data: Vec<u32> = Vec::new(),
        /// Host of the scheduler and the name node.
        master: u32 = 0,
    }
}

impl TeraSortSettings {
    /// Number of maps.
    #[must_use]
    pub fn maps(&self) -> u64 {
        self.input.0.div_ceil(self.block.0.max(1))
    }

    /// Input of a map: a block, or what remains for the last.
    #[must_use]
    pub fn split(&self, map: u64) -> Bytes {
        Bytes(self.block.0.min(self.input.0 - map * self.block.0))
    }

    /// All impossible settings, regardless of the network.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let positive = |path: &str, is: bool| (!is).then(|| Problem::new(path, "it must be more than zero"));
        let most = (self.maps() > MOST_MAPS).then(|| {
            let message =
                format!("{} maps; at most {MOST_MAPS} are possible: give larger blocks", self.maps());
            Problem::new("block", message)
        });
        let found = [
            positive("input", self.input > Bytes::ZERO),
            positive("block", self.block > Bytes::ZERO),
            positive("map_rate", self.map_rate > Rate(0)),
            positive("reduce_rate", self.reduce_rate > Rate(0)),
            positive("disk_rate", self.disk_rate > Rate(0)),
            positive("heartbeat", self.heartbeat > Span::ZERO),
            positive("call", self.call > Bytes::ZERO || self.calls == 0),
            most.filter(|_| self.block > Bytes::ZERO),
        ];
        found.into_iter().flatten().collect()
    }
}

/// Maximum number of maps: their outputs are listed for every reducer.
const MOST_MAPS: u64 = 1_000_000;
