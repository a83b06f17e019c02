//! Ctrl-C and SIGTERM: the first signal requests a clean stop, the second ends the program.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit status after either signal.
pub const STATUS: u8 = 130;

/// A flag that becomes true at the first signal.
pub fn flag() -> io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the first signal finds the flag false and sets it, and only the next one ends the program.
        flag::register_conditional_shutdown(signal, i32::from(STATUS), Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(asked)
}
