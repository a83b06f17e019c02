//! The servers as a program, for benchmarks and for tests in other languages.

mod command;

use std::io::{self, BufRead, Write};

use clap::Parser;
use fault_proxy::{Origin, Proxy, Rule, Server};

const COMMANDS: &str = "\
The first line of output is the port. Then each line of input is a command, answered by one line:

  latency-ms N, connect-latency-ms N, gbit X, fault RULE
  clear          remove all faults
  counts, log    prints what the server did, as JSON; `log` also empties the log
  reset          sets all counts to zero and empties the log

At the end of input, the program prints the counts and ends.";

/// A web server that fails as told: in front of another server, or of a folder.
#[derive(Parser)]
#[command(after_help = COMMANDS)]
struct Options {
    /// The server to stand in front of, as HOST:PORT
    #[arg(long, required_unless_present = "folder", conflicts_with = "folder")]
    to: Option<String>,
    /// The folder to serve
    #[arg(long)]
    folder: Option<String>,
    /// Where to listen, as HOST:PORT; port 0 is any free one
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// Wait before each answer
    #[arg(long, default_value = "0")]
    latency_ms: String,
    /// Wait more before the first answer of each connection
    #[arg(long, default_value = "0")]
    connect_latency_ms: String,
    /// Bandwidth of all connections together, in Gbit/s; 0 is no limit
    #[arg(long, default_value = "0")]
    gbit: String,
    /// A fault, as '{"fault": {"reset": {"after": 1000}}, "path": ".rec", "when": {"every": 5}}'; can be repeated
    #[arg(long)]
    fault: Vec<Rule>,
    /// Keep a log of all requests
    #[arg(long)]
    log: bool,
    /// Objects can be written to the folder, as with S3 in path style
    #[arg(long)]
    writable: bool,
    /// The same, but conditions are ignored
    #[arg(long)]
    writable_without_conditions: bool,
}

impl Options {
    fn start(self) -> io::Result<Server> {
        let origin = Origin::new(self.folder.unwrap_or_default());
        let server = match self.to {
            Some(to) => Proxy::start(&to, &self.listen)?,
            None if self.writable => origin.writable().start(&self.listen)?,
            None if self.writable_without_conditions => origin.writable_without_conditions().start(&self.listen)?,
            None => origin.start(&self.listen)?,
        };
        server.keep_log(self.log);
        self.fault.into_iter().for_each(|rule| server.rules().add(rule));
        let settings = [("latency-ms", self.latency_ms), ("connect-latency-ms", self.connect_latency_ms)];
        for (name, value) in settings.into_iter().chain([("gbit", self.gbit)]) {
            command::run(&server, &format!("{name} {value}")).map_err(io::Error::other)?;
        }
        Ok(server)
    }
}

fn main() -> io::Result<()> {
    let server = Options::parse().start()?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", server.address().port())?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        let answer = command::run(&server, &line?).unwrap_or_else(|error| format!("error: {error}"));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    writeln!(out, "{}", command::counts(&server))
}
