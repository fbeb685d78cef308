//! The plan of a job: its stages, the number of tasks of each, and the input and output of each task. Must not depend
//! on when and where tasks run.

use std::collections::BTreeMap;

use weft_core::{Bytes, Rate};

use crate::framework::{Framework, FrameworkSettings};
use crate::shuffle::{OutputSpread, part};

/// The input of the tasks of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum StageInput {
    /// Files, one block per task.
    Files {
        /// Size of the files.
        input: Bytes,
        /// Size of a block.
        block: Bytes,
    },
    /// The output of earlier stages.
    Stages {
        /// Number of tasks.
        tasks: u32,
        /// Stages whose output the tasks fetch in equal parts.
        from: Vec<usize>,
        /// Stages whose whole output each task fetches.
        broadcast: Vec<usize>,
    },
}

/// A stage of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobStage {
    /// The name of its tasks.
    pub name: String,
    /// Their input.
    pub input: StageInput,
    /// Input that a core processes per unit of time.
    pub rate: Rate,
    /// Bytes of output per byte of input.
    pub ratio: f64,
    /// Times an output is written to local disk.
    pub spills: u32,
    /// Times fetched input is written to local disk.
    pub merges: u32,
}

impl Default for JobStage {
    fn default() -> JobStage {
        let input = StageInput::Stages { tasks: 1, from: Vec::new(), broadcast: Vec::new() };
        JobStage { name: String::new(), input, rate: Rate::from_mbps(800), ratio: 1.0, spills: 1, merges: 0 }
    }
}

/// The phases of a task, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskPhase {
    Allocate,
    Start,
    Open,
    /// Reads a block and processes it.
    Read,
    Fetch,
    Merge,
    /// Processes fetched input; writes it to the file system if no stage reads it.
    Reduce,
    /// Writes input that was read from files back to files.
    Write,
    Spill,
    Report,
}

/// A stage, with what follows from its position in the job.
#[derive(Clone, Debug)]
pub(crate) struct PlannedStage {
    pub(crate) stage: JobStage,
    /// Number of its first task.
    pub(crate) first: u32,
    /// Input of each task.
    pub(crate) inputs: Vec<Bytes>,
    /// Stages that it reads, and how.
    pub(crate) parents: Vec<(usize, OutputSpread)>,
    /// Stages that read it, and how.
    pub(crate) readers: Vec<(usize, OutputSpread)>,
    pub(crate) phases: Vec<TaskPhase>,
    /// The containers it uses: 0 for maps, 1 for reducers.
    pub(crate) pool: usize,
}

impl PlannedStage {
    pub(crate) fn tasks(&self) -> u32 {
        self.inputs.len() as u32
    }

    pub(crate) fn reads_files(&self) -> bool {
        matches!(self.stage.input, StageInput::Files { .. })
    }

    /// The output of a task.
    pub(crate) fn output(&self, index: u32) -> Bytes {
        Bytes((self.inputs[index as usize].0 as f64 * self.stage.ratio).round() as u64)
    }

    /// Numbers of tasks, and the output of each.
    fn outputs(&self) -> BTreeMap<Bytes, u64> {
        let mut sizes = BTreeMap::new();
        (0..self.tasks()).for_each(|index| *sizes.entry(self.output(index)).or_insert(0) += 1);
        sizes
    }
}

/// A job: its framework and its stages.
#[derive(Clone, Debug)]
pub struct JobPlan {
    pub(crate) settings: FrameworkSettings,
    pub(crate) stages: Vec<PlannedStage>,
}

impl JobPlan {
    /// A job of these stages; each reads only stages before it.
    #[must_use]
    pub fn new(settings: &FrameworkSettings, stages: Vec<JobStage>) -> JobPlan {
        let mut planned: Vec<PlannedStage> = Vec::new();
        let mut first = 1;
        for (number, stage) in stages.into_iter().enumerate() {
            let parents = parents(&stage.input);
            for (parent, spread) in &parents {
                planned[*parent].readers.push((number, *spread));
            }
            let inputs = inputs(&stage.input, &parents, &planned);
            let pool = usize::from(settings.framework != Framework::Spark && !parents.is_empty());
            let tasks = inputs.len() as u32;
            let (readers, phases) = (Vec::new(), Vec::new());
            planned.push(PlannedStage { stage, first, inputs, parents, readers, phases, pool });
            first += tasks;
        }
        planned.iter_mut().for_each(|stage| stage.phases = phases(stage));
        JobPlan { settings: settings.clone(), stages: planned }
    }

