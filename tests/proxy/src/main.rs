//! The servers as a program, for benchmarks and for tests in other languages.

mod command;
mod options;

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use options::Options;

const USAGE: &str = "\
A web server that fails as told: in front of another server, or of a folder.

    fault-proxy --to HOST:PORT [OPTION...]
    fault-proxy --folder DIR [OPTION...]

    --listen HOST:PORT       where to listen; port 0 is any free one [default: 127.0.0.1:0]
    --latency-ms N           wait before each answer [default: 0]
    --connect-latency-ms N   wait more before the first answer of each connection [default: 0]
    --gbit X                 bandwidth of all connections together, in Gbit/s; 0 is no limit [default: 0]
    --fault RULE             a fault, as '{\"fault\": {\"reset\": {\"after\": 1000}}, \"path\": \".rec\", \"when\": {\"every\": 5}}';
                             can be repeated
    --log                    keep a log of all requests
    --writable, --writable-without-conditions
                             objects can be written to a folder, as with S3 in path style

The first line of output is the port. Then each line of input is a command, answered by one line:

    latency-ms N, connect-latency-ms N, gbit X, fault RULE
    clear                    remove all faults
    counts, log              what was done, as JSON; the log is taken and starts anew
    reset                    counts and log start anew

At the end of input, the program prints the counts and ends.
";

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprint!("fault-proxy: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fault-proxy: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let server = options.start()?;
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
