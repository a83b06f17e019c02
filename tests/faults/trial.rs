//! One command, undisturbed and then with a fault at one of its steps: what is there afterwards, and after another run?

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::common::shim::{Ended, Fault, Shim, Step};
use crate::faults::commands::Row;
use crate::faults::inputs::Inputs;
use crate::faults::state::{self, State, Tree, copy, difference};

/// A command whose undisturbed run is known.
pub struct Trial<'a> {
    row: Row,
    inputs: &'a Inputs,
    shim: &'a Shim,
    work: TempDir,
    /// The outputs before and after.
    old: Vec<State>,
    new: Vec<State>,
    /// What the run changes.
    pub steps: Vec<Step>,
    /// Its exit status, and all files after it.
    status: Option<i32>,
    files: Tree,
    /// The same of a second run after it.
    second: (Option<i32>, Tree),
}

/// What the outputs are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// What was there before.
    Old,
    /// What the command makes.
    New,
}

/// What is wrong, in words.
type Verdict<T = ()> = Result<T, String>;

impl<'a> Trial<'a> {
    /// Runs the command without a fault.
    pub fn new(row: Row, inputs: &'a Inputs, shim: &'a Shim) -> Self {
        let work = tempfile::tempdir().unwrap();
        row.prepare(inputs, &work.path().join("before"));
        let mut trial = Trial {
            row,
            inputs,
            shim,
            work,
            old: Vec::new(),
            new: Vec::new(),
            steps: Vec::new(),
            status: None,
            files: Tree::new(),
            second: (None, Tree::new()),
        };
        trial.run_undisturbed();
        trial
    }

    fn run_undisturbed(&mut self) {
        let folder = self.begin("undisturbed");
        self.old = self.states(&folder);
        let run = self.run(&self.row.line, &folder, Fault::None);
        assert!(matches!(run.code(), Some(0 | 3)), "{}: {:?}\n{}", self.name(), run.status, run.stderr);
        (self.status, self.steps) = (run.code(), run.steps);
        self.finish(&folder).unwrap();
        (self.new, self.files) = (self.states(&folder), state::tree(&folder));
        for (output, new) in self.old.iter().zip(&self.new) {
            assert!(matches!(new, State::Whole(_) | State::Files(_)), "{}: {new:?}", self.name());
            assert!(output != new, "{}: the command changes nothing", self.name());
        }
        let again = self.run(&self.row.again(), &folder, Fault::None);
        self.second = (again.code(), state::tree(&folder));
    }

    pub fn name(&self) -> &str {
        &self.row.name
    }

    /// A folder of this name as it is before the command.
    fn begin(&self, name: &str) -> PathBuf {
        let folder = self.work.path().join(name);
        copy(&self.work.path().join("before"), &folder);
        folder
    }

    fn states(&self, folder: &Path) -> Vec<State> {
        self.row.outputs.iter().map(|output| output.state(folder)).collect()
    }

    fn run(&self, line: &str, folder: &Path, fault: Fault) -> Ended {
        self.shim.run(self.inputs.command(folder, line), folder, fault)
    }

    /// What is wrong after a step, in words.
    pub fn at(&self, what: &str, step: usize, verdict: &str) -> String {
        format!("{}: {what} at step {step} ({}): {}", self.name(), self.steps[step], verdict.trim_end())
    }

    /// Runs the command with a fault, looks at what is there, and runs it again; what is wrong, in words.
    pub fn with(&self, fault: Fault) -> Verdict {
        let folder = self.begin(&format!("{fault:?}"));
        let (step, verdict) = match fault {
            Fault::Kill(step) => (step, self.kill(&folder, step)),
            Fault::Full(step) | Fault::Once(step) => (step, self.fill(&folder, fault)),
            Fault::None => return Ok(()),
        };
        fs::remove_dir_all(&folder).unwrap();
        verdict.map_err(|wrong| self.at(&format!("{fault:?}"), step, &wrong))
    }

    fn kill(&self, folder: &Path, step: usize) -> Verdict {
        let run = self.run(&self.row.line, folder, Fault::Kill(step));
        ensure(run.killed(), || format!("not killed, but {}: {}", run.status, run.stderr))?;
        let mut whose = self.whose(folder)?;
        if step % 2 == 1 && whose == Whose::Old {
            // The next run may be killed as well.
            let again = self.run(&self.row.again(), folder, Fault::Kill(step / 2));
            ensure(again.killed() || again.code() == self.status, || {
                format!("to be killed again, it ended with {}: {}", again.status, again.stderr)
            })?;
            whose = self.whose(folder).map_err(|e| format!("killed again: {e}"))?;
        }
        self.goes_on(folder, whose)
    }

