//! Every command that writes, killed and out of space at each of its steps. Whatever happens, there is the old output
//! or the new one, another run makes the new one, and no other file stays. And what a power cut would leave.
//!
//! By default some steps of each command are tried. `VIDREC_SOAK=1 cargo test --test suite faults:: -- --nocapture` tries all;
//! with `VIDREC_FAULTS=NAME`, only of commands with this in their name in `commands.rs`.
mod commands;
mod inputs;
mod power;
mod shim_works;
mod state;
mod table;
mod trial;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::common::shim::{Fault, Shim};
use inputs::Inputs;
use table::Table;
use trial::Trial;

#[test]
fn every_command_at_every_step_leaves_the_old_output_or_the_new() {
    let Some(shim) = Shim::get() else { return };
    let inputs = Inputs::make();
    let before = state::tree(&inputs.at(""));
    let chosen = std::env::var("VIDREC_FAULTS").unwrap_or_default();
    let rows = commands::table(&inputs).into_iter().filter(|row| row.name.contains(&chosen)).collect();
    let trials = in_parallel(rows, |row| Trial::new(row, &inputs, shim));
    let mut table = Table::default();
    trials.iter().for_each(|trial| table.begin(trial.name(), &trial.steps));
    let row_faults = |row: usize| faults(row, trials[row].steps.len()).into_iter().map(move |fault| (row, fault));
    let jobs = (0..trials.len()).flat_map(row_faults).collect();
    for (row, fault, verdict) in in_parallel(jobs, |(row, fault)| (row, fault, trials[row].with(fault))) {
        table.fault(row, fault, verdict);
    }
    println!("{table}");
    assert_eq!(state::difference(&state::tree(&inputs.at("")), &before), None, "the inputs");
    assert!(table.is_right(), "{}", table.faults());
}

/// What is to go wrong in a command: at every step, or at some, spread evenly and otherwise for each `row`.
fn faults(row: usize, steps: usize) -> Vec<Fault> {
    let soak = std::env::var_os("VIDREC_SOAK").is_some();
    let spread = move |count: usize| {
        let count = if soak { steps } else { count.min(steps) };
        (0..count).map(move |i| (i * steps + row * 7 % steps) / count)
    };
    let kills = spread(4).map(Fault::Kill);
    let fulls = spread(3).map(Fault::Full);
    let onces = spread(2).map(Fault::Once);
    kills.chain(fulls).chain(onces).collect()
}

/// Does all jobs in two threads; results are in their order.
fn in_parallel<J: Send, R: Send>(jobs: Vec<J>, work: impl Fn(J) -> R + Sync) -> Vec<R> {
    let jobs: Vec<_> = jobs.into_iter().map(|job| Mutex::new((Some(job), None))).collect();
    let next = AtomicUsize::new(0);
    let lock = |i: usize| jobs.get(i).map(|job| job.lock().unwrap_or_else(PoisonError::into_inner));
    let worker = || {
        while let Some(mut job) = lock(next.fetch_add(1, Ordering::Relaxed)) {
            job.1 = job.0.take().map(&work);
        }
    };
    thread::scope(|scope| {
        scope.spawn(worker);
        worker();
    });
    jobs.into_iter().map(|job| job.into_inner().unwrap().1.unwrap()).collect()
}
