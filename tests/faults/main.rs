//! Every command that writes, killed and out of space at each of its steps. Whatever happens, there is the old output or
//! the new one, another run makes the new one, and no other file stays.
//!
//! By default some steps of each command are tried. `VIDREC_SOAK=1 cargo test --test faults -- --nocapture` tries all.
#![cfg(all(target_os = "linux", target_env = "gnu", feature = "pack", feature = "cli"))]

mod commands;
#[path = "../common/mod.rs"]
mod common;
mod inputs;
mod shim;
mod state;
mod table;
mod trial;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use inputs::Inputs;
use shim::{Fault, Shim};
use table::Table;
use trial::Trial;

/// Calls that are steps, for a tool that looks at the system calls themselves.
const CALLS: &str = "write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice,fsync,fdatasync,syncfs,\
    ftruncate,truncate,fallocate,mkdir,mkdirat,rmdir,unlink,unlinkat,symlink,symlinkat,link,linkat,rename,renameat,\
    renameat2,creat,open,openat,openat2";

#[test]
fn every_command_at_every_step_leaves_the_old_output_or_the_new() {
    let Some(shim) = Shim::get() else { return };
    let inputs = Inputs::make();
    let before = state::tree(&inputs.at(""));
    let trials = in_parallel(commands::table(&inputs), |row| Trial::new(row, &inputs, shim));
    let soak = std::env::var_os("VIDREC_SOAK").is_some();
    let mut jobs = Vec::new();
    for (row, trial) in trials.iter().enumerate() {
        jobs.extend(faults(row, trial.steps.len(), soak).into_iter().map(|fault| (trial, fault)));
    }
    let results = in_parallel(jobs, |(trial, fault)| (trial, fault, trial.with(fault)));
    let mut table = Table::default();
    results.into_iter().for_each(|(trial, fault, verdict)| table.add(trial, fault, verdict));
    println!("{table}");
    assert_eq!(state::difference(&state::tree(&inputs.at("")), &before), None, "the inputs");
    assert!(table.is_right(), "{}", table.faults());
}

/// What is to go wrong in a command: at every step, or at some, spread evenly and otherwise for each `row`.
fn faults(row: usize, steps: usize, soak: bool) -> Vec<Fault> {
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

fn subset(inputs: &Inputs, folder: &tempfile::TempDir) -> Command {
    inputs.command(folder.path(), "subset {in}/a -o out")
}

#[test]
fn the_shim_kills_where_it_is_told_to_and_counts_the_same_each_time() {
    let Some(shim) = Shim::get() else { return };
    let inputs = Inputs::make();
    let folder = || tempfile::tempdir().unwrap();
    let (first, second) = (folder(), folder());
    let counted = [&first, &second].map(|folder| shim.run(subset(&inputs, folder), folder.path(), Fault::None));
    assert_eq!(counted[0].code(), Some(0), "{}", counted[0].stderr);
    assert_eq!(counted[0].steps, counted[1].steps);
    let steps = &counted[0].steps;

    let untouched = folder();
    let killed = shim.run(subset(&inputs, &untouched), untouched.path(), Fault::Kill(0));
    assert!(killed.killed() && killed.steps.len() == 1, "{:?}", killed.status);
    assert!(state::tree(untouched.path()).is_empty());
    let (beyond, elsewhere) = (folder(), folder());
    assert_eq!(shim.run(subset(&inputs, &beyond), beyond.path(), Fault::Kill(steps.len())).code(), Some(0));
    assert!(shim.run(subset(&inputs, &beyond), elsewhere.path(), Fault::Kill(0)).steps.is_empty());

    // The last write of the record file: half of it is there, whoever is to blame.
    let step = steps.iter().position(|step| step.call == "write" && step.paths[0].to_str().unwrap().contains(".rec"));
    let step = step.expect("a record file is written");
    let length =
        |folder: &tempfile::TempDir| std::fs::metadata(folder.path().join(&steps[step].paths[0])).unwrap().len();
    let half = folder();
    assert!(shim.run(subset(&inputs, &half), half.path(), Fault::Kill(step)).killed());
    let more = folder();
    assert!(shim.run(subset(&inputs, &more), more.path(), Fault::Kill(step + 1)).killed());
    assert_eq!(length(&half), length(&more) / 2);
}

#[test]
fn a_full_disk_is_full_for_good_or_for_a_moment() {
    let Some(shim) = Shim::get() else { return };
    let inputs = Inputs::make();
    let folder = tempfile::tempdir().unwrap();
    let full = shim.run(subset(&inputs, &folder), folder.path(), Fault::Full(3));
    assert_eq!(full.code(), Some(1));
    assert!(full.steps[..3].iter().all(|step| !step.spoiled) && full.steps.iter().any(|step| step.spoiled));
    assert!(full.steps.iter().any(|step| step.call == "unlink" && !step.spoiled), "what is there can be removed");
    let once = shim.run(subset(&inputs, &folder), folder.path(), Fault::Once(0));
    assert!(once.steps.iter().filter(|step| step.spoiled).count() <= 1);
}

/// Where there is `strace`, the system calls themselves are counted.
#[test]
fn no_step_slips_by() {
    let Some(shim) = Shim::get() else { return };
    let inputs = Inputs::make();
    let scratch = tempfile::tempdir().unwrap();
    // Some of the commands, unless all is to be tried.
    let stride = if std::env::var_os("VIDREC_SOAK").is_some() { 1 } else { 4 };
    for row in commands::table(&inputs).into_iter().step_by(stride) {
        let folder = scratch.path().join(&row.name);
        row.prepare(&inputs, &folder);
        let program = inputs.command(&folder, &row.line);
        let trace = scratch.path().join("trace");
        let mut strace = Command::new("strace");
        strace
            .args(["-f", "-y", "-qq", "-s", "1", "-e", &format!("trace={CALLS}"), "-e", "signal=none", "-o"])
            .arg(&trace);
        strace.arg(program.get_program()).args(program.get_args()).current_dir(&folder);
        if Command::new("strace").args(["-o", "/dev/null", "true"]).output().is_ok_and(|run| run.status.success()) {
            let counted = shim.run(strace, &folder, Fault::None);
            let seen = changes(&fs::read_to_string(&trace).unwrap(), &folder);
            assert_eq!(counted.steps.len(), seen.len(), "{}: {:#?}\n{seen:#?}", row.name, counted.steps);
        } else {
            return eprintln!("skipped: there is no strace, or it may not trace");
        }
    }
}

/// The lines of a trace that change something in a folder, which is where the program ran.
fn changes(trace: &str, folder: &Path) -> Vec<String> {
    let here = format!("AT_FDCWD<{}>, \"", folder.display());
    let there = |line: &str| {
        let relative = |before: &str| line.split(before).skip(1).any(|path| !path.starts_with('/'));
        relative(&here) || relative("(\"") || line.replace(&here, "\"").contains(folder.to_str().unwrap())
    };
    let opens = |line: &str| line.contains(" open") || line.contains(" creat");
    let makes = |line: &str| ["O_CREAT", "O_TRUNC", "O_TMPFILE", " creat("].iter().any(|how| line.contains(how));
    // A folder below one that is not there yet.
    let early = |line: &str| line.contains(" mkdir(") && line.contains("ENOENT");
    let lines = trace
        .lines()
        .filter(|line| !line.contains(" resumed>") && !early(line) && there(line) && (!opens(line) || makes(line)));
    lines.map(str::to_owned).collect()
}
