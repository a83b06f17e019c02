//! A library to preload, which kills an unmodified program, or fills its disk, at a step of its choice: see `shim.c`.

// Each test program uses some of this.
#![allow(dead_code)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::skip::skip;

/// No program in these tests takes as long; one that does hangs.
const DEADLINE: Duration = Duration::from_secs(120);

/// What goes wrong, and at which step, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing; steps are counted.
    None,
    /// The program is killed instead of this step; half of the bytes of a write are there.
    Kill(usize),
    /// From this step on there is no space; half of the bytes of a write fit.
    Full(usize),
    /// As `Full`, for this step alone.
    Once(usize),
}

/// The library.
pub struct Shim {
    library: PathBuf,
}

/// How a program ended.
pub struct Ended {
    pub status: ExitStatus,
    /// It did not end by the deadline.
    pub hung: bool,
    pub stderr: String,
    /// What it changed: the call and the paths, relative to the folder.
    pub steps: Vec<Step>,
}

/// A change of something in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub call: String,
    /// It was not done, or by half.
    pub spoiled: bool,
    pub paths: Vec<PathBuf>,
}

impl Shim {
    /// Built once in a test program. `None`, and the test is skipped, where there is no Linux with glibc or no C compiler.
    pub fn get() -> Option<&'static Shim> {
        static SHIM: OnceLock<Result<Shim, &str>> = OnceLock::new();
        SHIM.get_or_init(Self::build).as_ref().inspect_err(|why| skip(why)).ok()
    }

    fn build() -> Result<Shim, &'static str> {
        if !cfg!(all(target_os = "linux", target_env = "gnu")) {
            return Err("this is not Linux with glibc");
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let library = folder.join(format!("faults-{}.so", std::process::id()));
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-o"]).arg(&library);
        cc.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/shim.c")).arg("-ldl");
        let Ok(built) = cc.output() else { return Err("there is no C compiler (cc)") };
        assert!(built.status.success(), "{cc:?}\n{}", String::from_utf8_lossy(&built.stderr));
        // A name that stays, so that no build leaves files behind.
        let kept = folder.join("faults.so");
        fs::rename(&library, &kept).unwrap();
        Ok(Shim { library: kept })
    }

    /// Runs a program with `fault` in what it does below `folder`.
    pub fn run(&self, mut command: Command, folder: &Path, fault: Fault) -> Ended {
        let folder = fs::canonicalize(folder).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let (log, stderr) = (scratch.path().join("log"), scratch.path().join("stderr"));
        let at = match fault {
            Fault::None => "count".into(),
            Fault::Kill(step) => format!("kill:{step}"),
            Fault::Full(step) => format!("full:{step}"),
            Fault::Once(step) => format!("once:{step}"),
        };
        command.env("LD_PRELOAD", &self.library).env("FAULTS_FOLDER", &folder).env("FAULTS_AT", at);
        command.env("FAULTS_LOG", &log).stdout(Stdio::null()).stderr(File::create(&stderr).unwrap());
        let (status, hung) = end(&mut command);
        let mut stderr = String::from_utf8_lossy(&fs::read(&stderr).unwrap()).into_owned();
        if hung {
            stderr += " (it hung and was killed by the test)";
        }
        let steps = fs::read_to_string(&log).unwrap_or_else(|e| panic!("{command:?} was not preloaded: {e}\n{stderr}"));
        Ended { status, hung, stderr, steps: Step::read(&steps, &folder) }
    }
}

/// Runs it to its end, or to the deadline: then the second is true.
fn end(command: &mut Command) -> (ExitStatus, bool) {
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status, false);
        }
        if started.elapsed() > DEADLINE {
            child.kill().unwrap();
            return (child.wait().unwrap(), true);
        }
        sleep(Duration::from_millis(1));
    }
}

impl Ended {
    /// Whether it was killed by its own hand.
    pub fn killed(&self) -> bool {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&self.status);
        #[cfg(not(unix))]
        let signal = None;
        !self.hung && signal == Some(9)
    }

    /// The exit status of a program that ended by itself.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

impl Step {
    /// Reads a log, in the order of the steps.
    fn read(log: &str, folder: &Path) -> Vec<Step> {
        let line = |line: &str| {
            let mut parts = line.split('\t');
            let number: usize = parts.next().unwrap().parse().unwrap();
            let spoiled = parts.next() == Some("spoiled");
            let call = parts.next().unwrap().to_owned();
            let relative = |path: &str| Path::new(path).strip_prefix(folder).unwrap_or(Path::new(path)).to_owned();
            (number, Step { call, spoiled, paths: parts.filter(|path| !path.is_empty()).map(relative).collect() })
        };
        let mut steps: Vec<_> = log.lines().map(line).collect();
        steps.sort_by_key(|(number, _)| *number);
        steps.into_iter().map(|(_, step)| step).collect()
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.call)?;
        self.paths.iter().try_for_each(|path| write!(f, " {}", path.display()))
    }
}
