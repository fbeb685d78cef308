//! TeraSort on a cluster, as a scenario describes it. Must not depend on how it runs.

use weft_core::{Bytes, Problem, Rate};

use crate::framework::{FrameworkSettings, positive};
use crate::plan::{JobPlan, JobStage, StageInput};

weft_core::settings! {
    /// TeraSort: its input is read in blocks by maps, sorted, fetched by reducers and written to the file system.
    pub struct TeraSortSettings {
        /// Size of the input.
        input: Bytes,
        /// Input of one map (`dfs.blocksize`; default of Hadoop 3).
        block: Bytes = Bytes(128 << 20),
        /// Number of reducers.
        reducers: u32 [1, 100000],
        /// Input that a core sorts per unit of time in a map.
        map_rate: Rate = Rate::from_mbps(800),
        /// Input that a core merges and writes per unit of time in a reducer.
        reduce_rate: Rate = Rate::from_mbps(800),
        /// Times a map writes its output to local disk: 1, and 1 more for each merge of spills.
        spills: u32 [0, 16] = 1,
        /// Times a reducer writes its input to local disk before it reduces.
        merges: u32 [0, 16] = 0,
        /// How it runs.
        runs: FrameworkSettings [flatten],
    }
}

impl TeraSortSettings {
    /// Number of maps.
    #[must_use]
    pub fn maps(&self) -> u64 {
        self.input.0.div_ceil(self.block.0.max(1))
    }

    /// Maps that read and sort, reducers that fetch from all of them.
    #[must_use]
    pub fn plan(&self) -> JobPlan {
        let TeraSortSettings { input, block, spills, merges, .. } = *self;
        let map = JobStage {
            name: "map".to_owned(),
            input: StageInput::Files { input, block },
            rate: self.map_rate,
            spills,
            ..JobStage::default()
        };
        let reduce = JobStage {
            name: "reduce".to_owned(),
            input: StageInput::Stages { tasks: self.reducers, from: vec![0], broadcast: Vec::new() },
            rate: self.reduce_rate,
            merges,
            ..JobStage::default()
        };
        JobPlan::new(&self.runs, vec![map, reduce])
    }

    /// All impossible settings, regardless of the network.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let found = [
            positive("input", self.input > Bytes::ZERO),
            positive("block", self.block > Bytes::ZERO),
            positive("map_rate", self.map_rate > Rate(0)),
            positive("reduce_rate", self.reduce_rate > Rate(0)),
            too_many("block", self.maps()).filter(|_| self.block > Bytes::ZERO),
        ];
        found.into_iter().flatten().chain(self.runs.problems()).collect()
    }
}

/// Maximum number of tasks that read files: their outputs are listed for every stage that fetches them.
const MOST_MAPS: u64 = 1_000_000;

/// A problem if files have too many blocks.
pub(crate) fn too_many(path: &str, maps: u64) -> Option<Problem> {
    let message = || format!("{maps} maps; at most {MOST_MAPS} are possible: give larger blocks");
    (maps > MOST_MAPS).then(|| Problem::new(path, message()))
}
