//! Every command that writes, killed and out of space at each of its steps. Whatever happens, there is the old output
//! or the new one, another run makes the new one, and no other file stays. And what a power cut would leave.
//!
//! By default one fault of each kind is tried in some commands, and in the full level some steps of each. With
//! `VIDREC_SOAK=1`, all steps; with `VIDREC_FAULTS=NAME`, only of commands with this in their name in `commands.rs`.
mod commands;
mod inputs;
mod power;
mod shim_works;
mod state;
mod trial;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::common::shim::{Fault, Shim};
use commands::Row;
use inputs::Inputs;
use trial::Trial;

/// A command that packs, and one that edits, each over something else, and one that changes what is there.
const SOME: [&str; 3] = ["pack --shards 3, over another", "subset, over another", "remove"];

#[test]
fn some_commands_with_a_fault_of_each_kind_leave_the_old_output_or_the_new() {
    leave_the_old_output_or_the_new(|row| SOME.contains(&&*row.name), [1, 1, 1]);
}

#[test]
#[ignore = "full: some thousand runs"]
fn every_command_at_every_step_leaves_the_old_output_or_the_new() {
    let chosen = std::env::var("VIDREC_FAULTS").unwrap_or_default();
    leave_the_old_output_or_the_new(|row| row.name.contains(&chosen), [4, 3, 2]);
}

/// Tries so many kills, full disks, and disks that are full once, in the chosen commands.
fn leave_the_old_output_or_the_new(is_chosen: impl Fn(&Row) -> bool, counts: [usize; 3]) {
    let Some(shim) = Shim::get() else { return };
    let inputs = Inputs::make();
    let before = state::tree(&inputs.at(""));
    let rows: Vec<_> = commands::table(&inputs).into_iter().filter(is_chosen).collect();
    assert!(!rows.is_empty());
    let trials = in_parallel(rows, |row| Trial::new(row, &inputs, shim));
    let (mut wrong, mut commits) = (Vec::new(), 0);
    for trial in &trials {
        println!("{:45} {:>5} steps", trial.name(), trial.steps.len());
        let cuts = power::cuts(&trial.steps);
        commits += cuts.len();
        wrong.extend(cuts.into_iter().filter_map(|(step, cut)| Some(trial.at("power cut", step, &cut.err()?))));
    }
    assert!(commits >= trials.len() / 2, "what syncs and commits is seen");
    let of_row = |row: usize| faults(row, trials[row].steps.len(), counts);
    let jobs = (0..trials.len()).flat_map(|row| of_row(row).into_iter().map(move |fault| (row, fault))).collect();
    wrong.extend(in_parallel(jobs, |(row, fault)| trials[row].with(fault).err()).into_iter().flatten());
    assert_eq!(state::difference(&state::tree(&inputs.at("")), &before), None, "the inputs");
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is to go wrong in a command: at every step, or at some, spread evenly and otherwise for each `row`.
fn faults(row: usize, steps: usize, [kills, fulls, onces]: [usize; 3]) -> Vec<Fault> {
    let soak = std::env::var_os("VIDREC_SOAK").is_some();
    let spread = move |count: usize| {
        let count = if soak { steps } else { count.min(steps) };
        // In the middle of its share of the steps, or elsewhere in it.
        (0..count).map(move |i| (i * steps + (steps / 2 + row * 7) % steps) / count)
    };
    let kills = spread(kills).map(Fault::Kill);
    let fulls = spread(fulls).map(Fault::Full);
    let onces = spread(onces).map(Fault::Once);
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
