//! The `vidrec` program. The code is in the library, which the Python package calls, too.

use std::process::ExitCode;

fn main() -> ExitCode {
    let program = std::env::current_exe().unwrap_or_else(|_| "vidrec".into());
    vidrec::cli::run(vec![program.into()], std::env::args_os()).into()
}
