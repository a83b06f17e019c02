//! Data sets on a server, from outside: the same output as for a local one, few requests, and nothing secret in it.

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::rich::Rich;
use crate::common::{self, tree};

/// A data set of seven shards in the folder `set`, in which commands run, and a server of that folder.
pub struct Served(common::data_set_server::Served);

impl Deref for Served {
    type Target = common::data_set_server::Served;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Served {
    pub fn new() -> Self {
        let rich = Rich { shards: &[4, 3, 1, 5, 2, 6, 3], ..Rich::default() };
        Served(common::data_set_server::Served::new(|dir| rich.write(dir)))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command in the folder, with `U` for the server's address.
    pub fn run(&self, line: &str) -> Output {
        let words = line.split(' ').map(|word| word.replace("U/", &(self.server.url() + "/")));
        Command::new(env!("CARGO_BIN_EXE_vidrec")).args(words).current_dir(self.folder.path()).output().unwrap()
    }

    /// The standard output of a command that succeeds.
    pub fn text(&self, line: &str) -> String {
        let run = self.run(line);
        assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    }

    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.text(line)).unwrap()
    }

    /// The standard error of a command that fails with a status.
    pub fn refusal(&self, line: &str, status: i32) -> String {
        let run = self.run(line);
        let text = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(status), "{line}: {text}");
        text
    }
}

#[test]
fn what_is_printed_is_the_same() {
    let served = Served::new();
    for line in [
        "inspect SET --json",
        "inspect SET --clip 13 --json",
        "inspect SET --stats --json",
        "verify SET --deep --json",
        "verify SET",
    ] {
        let (local, remote) = (line.replace("SET", "set"), line.replace("SET", "U/set"));
        assert_eq!(served.text(&local), served.text(&remote), "{line}");
    }
}

#[test]
fn what_is_written_is_the_same() {
    let served = Served::new();
    Rich { shards: &[2], from: 100, ..Rich::default() }.write(&served.path("more"));
    for line in [
        "subset SET -o OUT --clips 3-5,13",
        "merge SET MORE -o OUT",
        "split SET -o OUT --ratio 0.5,0.5",
        "export frames SET -o OUT --clips 3-9",
        "export frames SET -o OUT",
    ] {
        for (of, to) in [("set", "local"), ("U/set", "remote")] {
            let more = of.replace("set", "more");
            served.text(&line.replace("SET", of).replace("MORE", &more).replace("OUT", to));
        }
        assert_eq!(tree(&served.path("local")), tree(&served.path("remote")), "{line}");
        fs::remove_dir_all(served.path("local")).unwrap();
        fs::remove_dir_all(served.path("remote")).unwrap();
    }
    // Nothing to link to, so records are copied.
    served.text("subset U/set -o renamed --rename-class run=ran");
    assert!(served.text("verify renamed").contains("intact"));
    assert_eq!(served.json("inspect renamed --json")["classes"][0], "ran");
    served.text("merge U/set --append -o more");
    assert!(served.text("verify more").contains("intact: 26 clips"));
}

#[test]
fn bench_says_what_went_over_the_network() {
    let served = Served::new();
    let bench = "bench U/set frames=1 crop=16 batch_size=4 shuffle=true threads=1 --epochs 1 --memory-bytes 1MiB";
    let report = served.json(&format!("{bench} --cold --json"));
    let remote = &report["stats"]["remote"];
    let counts = served.server.counts();
    // The next epoch is asked for ahead, so some of it may be on its way at the end.
    let [requests, bytes] = ["requests", "fetched_bytes"].map(|name| remote[name].as_u64().unwrap());
    assert!(requests.abs_diff(counts.requests) <= 8, "{requests} of {counts:?}");
    assert!(bytes <= counts.body_bytes && bytes > counts.body_bytes / 4 * 3, "{bytes} of {counts:?}");
    for name in ["cached_bytes", "retries", "network_wait_seconds"] {
        assert!(remote[name].is_number(), "{name}: {remote}");
    }
    assert!(report["first_batch_ms"].as_f64().unwrap() > 0.0);
    let text = served.text(bench);
    assert!(
        text.contains("requests: ") && text.contains("from the cache") && text.contains("for the network"),
        "{text}"
    );

    fs::create_dir(served.path("cache")).unwrap();
    fs::write(served.path("cache/x"), "").unwrap();
    let text = served.refusal(&format!("{bench} --cold --cache cache"), 1);
    assert!(text.contains("not begin cold"), "{text}");
}
