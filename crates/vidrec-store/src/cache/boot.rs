//! Identifies the current start of the machine. A power failure may have lost what was written before it.

use sha2::{Digest, Sha256};

/// Returns a number for this start of this machine, or 0 if the system does not tell.
pub(super) fn boot() -> u64 {
    let Ok(id) = std::fs::read_to_string("/proc/sys/kernel/random/boot_id") else { return 0 };
    let digest = Sha256::digest(id.trim().as_bytes());
    digest.iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_the_same_while_the_machine_runs() {
        assert_eq!(boot(), boot());
        assert!(boot() != 0 || cfg!(not(target_os = "linux")));
    }
}
