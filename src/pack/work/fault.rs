//! A codec that fails on purpose, so that tests can see what happens to the other videos. Not in release builds.

use std::io::Read;

/// Stands for a codec that crashes or hangs: in a debug build, `VIDREC_DECODER_FAULT` is `abort:SOURCE` or `hang:SOURCE`;
/// `kill:SOURCE` for a system that runs out of memory and kills it; `wait:SOURCE:PIPE` for one that waits until there is a
/// byte in a named pipe, and `wait:*:PIPE` for one that does so at each video.
pub(super) fn decoder(source: &str) {
    if cfg!(debug_assertions)
        && let Ok(plan) = std::env::var("VIDREC_DECODER_FAULT")
    {
        match plan.split_once(':') {
            Some(("abort", name)) if name == source => std::process::abort(),
            Some(("kill", name)) if name == source => {
                let kill = std::process::Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
                drop(kill);
            }
            Some(("hang", name)) if name == source => loop {
                std::thread::park();
            },
            Some(("wait", gate)) => match gate.split_once(':') {
                Some((name, pipe)) if name == source || name == "*" => {
                    let byte = std::fs::File::open(pipe).and_then(|mut pipe| pipe.read_exact(&mut [0]));
                    byte.expect("the test has opened the pipe");
                }
                _ => {}
            },
            _ => {}
        }
    }
}
