//! Faults on purpose, so that tests can see what a crash or a full disk leaves behind. Not in release builds.
//!
//! Every write, sync, rename and removal on the way to a data set is a step and passes through here. In a debug build the
//! environment variable `VIDREC_FAULT` names one: `kill:N` ends the process at step N, in the middle of a write;
//! `full:N` lets step N and all later ones fail as on a full disk.

use std::fs::File;
use std::io::{self, Write};

/// What is to go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(debug_assertions), allow(dead_code))]
enum Fault {
    Kill,
    Full,
}

/// Writes, or fails half way if this step is to fail.
pub(crate) fn write(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
    match due() {
        None => file.write(bytes),
        Some(fault) => {
            file.write_all(&bytes[..bytes.len() / 2])?;
            Err(fail(fault))
        }
    }
}

/// To be called before a sync, a rename or a removal; an error if this step is to fail.
pub(crate) fn step() -> io::Result<()> {
    due().map_or(Ok(()), |fault| Err(fail(fault)))
}

/// Stands for a codec that crashes, hangs or takes two seconds: in a debug build, `VIDREC_DECODER_FAULT` is
/// `abort:SOURCE`, `hang:SOURCE` or `slow:SOURCE`; `kill:SOURCE` for a system that runs out of memory and kills it.
#[cfg(feature = "pack")]
pub(crate) fn decoder(source: &str) {
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
            Some(("slow", name)) if name == source => std::thread::sleep(std::time::Duration::from_secs(2)),
            _ => {}
        }
    }
}

fn fail(fault: Fault) -> io::Error {
    match fault {
        Fault::Kill => std::process::abort(),
        Fault::Full => io::ErrorKind::StorageFull.into(),
    }
}

/// The fault of this step, which is counted.
#[cfg(debug_assertions)]
fn due() -> Option<Fault> {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static PLAN: OnceLock<Option<(Fault, u64)>> = OnceLock::new();
    static STEPS: AtomicU64 = AtomicU64::new(0);
    let (fault, at) = (*PLAN.get_or_init(|| parse(&std::env::var("VIDREC_FAULT").ok()?)))?;
    let now = STEPS.fetch_add(1, Ordering::Relaxed);
    (now == at || (now > at && fault == Fault::Full)).then_some(fault)
}

#[cfg(debug_assertions)]
fn parse(text: &str) -> Option<(Fault, u64)> {
    let (fault, at) = text.split_once(':')?;
    let fault = match fault {
        "kill" => Fault::Kill,
        "full" => Fault::Full,
        _ => return None,
    };
    Some((fault, at.parse().ok()?))
}

#[cfg(not(debug_assertions))]
fn due() -> Option<Fault> {
    None
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read() {
        assert_eq!(parse("kill:3"), Some((Fault::Kill, 3)));
        assert_eq!(parse("full:0"), Some((Fault::Full, 0)));
        assert_eq!(parse("kill"), None);
        assert_eq!(parse("burn:1"), None);
    }
}
