//! What a task does in its container, phase by phase.

use weft_core::record::Resource;
use weft_core::{Bytes, HostId, Rate, Span, Time};

use super::{ClusterJob, JOB};
use crate::disks::Access;
use crate::plan::TaskPhase;
use crate::shuffle::OutputSpread;
use crate::steps::Need;

impl ClusterJob {
    /// Starts the next phase of a task; a phase without needs ends immediately.
    pub(super) fn advance(&mut self, now: Time, task: u32) {
        let phase = self.tasks[task as usize].phase;
        self.tasks[task as usize].phase += 1;
        if task == JOB {
            return self.phase_of_job(now, phase);
        }
        let phases = &self.plan.stages[self.place(task).0].phases;
        match phases.get(phase as usize).copied() {
            Some(phase) => self.begin_phase(now, task, phase),
            None => self.finish(now, task),
        }
    }

    fn begin_phase(&mut self, now: Time, task: u32, phase: TaskPhase) {
        let (stage, index) = self.place(task);
        let own = self.cluster.compute[self.host_of(task)];
        let settings = &self.plan.settings;
        let plan = &self.plan.stages[stage].stage;
        let (spills, merges) = (plan.spills, plan.merges);
        let input = self.plan.stages[stage].inputs[index as usize];
        match phase {
            TaskPhase::Allocate => {
                self.steps.step(now, task, "allocate", &[Need::Calls(self.cluster.master, own, 1)]);
            }
            TaskPhase::Start => self.start_container(now, task),
            TaskPhase::Open => {
                let calls = Need::Calls(own, self.cluster.master, settings.calls);
                self.steps.step(now, task, "open", &[calls]);
            }
            TaskPhase::Read => self.read(now, task, (index, input)),
            TaskPhase::Fetch => {
                let early = !self.parents_done(stage);
                self.steps.begin(now, task, if early { "fetch early" } else { "fetch" });
                self.fetch_more(now, task);
            }
            TaskPhase::Merge => self.write_locally(now, task, "merge", (merges, input)),
            TaskPhase::Reduce => self.reduce(now, task, input),
            TaskPhase::Write => {
                let needs = self.writing(task);
                self.steps.step(now, task, "write", &needs);
            }
            TaskPhase::Spill => self.write_locally(now, task, "spill", (spills, self.output_of(task))),
            TaskPhase::Report => {
                self.steps.step(now, task, "report", &[Need::Calls(own, self.cluster.master, 1)]);
            }
        }
    }

    fn start_container(&mut self, now: Time, task: u32) {
        let pool = self.plan.stages[self.place(task).0].pool;
        let host = self.host_of(task);
        let containers = &mut self.containers[host][pool];
        if containers.held > 0 {
            containers.held -= 1;
            return self.advance(now, task);
        }
        self.steps.step(now, task, "start", &[Need::Delay(self.plan.settings.container_start)]);
    }

    /// A core for the time that an input takes; longer for a straggler.
    fn core(&self, task: u32, input: Bytes) -> Need {
        let rate: Rate = self.plan.stages[self.place(task).0].stage.rate;
        let time = rate.time_for(input);
        match self.tasks[task as usize].slow {
            true => Need::Core(Span((time.0 as f64 * self.plan.settings.straggler_slowdown) as u64)),
            false => Need::Core(time),
        }
    }

    /// Reads a block, from this host if it stores a replica, and processes it meanwhile.
    fn read(&mut self, now: Time, task: u32, (block, size): (u32, Bytes)) {
        let own = self.cluster.compute[self.host_of(task)];
        let nearest = self.replicas_of(block).find(|at| *at == own);
        let from = nearest.or_else(|| self.replicas_of(block).next()).expect("a block is stored");
        let needs =
            [Need::Disk(from, Access::Read, size), Need::Read(from, own, size), self.core(task, size)];
        self.steps.step(now, task, "map", &needs);
    }

    /// Processes fetched input, and writes the output meanwhile if no stage reads it.
    fn reduce(&mut self, now: Time, task: u32, input: Bytes) {
        let mut needs = vec![self.core(task, input)];
        if self.plan.stages[self.place(task).0].readers.is_empty() {
            needs.extend(self.writing(task));
        }
        self.steps.step(now, task, "reduce", &needs);
    }

