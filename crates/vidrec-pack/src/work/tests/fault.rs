//! Simulates a failing codec.

use std::io::Read;

#[cfg(target_os = "linux")]
use super::escape;
use crate::video::VideoError;
use crate::work::video_store::VideoStore;

/// Returns what `VIDREC_DECODER_FAULT` says for this video.
fn planned(source: &str) -> Option<(String, String)> {
    let plan = std::env::var("VIDREC_DECODER_FAULT").ok()?;
    let (what, of) = plan.split_once(':')?;
    let rest = of.strip_prefix(source).or_else(|| of.strip_prefix('*'))?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(':')? };
    Some((what.to_owned(), rest.to_owned()))
}

/// Simulates a fault of the decoder.
///
/// `abort:SOURCE` and `hang:SOURCE` stand for a codec that crashes or hangs. `kill:SOURCE` stands for a system
/// that runs out of memory and kills the process. `escape:SOURCE:WAY` stands for a video that has taken over its
/// decoder and tries to get out.
pub fn decoder(source: &str, store: &VideoStore) -> Result<(), VideoError> {
    let Some((what, how)) = planned(source) else { return Ok(()) };
    match what.as_str() {
        "abort" => std::process::abort(),
        "hang" => loop {
            std::thread::park();
        },
        #[cfg(target_os = "linux")]
        "kill" => escape::die(),
        #[cfg(not(target_os = "linux"))]
        "kill" => {
            let kill = std::process::Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
            drop(kill);
        }
        #[cfg(target_os = "linux")]
        "escape" => return escape::attempt(&how, store),
        _ => {}
    }
    let _ = (how, store);
    Ok(())
}

/// Waits in the run before a video, if a test asks for it.
///
/// `wait:SOURCE:PIPE` waits until a named pipe has a byte to read. `wait:*:PIPE` does so at each video.
pub fn wait(source: &str) {
    if let Some((_, pipe)) = planned(source).filter(|(what, _)| what == "wait") {
        let byte = std::fs::File::open(pipe).and_then(|mut pipe| pipe.read_exact(&mut [0]));
        byte.expect("the test has opened the pipe");
    }
}
