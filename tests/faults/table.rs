//! What came out, as a table for people.

use std::collections::BTreeMap;
use std::fmt;

use crate::shim::Fault;
use crate::trial::Trial;

/// Faults that are named of each command and kind.
const NAMED: usize = 3;

/// A row for each command, in their order.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

struct Row {
    name: String,
    steps: usize,
    tried: BTreeMap<&'static str, Tried>,
}

/// What came of one kind of fault.
#[derive(Default)]
struct Tried {
    count: usize,
    wrong: Vec<String>,
}

/// The kinds of faults, in the order of the columns.
const KINDS: [&str; 3] = ["kill", "full", "once"];

impl Table {
    /// Adds a result; those of one command come after each other.
    pub fn add(&mut self, trial: &Trial<'_>, fault: Fault, verdict: Result<(), String>) {
        if self.rows.last().is_none_or(|row| row.name != trial.name()) {
            self.rows.push(Row { name: trial.name().to_owned(), steps: trial.steps.len(), tried: BTreeMap::new() });
        }
        let (kind, step) = match fault {
            Fault::Kill(step) => (KINDS[0], step),
            Fault::Full(step) => (KINDS[1], step),
            Fault::Once(step) => (KINDS[2], step),
            Fault::None => return,
        };
        let Some(row) = self.rows.last_mut() else { return };
        let tried = row.tried.entry(kind).or_default();
        tried.count += 1;
        if let Err(what) = verdict {
            tried.wrong.push(format!(
                "{}: {kind} at step {step} ({}): {}",
                row.name,
                trial.steps[step],
                what.trim_end()
            ));
        }
    }

    pub fn is_right(&self) -> bool {
        self.rows.iter().flat_map(|row| row.tried.values()).all(|tried| tried.wrong.is_empty())
    }

    /// What is wrong, some of each command and kind of fault.
    pub fn faults(&self) -> String {
        let mut text = String::new();
        for tried in self.rows.iter().flat_map(|row| row.tried.values()) {
            tried.wrong.iter().take(NAMED).for_each(|wrong| text += &format!("\n{wrong}"));
            if tried.wrong.len() > NAMED {
                text += &format!("\n    and {} more of them", tried.wrong.len() - NAMED);
            }
        }
        text
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:48} {:>5}", "command", "steps")?;
        KINDS.iter().try_for_each(|kind| write!(f, " | {:>5} {:>5}", format!("{kind}s"), "wrong"))?;
        writeln!(f)?;
        for row in &self.rows {
            write!(f, "{:48} {:>5}", row.name, row.steps)?;
            for kind in KINDS {
                let (count, wrong) = row.tried.get(kind).map_or((0, 0), |tried| (tried.count, tried.wrong.len()));
                write!(f, " | {count:>5} {wrong:>5}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
