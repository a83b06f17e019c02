//! A codec that fails on purpose, so that tests can see what happens to the other videos. Not in release builds.

/// Stands for a codec that crashes, hangs or takes two seconds: in a debug build, `VIDREC_DECODER_FAULT` is
/// `abort:SOURCE`, `hang:SOURCE` or `slow:SOURCE`; `kill:SOURCE` for a system that runs out of memory and kills it.
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
            Some(("slow", name)) if name == source => std::thread::sleep(std::time::Duration::from_secs(2)),
            _ => {}
        }
    }
}
