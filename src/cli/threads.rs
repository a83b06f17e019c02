//! Numbers of threads on the command line.

/// A number of threads, 1 to 1024.
pub fn parse(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=1024).contains(n)).ok_or_else(|| "expected 1 to 1024".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_read() {
        assert_eq!(parse("4"), Ok(4));
        for bad in ["", "0", "-1", "1025", "two"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
