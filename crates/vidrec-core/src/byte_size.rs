//! Numbers of bytes as text.

use vidrec_format::error::{Error, Result};

/// Reads a number of bytes, at least 1, with or without a unit. KB, MB, GB, TB are powers of 1000. K, M, G, T and
/// KiB, MiB, GiB, TiB are powers of 1024.
///
/// ```
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

/// A number of bytes for people, in units of 1000: 1.5 MB.
pub fn shown_bytes(n: u64) -> String {
    let (mut value, mut unit) = (n as f64, "B");
    for next in ["kB", "MB", "GB", "TB"] {
        // 999,950 would be shown as 1000.0 kB.
        if value < 999.95 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    if unit == "B" { format!("{n} B") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_units_of_1000() {
        let shown = [0, 999, 1000, 1_536_000, 999_960, 3_000_000_000, u64::MAX].map(shown_bytes);
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "1.5 MB", "1.0 MB", "3.0 GB", "18446744.1 TB"]);
    }

    #[test]
    fn sizes_are_read() {
        let sizes = ["1", "10B", "2k", "1GiB", "1 GiB", "500MB", "3tb"].map(|t| parse_bytes(t).unwrap());
        assert_eq!(sizes, [1, 10, 2048, 1 << 30, 1 << 30, 500_000_000, 3_000_000_000_000]);
        for bad in ["", "0", "GiB", "-1", "1.5GiB", "1XB", "99999999999TiB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
