//! Ctrl-C and SIGTERM: the first signal requests a clean stop, the second ends the program.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit status after either signal.
pub const STATUS: u8 = 130;

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag of the program: true once it is to end.
pub fn asked() -> &'static Arc<AtomicBool> {
    &ASKED
}

/// The same, which becomes true at the first signal from now on.
pub fn flag() -> io::Result<Arc<AtomicBool>> {
    let asked = Arc::clone(asked());
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the first signal finds the flag false and sets it, and only the next one ends the program.
        flag::register_conditional_shutdown(signal, i32::from(STATUS), Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(asked)
}
