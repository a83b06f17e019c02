//! Tests that run in a process of their own, which is this program, started for one of its tests alone.

use std::process::{Command, Stdio};

/// Starts `test` of `module` (its `module_path!()`) and no other.
pub fn command(module: &str, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments(module, test));
    command
}

/// Runs a test in a process of its own: processes that other tests start would share its locks for a moment.
pub fn run(module: &str, name: &str, test: impl FnOnce()) {
    const OWN: &str = "VIDREC_TEST_OWN_PROCESS";
    if std::env::var_os(OWN).is_some() {
        return test();
    }
    let run = command(module, name).env(OWN, "1").stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("1 passed"), "{said}");
    said.lines().filter(|line| line.starts_with("note: ")).for_each(|line| println!("{line}"));
}

/// For a command that starts this program by way of another.
pub fn arguments(module: &str, test: &str) -> [String; 5] {
    let (_program, module) = module.split_once("::").expect("tests are in modules");
    [
        format!("{module}::{test}"),
        "--exact".into(),
        "--include-ignored".into(),
        "--nocapture".into(),
        "--test-threads=1".into(),
    ]
}
