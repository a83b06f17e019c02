//! Signals while a server says nothing: each command ends soon, whatever it waits for.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fault_proxy::{Fault, Rule};

use crate::common::until::until;
use crate::remote_writing::kills::make_videos;
use crate::remote_writing::store::Store;

/// A command ends within a second. This is longer, so that a slow machine does not matter, and shorter than any patience
/// with a server.
const PROMPT: Duration = Duration::from_secs(5);

/// Every command that talks to a server, with what is removed on this machine before it runs.
const COMMANDS: [(&str, &str); 17] = [
    ("fetch s3://bucket/set -o copy", "copy"),
    ("push set s3://bucket/pushed", ""),
    ("push other s3://bucket/set --overwrite", ""),
    ("verify s3://bucket/set", ""),
    ("inspect s3://bucket/set", ""),
    ("inspect s3://bucket/set --stats", ""),
    ("check s3://bucket/set", ""),
    ("browse s3://bucket/set --export page", "page"),
    ("bench s3://bucket/set", ""),
    ("merge s3://bucket/set other -o merged", "merged"),
    ("export frames s3://bucket/set -o exported", "exported"),
    ("pack in -o s3://bucket/packed -n 2", "scratch"),
    ("pack list.csv -o local -n 2", "local"),
    ("pack list.csv -o local -n 2 --no-isolate", "local"),
    ("plan list.csv -o s3://bucket/other-plan --shards 2 -n 2", "scratch"),
    ("status s3://bucket/plan", ""),
    ("publish s3://bucket/plan", ""),
];

#[test]
#[ignore = "full: waits while a server is silent"]
fn each_command_ends_soon_after_a_signal_while_a_server_is_silent() {
    let store = Store::new();
    store.ends(0, "subset set --shards 1 -o other");
    make_videos(&store, 3);
    fs::write(store.path("list.csv"), "path\ns3://bucket/videos/0000.mp4\ns3://bucket/videos/0001.mp4\n").unwrap();
    let soak = std::env::var_os("VIDREC_SOAK").is_some();
    for (i, (line, made)) in COMMANDS.into_iter().enumerate() {
        let prepare = || {
            store.clear();
            let made = store.path(made);
            match made.is_dir() {
                true if made != store.path("") => fs::remove_dir_all(&made).unwrap(),
                _ => drop(fs::remove_file(&made)),
            }
            store.push("set", "set").unwrap();
            fs::create_dir(store.path("store/bucket/videos")).unwrap();
            for name in ["0000.mp4", "0001.mp4"] {
                fs::copy(store.path("in").join(name), store.path("store/bucket/videos").join(name)).unwrap();
            }
            if line.contains("bucket/plan") {
                store.ends(0, "plan in -o s3://bucket/plan --shards 2 -n 2");
                (0..2).for_each(|part| drop(store.ends(0, &format!("pack s3://bucket/plan --part {part}"))));
            }
            store.server.reset_counts();
        };
        prepare();
        store.run(line);
        let requests = store.server.counts().requests;
        assert!(requests > 0, "{line}");
        let mut moments: Vec<u64> = (0..requests).collect();
        if !soak {
            moments = vec![[0, 1, requests / 2, requests - 1][i % 4]];
        }
        for n in moments {
            prepare();
            store.server.rules().add(Rule::new(Fault::NoAnswer).after(n));
            stops_soon(&store, &format!("{line}, silent after request {n}"), line);
        }
    }
}

/// Starts a command, and stops it once the server has not answered.
fn stops_soon(store: &Store, what: &str, line: &str) {
    let program = store.command(line);
    // Where the tests run in the background of a shell, their children would ignore the signal.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).process_group(0);
    let mut child = command.spawn().unwrap();
    until(what, || store.server.counts().faults > 0 || child.try_wait().unwrap().is_some());
    if let Some(status) = child.try_wait().unwrap() {
        panic!("{what}: ended before it was told to: {status}");
    }
    let begin = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    until(what, || child.try_wait().unwrap().is_some() || begin.elapsed() > PROMPT);
    let Some(status) = child.try_wait().unwrap() else {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("{what}: it does not end");
    };
    assert!(!status.success(), "{what}: {status}");
}
