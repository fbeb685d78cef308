//! A job of arbitrary stages, as a scenario describes it: which files and which other stages each reads. Must not
//! depend on how it runs.

use weft_core::{Bytes, Problem, Rate};

use crate::framework::{FrameworkSettings, positive};
use crate::plan::{JobPlan, JobStage, StageInput};
use crate::terasort::too_many;

weft_core::settings! {
    /// One stage of a job: its tasks do the same work on different parts of its input.
    pub struct StageSettings {
        /// Its name.
        name: String,
        /// Size of the files that it reads, one block per task; absent: it reads the output of other stages.
        input: Option<Bytes> = None,
        /// Earlier stages whose output its tasks fetch in equal parts.
        from: Vec<String> = Vec::new(),
        /// Earlier stages whose whole output every task fetches, such as the small side of a join.
        broadcast: Vec<String> = Vec::new(),
        /// Number of its tasks; 0 if it reads files, which have one task per block.
        tasks: u32 [0, 100000] = 0,
        /// Input that a core processes per unit of time.
        rate: Rate = Rate::from_mbps(800),
        /// Bytes of output per byte of input.
        output: f64 [0.0, 1000.0] = 1.0,
        /// Times a task writes its output to local disk for later stages; a stage that no other stage reads writes
        /// files.
        spills: u32 [0, 16] = 1,
        /// Times a task writes what it has fetched to local disk before it begins.
        merges: u32 [0, 16] = 0,
    }
}

weft_core::settings! {
    /// A job whose stages form a directed acyclic graph, such as the plan of a query.
    pub struct DagSettings {
        /// Its stages; each reads files or stages before it.
        stages: Vec<StageSettings>,
        /// Input of one task that reads files.
        block: Bytes = Bytes(128 << 20),
        /// How it runs.
        runs: FrameworkSettings [flatten],
    }
}

impl DagSettings {
    /// The stages with their inputs. Only for settings without problems.
    #[must_use]
    pub fn plan(&self) -> JobPlan {
        let stages = self.stages.iter().map(|stage| JobStage {
            name: stage.name.clone(),
            input: match stage.input {
                Some(input) => StageInput::Files { input, block: self.block },
                None => StageInput::Stages {
                    tasks: stage.tasks.max(1),
                    from: self.numbers(&stage.from),
                    broadcast: self.numbers(&stage.broadcast),
                },
            },
            rate: stage.rate,
            ratio: stage.output,
            spills: stage.spills,
            merges: stage.merges,
        });
        JobPlan::new(&self.runs, stages.collect())
    }

    fn numbers(&self, names: &[String]) -> Vec<usize> {
        names.iter().filter_map(|name| self.number(name)).collect()
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|stage| stage.name == name)
    }

    /// All impossible settings, regardless of the network.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let stages = (0..self.stages.len()).flat_map(|number| {
            let within = move |problem: Problem| problem.within(&format!("stages[{number}]"));
            self.of_stage(number).into_iter().map(within)
        });
        let own = [
            positive("block", self.block > Bytes::ZERO),
            self.stages.is_empty().then(|| Problem::new("stages", "a job needs a stage")),
        ];
        own.into_iter().flatten().chain(stages).chain(self.runs.problems()).collect()
    }

    fn of_stage(&self, number: usize) -> Vec<Problem> {
        let stage = &self.stages[number];
        let parents = || stage.from.iter().chain(&stage.broadcast);
        let reads_files = stage.input.is_some();
        let read = self.stages.iter().any(|other| {
            [&other.from, &other.broadcast].into_iter().flatten().any(|name| *name == stage.name)
        });
        let usual = StageSettings::default();
        let say = |path: &str, is: bool, message: &str| is.then(|| Problem::new(path, message));
        let found = [
            say("name", self.number(&stage.name) != Some(number), "an earlier stage has this name"),
            say("name", stage.name.is_empty(), "a stage needs a name"),
            say(
                "input",
                !reads_files && parents().next().is_none(),
                "a stage reads files (input) or stages (from, broadcast)",
            ),
            say("input", reads_files && parents().next().is_some(), "a stage reads either files or stages"),
            say("input", stage.input == Some(Bytes::ZERO), "it must be more than zero"),
            say("tasks", !reads_files && stage.tasks == 0, "give the number of tasks that fetch"),
            say(
                "tasks",
                reads_files && stage.tasks > 0,
                "a stage that reads files has a task for each block",
            ),
            say(
                "merges",
                reads_files && stage.merges != usual.merges,
                "it has no effect: only fetched data is merged",
            ),
            say(
                "spills",
                !read && stage.spills != usual.spills,
                "it has no effect: no other stage reads this one, so it writes files",
            ),
            positive("rate", stage.rate > Rate(0)),
            too_many("input", stage.input.map_or(0, |input| input.0.div_ceil(self.block.0.max(1)))),
        ];
        let names = |path: &'static str, names: &[String]| -> Vec<Problem> {
            let strange = names.iter().filter(|name| self.number(name).is_none_or(|parent| parent >= number));
            strange.map(|name| Problem::new(path, self.unknown(name, number))).collect()
        };
        let parents: Vec<&String> = parents().collect();
        let again = parents.iter().enumerate().find(|(at, name)| parents[..*at].contains(name));
        let twice = again.map(|(_, name)| Problem::new("from", format!("it reads stage `{name}` twice")));
        let unknown = names("from", &stage.from).into_iter().chain(names("broadcast", &stage.broadcast));
        found.into_iter().flatten().chain(unknown).chain(twice).collect()
    }

    fn unknown(&self, name: &str, number: usize) -> String {
        let before: Vec<&str> = self.stages[..number].iter().map(|stage| stage.name.as_str()).collect();
        match before.as_slice() {
            [] => format!("there is no stage `{name}` before this one, which is the first"),
            before => {
                format!("there is no stage `{name}` before this one; those before are: {}", before.join(", "))
            }
        }
    }
}