    fn fill(&self, folder: &Path, fault: Fault) -> Verdict {
        let run = self.run(&self.row.line, folder, fault);
        let spoiled: Vec<&Step> = run.steps.iter().filter(|step| step.spoiled).collect();
        // Late steps remove what is old, and need no room.
        let needs_room = matches!(fault, Fault::Full(step) if step < self.steps.len() / 2);
        let is_spoiled = !spoiled.is_empty() || !needs_room;
        ensure(is_spoiled, || "the disk was never full".to_owned())?;
        let named = run.stderr.contains("No space left") || run.stderr.contains("no storage space");
        // The outputs are there, and something is left to clean up.
        if named && run.code() == Some(3) && run.stderr.contains("is complete, but") {
            let whose = self.whose(folder)?;
            ensure(whose == Whose::New, || format!("not complete: {}", run.stderr))?;
            return self.goes_on(folder, whose);
        }
        if run.code() == self.status {
            // Half a write is no error, and where there can be no link there may be a copy.
            let coped = |step: &&Step| ["write", "copy", "send", "link"].iter().any(|call| step.call.contains(call));
            let swallowed = spoiled.iter().find(|step| !coped(step) || !matches!(fault, Fault::Once(_)));
            return match swallowed {
                Some(step) => Err(format!("the error of {step} is swallowed: {}", run.stderr)),
                None => self.is_done(folder),
            };
        }
        ensure(run.code() == Some(1) && !run.stderr.contains("panicked"), || {
            format!("not an error, but {}: {}", run.status, run.stderr)
        })?;
        ensure(named, || format!("the error does not say why: {}", run.stderr))?;
        // The folder in which the command runs has no name but "."; a temporary file may go by the name that it will have.
        let name = |path: &PathBuf| {
            let name = path.file_name().map_or(" .:".into(), |name| name.to_string_lossy().into_owned());
            name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")).map_or(name.clone(), str::to_owned)
        };
        let mut names = spoiled.iter().flat_map(|step| &step.paths).map(name);
        ensure(names.any(|name| run.stderr.contains(&name)), || format!("the error names no file: {}", run.stderr))?;
        let whose = self.whose(folder)?;
        self.goes_on(folder, whose)
    }

    /// What the outputs are, if they may be that.
    fn whose(&self, folder: &Path) -> Verdict<Whose> {
        let now = self.states(folder);
        let old: Vec<bool> = self.old.iter().zip(&now).map(|(old, now)| self.is_old(old, now)).collect();
        let new: Vec<bool> = self.new.iter().zip(&now).map(|(new, now)| new == now).collect();
        if old.iter().all(|&old| old) {
            return Ok(Whose::Old);
        }
        if new.iter().all(|&new| new) {
            return Ok(Whose::New);
        }
        // Each output is complete for itself, and another run makes the rest.
        if old.iter().zip(&new).all(|(old, new)| *old || *new) {
            return Ok(Whose::Old);
        }
        let words: Vec<_> = now.iter().map(State::word).collect();
        Err(format!("neither old nor new: {}", words.join(", ")))
    }

    fn is_old(&self, old: &State, now: &State) -> bool {
        match (old, now) {
            (State::Refused(_), State::Refused(_)) => true,
            _ => old == now,
        }
    }

    /// Runs the command once more, which must make of it what it should have made.
    fn goes_on(&self, folder: &Path, whose: Whose) -> Verdict {
        let again = self.run(&self.row.again(), folder, Fault::None);
        let found = || format!("the next run ended with {}: {}", again.status, again.stderr);
        if whose == Whose::Old || (again.code() == self.status && self.second.0 != self.status) {
            ensure(again.code() == self.status, found)?;
            return self.is_done(folder);
        }
        // It was done already: then this is a second run.
        ensure(again.code() == self.second.0, found)?;
        if again.code() == Some(1) && self.row.forces {
            let forced = self.run(&self.row.forced(), folder, Fault::None);
            ensure(forced.code() == self.status, || {
                format!("--overwrite ended with {}: {}", forced.status, forced.stderr)
            })?;
            return self.is_done(folder);
        }
        self.finish(folder)?;
        same_files(folder, &self.second.1)
    }

    /// Runs the command that makes the outputs of what this one wrote, or cleans up after it.
    fn finish(&self, folder: &Path) -> Verdict {
        let Some(line) = self.row.finish else { return Ok(()) };
        let run = self.run(line, folder, Fault::None);
        ensure(matches!(run.code(), Some(0 | 3)), || format!("{line} ended with {}: {}", run.status, run.stderr))
    }

    /// The outputs are new, and nothing else is there.
    fn is_done(&self, folder: &Path) -> Verdict {
        self.finish(folder)?;
        for (now, new) in self.states(folder).iter().zip(&self.new) {
            ensure(now == new, || format!("done, but not what it should be: {}", now.word()))?;
        }
        same_files(folder, &self.files)
    }
}

fn same_files(folder: &Path, wanted: &Tree) -> Verdict {
    difference(&state::tree(folder), wanted).map_or(Ok(()), |e| Err(format!("other files than undisturbed: {e}")))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}
