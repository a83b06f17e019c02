//! Numbers of bytes as text.

use crate::error::{Error, Result};

/// Reads a number of bytes, at least 1, with or without a unit. KB, MB, GB, TB are powers of 1000. K, M, G, T and
/// KiB, MiB, GiB, TiB are powers of 1024.
///
/// ```
/// # mod vidrec { pub use vidrec_format::byte_size::parse_bytes; pub use vidrec_format::error::Error; }
/// assert_eq!(vidrec::parse_bytes("100kB")?, 100_000);
/// assert_eq!(vidrec::parse_bytes("2 GiB")?, 2 << 30);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// The text is not such a number.
pub fn parse_bytes(text: &str) -> Result<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1u64 << 40,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => 0,
    };
    let size = number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).filter(|&n| n > 0);
    size.ok_or_else(|| Error::usage(format!("expected a size such as 1GiB, 500MB or 1000000, found {text:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let sizes = ["1", "10B", "2k", "1GiB", "1 GiB", "500MB", "3tb"].map(|t| parse_bytes(t).unwrap());
        assert_eq!(sizes, [1, 10, 2048, 1 << 30, 1 << 30, 500_000_000, 3_000_000_000_000]);
        for bad in ["", "0", "GiB", "-1", "1.5GiB", "1XB", "99999999999TiB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
