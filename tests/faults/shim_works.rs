//! The preloaded library does what it says, and sees all that the program changes.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::common::shim::{Fault, Shim};
use crate::common::skip::skip;
use crate::faults::commands;
use crate::faults::inputs::Inputs;
use crate::faults::state;

/// Calls that are steps, for a tool that looks at the system calls themselves.
const CALLS: &str = "write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice,fsync,fdatasync,syncfs,\
    ftruncate,truncate,fallocate,mkdir,mkdirat,rmdir,unlink,unlinkat,symlink,symlinkat,link,linkat,rename,renameat,\
    renameat2,creat,open,openat,openat2";

fn subset(inputs: &Inputs, folder: &TempDir) -> Command {
    inputs.command(folder.path(), "subset {in}/a -o out")
}

#[test]
fn the_shim_kills_and_fills_where_it_is_told_to_and_counts_the_same_each_time() {
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
    let length = |folder: &TempDir| fs::metadata(folder.path().join(&steps[step].paths[0])).unwrap().len();
    let half = folder();
    assert!(shim.run(subset(&inputs, &half), half.path(), Fault::Kill(step)).killed());
    let more = folder();
    assert!(shim.run(subset(&inputs, &more), more.path(), Fault::Kill(step + 1)).killed());
    assert_eq!(length(&half), length(&more) / 2);

    // Full for good, or for a moment.
    let folder = folder();
    let full = shim.run(subset(&inputs, &folder), folder.path(), Fault::Full(3));
    assert_eq!(full.code(), Some(1));
    assert!(full.steps[..3].iter().all(|step| !step.spoiled) && full.steps.iter().any(|step| step.spoiled));
    assert!(full.steps.iter().any(|step| step.call == "unlink" && !step.spoiled), "what is there can be removed");
    let once = shim.run(subset(&inputs, &folder), folder.path(), Fault::Once(0));
    assert!(once.steps.iter().filter(|step| step.spoiled).count() <= 1);
}

/// Where there is `strace`, the system calls themselves are counted.
#[test]
#[ignore = "full: compares the shim with strace for all commands"]
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
            return skip("no strace program, or it may not trace");
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
