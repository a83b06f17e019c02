//! What came out, as a table for people.

use std::fmt;

use crate::common::shim::{Fault, Step};
use crate::faults::power;

/// Faults that are told of each command and kind.
const TOLD: usize = 3;

/// The kinds of faults, in the order of the columns.
const KINDS: [&str; 4] = ["kill", "full", "once", "cut"];

/// A row for each command.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

struct Row {
    name: String,
    steps: Vec<Step>,
    /// By kind of fault.
    tried: [Tried; KINDS.len()],
}

/// What came of one kind of fault.
#[derive(Default)]
struct Tried {
    count: usize,
    wrong: Vec<String>,
}

impl Table {
    /// Adds a command, with what a power cut would take from it; see [`power`].
    pub fn begin(&mut self, name: &str, steps: &[Step]) {
        self.rows.push(Row { name: name.to_owned(), steps: steps.to_vec(), tried: Default::default() });
        for (step, verdict) in power::cuts(steps) {
            self.add(self.rows.len() - 1, 3, step, verdict);
        }
    }

    /// Adds what came of a fault in the command of a row, counted from 0.
    pub fn fault(&mut self, row: usize, fault: Fault, verdict: Result<(), String>) {
        match fault {
            Fault::Kill(step) => self.add(row, 0, step, verdict),
            Fault::Full(step) => self.add(row, 1, step, verdict),
            Fault::Once(step) => self.add(row, 2, step, verdict),
            Fault::None => {}
        }
    }

    fn add(&mut self, row: usize, kind: usize, step: usize, verdict: Result<(), String>) {
        let Row { name, steps, tried } = &mut self.rows[row];
        tried[kind].count += 1;
        if let Err(what) = verdict {
            let place = format!("{name}: {} at step {step} ({})", KINDS[kind], steps[step]);
            tried[kind].wrong.push(format!("{place}: {}", what.trim_end()));
        }
    }

    pub fn is_right(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.tried).all(|tried| tried.wrong.is_empty())
    }

    /// What is wrong, some of each command and kind of fault.
    pub fn faults(&self) -> String {
        let mut text = String::new();
        for tried in self.rows.iter().flat_map(|row| &row.tried) {
            tried.wrong.iter().take(TOLD).for_each(|wrong| text += &format!("\n{wrong}"));
            if tried.wrong.len() > TOLD {
                text += &format!("\n    and {} more of these", tried.wrong.len() - TOLD);
            }
        }
        text
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:45} {:>5}", "command", "steps")?;
        KINDS.iter().try_for_each(|kind| write!(f, " | {:>5} {:>5}", format!("{kind}s"), "wrong"))?;
        writeln!(f)?;
        for row in &self.rows {
            write!(f, "{:45} {:>5}", row.name, row.steps.len())?;
            row.tried.iter().try_for_each(|tried| write!(f, " | {:>5} {:>5}", tried.count, tried.wrong.len()))?;
            writeln!(f)?;
        }
        Ok(())
    }
}
