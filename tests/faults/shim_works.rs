//! The preloaded library sees all that the program changes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::shim::{Fault, Shim};
use crate::common::skip::skip;
use crate::faults::commands;
use crate::faults::inputs::Inputs;

/// Calls that are steps, for a tool that looks at the system calls themselves.
const CALLS: &str = "write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice,fsync,fdatasync,syncfs,\
    ftruncate,truncate,fallocate,mkdir,mkdirat,rmdir,unlink,unlinkat,symlink,symlinkat,link,linkat,rename,renameat,\
    renameat2,creat,open,openat,openat2";

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
    // What is in a folder that is not there yet: the shim does not count it.
    let early = |line: &str| {
        line.contains("ENOENT") && (line.contains(" mkdir(") || line.contains("out/.vidrec.pack/plan.json"))
    };
    let lines = trace
        .lines()
        .filter(|line| !line.contains(" resumed>") && !early(line) && there(line) && (!opens(line) || makes(line)));
    lines.map(str::to_owned).collect()
}