    /// Tasks of all stages and the job itself, which is task 0.
    pub(crate) fn tasks(&self) -> u32 {
        1 + self.stages.iter().map(PlannedStage::tasks).sum::<u32>()
    }

    /// The stage of a task and its number there. Not for the job itself.
    pub(crate) fn place(&self, task: u32) -> (usize, u32) {
        let stage = self.stages.partition_point(|stage| stage.first <= task) - 1;
        (stage, task - self.stages[stage].first)
    }
}

fn parents(input: &StageInput) -> Vec<(usize, OutputSpread)> {
    match input {
        StageInput::Files { .. } => Vec::new(),
        StageInput::Stages { from, broadcast, .. } => {
            let parts = from.iter().map(|parent| (*parent, OutputSpread::Parts));
            parts.chain(broadcast.iter().map(|parent| (*parent, OutputSpread::Whole))).collect()
        }
    }
}

/// The input of each task of a stage.
fn inputs(input: &StageInput, parents: &[(usize, OutputSpread)], planned: &[PlannedStage]) -> Vec<Bytes> {
    match *input {
        StageInput::Files { input, block } => {
            let blocks = input.0.div_ceil(block.0.max(1));
            (0..blocks).map(|number| Bytes(block.0.min(input.0 - number * block.0))).collect()
        }
        StageInput::Stages { tasks, .. } => {
            let outputs: Vec<_> =
                parents.iter().map(|(parent, spread)| (planned[*parent].outputs(), *spread)).collect();
            let of_task = |task: u32| {
                let sizes =
                    outputs.iter().flat_map(|(sizes, spread)| sizes.iter().map(move |one| (one, *spread)));
                sizes.map(|((size, count), spread)| part(*size, spread, (task, tasks)) * *count).sum()
            };
            (0..tasks).map(of_task).collect()
        }
    }
}

fn phases(stage: &PlannedStage) -> Vec<TaskPhase> {
    use TaskPhase::{Allocate, Fetch, Merge, Open, Read, Reduce, Report, Spill, Start, Write};
    let last = if stage.readers.is_empty() { None } else { Some(Spill) };
    let work: Vec<TaskPhase> = match stage.reads_files() {
        true => [Some(Read), Some(last.unwrap_or(Write))].into_iter().flatten().collect(),
        false => [Some(Fetch), Some(Merge), Some(Reduce), last].into_iter().flatten().collect(),
    };
    [Allocate, Start, Open].into_iter().chain(work).chain([Report]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(input: u64, block: u64) -> StageInput {
        StageInput::Files { input: Bytes(input), block: Bytes(block) }
    }

    /// Two tables are joined; the small one goes whole to every task. Bytes follow the ratios.
    #[test]
    fn inputs_of_a_join_follow_from_outputs_and_spreads() {
        let scan = |input, ratio| JobStage { input: files(input, 100), ratio, ..JobStage::default() };
        let input = StageInput::Stages { tasks: 3, from: vec![0], broadcast: vec![1] };
        let join = JobStage { input, ratio: 0.5, ..JobStage::default() };
        let plan = JobPlan::new(&FrameworkSettings::default(), vec![scan(250, 1.0), scan(40, 0.25), join]);
        assert_eq!(plan.stages[0].inputs, [100, 100, 50].map(Bytes));
        assert_eq!(plan.stages[2].inputs.iter().copied().sum::<Bytes>(), Bytes(250 + 3 * 10));
        assert_eq!((plan.tasks(), plan.place(4), plan.place(7)), (8, (1, 0), (2, 2)));
        assert_eq!(plan.stages[1].readers, [(2, OutputSpread::Whole)]);
    }
}