    fn output_of(&self, task: u32) -> Bytes {
        let (stage, index) = self.place(task);
        self.plan.stages[stage].output(index)
    }

    /// The needs of writing a task's output to files, from replica to replica.
    fn writing(&self, task: u32) -> Vec<Need> {
        let size = self.output_of(task);
        let mut from = self.cluster.compute[self.host_of(task)];
        let mut needs = Vec::new();
        for at in self.stores_of(task) {
            needs.extend([Need::Transfer(from, at, size), Need::Disk(at, Access::Write, size)]);
            from = at;
        }
        needs
    }

    /// The hosts that store a task's output, its own host first if that stores files.
    fn stores_of(&self, task: u32) -> Vec<HostId> {
        let data = &self.cluster.data;
        let own = self.cluster.compute[self.host_of(task)];
        let first = data.iter().position(|at| *at == own).unwrap_or(self.place(task).1 as usize);
        let count = (self.plan.settings.output_replicas as usize).min(data.len());
        (0..count).map(|replica| data[(first + replica) % data.len()]).collect()
    }

    fn write_locally(&mut self, now: Time, task: u32, name: &'static str, (times, size): (u32, Bytes)) {
        if times == 0 {
            return self.advance(now, task);
        }
        let own = self.cluster.compute[self.host_of(task)];
        self.steps.step(now, task, name, &[Need::Disk(own, Access::Write, size * u64::from(times))]);
    }

    fn parents_done(&self, stage: usize) -> bool {
        let done = |parent: usize| self.stages[parent].done == self.plan.stages[parent].tasks();
        self.plan.stages[stage].parents.iter().all(|(parent, _)| done(*parent))
    }

    /// Opens as many connections as a task may have.
    fn fetch_more(&mut self, now: Time, task: u32) {
        let (stage, reader) = (self.place(task).0, self.tasks[task as usize].reader);
        let own = self.cluster.compute[self.host_of(task)];
        while let Some(fetch) = self.stages[stage].fetches.next(reader) {
            let from = self.cluster.compute[fetch.host];
            self.steps.need(now, task, Need::Fetch(from, own, fetch.size, fetch.host));
        }
    }

    /// Called when a fetch has arrived. When the task has all outputs, it continues.
    pub(super) fn fetched(&mut self, now: Time, task: u32, from: usize) {
        let (stage, reader) = (self.place(task).0, self.tasks[task as usize].reader);
        let received = self.stages[stage].fetches.arrived(reader, from);
        self.steps.served(now, task, Resource::Network);
        self.fetch_more(now, task);
        let parents = &self.plan.stages[stage].parents;
        let all: u32 = parents.iter().map(|(parent, _)| self.plan.stages[*parent].tasks()).sum();
        if received == all as usize && self.steps.served(now, task, Resource::Network) {
            self.advance(now, task);
        }
    }

    /// Makes the output of a task available to all running tasks of a stage that reads it.
    pub(super) fn output_for(&mut self, now: Time, task: u32, stage: usize, spread: OutputSpread) {
        let (host, output) = (self.host_of(task), self.output_of(task));
        self.stages[stage].fetches.add(host, output, spread);
        let last = self.parents_done(stage);
        for reader in self.fetching(stage) {
            if last {
                self.steps.rename(now, reader, "fetch");
                self.steps.began_after(task);
            }
            self.fetch_more(now, reader);
        }
    }

    /// The tasks of a stage that fetch, copies last.
    fn fetching(&self, stage: usize) -> Vec<u32> {
        let plan = &self.plan.stages[stage];
        let fetch =
            plan.phases.iter().position(|phase| *phase == TaskPhase::Fetch).map_or(0, |at| at as u32 + 1);
        let copies = self.plan.tasks()..self.tasks.len() as u32;
        let of_stage = (plan.first..plan.first + plan.tasks()).chain(copies);
        let fetches = |task: &u32| {
            let own = &self.tasks[*task as usize];
            own.runs() && own.phase == fetch && self.place(*task).0 == stage
        };
        of_stage.filter(fetches).collect()
    }
}
