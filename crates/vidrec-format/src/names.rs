//! Names of a data set's files: `format-spec/vidrec-v1.md#names-of-files`.

use super::data_binding::hex;

/// The file that makes a folder a data set.
pub const LISTING: &str = "dataset.json";

/// Name of the list of failures if there is no data set, and in data sets written before the name had digits of the
/// file's digest.
pub const FAILURES: &str = "failures.jsonl";

/// The beginning of the name of a list of failures.
pub(crate) const FAILURES_STEM: &str = "failures";

/// The folder in a data set's folder with the plan and the shards of a pack that is not finished.
pub const PACK: &str = ".vidrec.pack";

/// Names of files and folders in which versions before this one kept interrupted work.
pub const OLDER: [&str; 3] = [".pack.journal", ".parts", ".vidrec.intent"];

/// The number of hexadecimal digits of a digest in a name: 48 bits distinguish a file from any other with its number.
const DIGITS: usize = 12;

/// Name of shard `ordinal` before the digits of a digest: `shard-00000`.
pub fn shard(ordinal: usize) -> String {
    format!("shard-{ordinal:05}")
}

/// `STEM-DIGITS.ENDING`, where the digits are the first digits of the SHA-256 of the file's contents.
pub fn with_digest(stem: &str, sha256: &[u8; 32], ending: &str) -> String {
    format!("{stem}-{}.{ending}", &hex(sha256)[..DIGITS])
}

/// A file's name without its ending and without the digits of a digest: `shard-00000` of
/// `shard-00000-0123456789ab.rec`.
pub fn stem(name: &str) -> &str {
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    match name.rsplit_once('-') {
        Some((stem, digits)) if digits.len() == DIGITS && digits.bytes().all(is_digit) => stem,
        _ => name,
    }
}

/// Whether a file's name has the digits of a digest.
pub fn has_digits(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(whole, _)| whole != stem(name))
}

/// Whether this is the name of a shard without digits and ending: `shard-00012`, or `shard-00012.1` for the second
/// shard of a part.
pub(crate) fn is_shard_stem(stem: &str) -> bool {
    let Some(numbers) = stem.strip_prefix("shard-") else { return false };
    let (first, second) = numbers.split_once('.').unwrap_or((numbers, "1"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    first.len() >= 5 && is_number(first) && is_number(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_and_go() {
        let name = with_digest(&shard(7), &[0xab; 32], "vidx");
        assert_eq!(name, "shard-00007-abababababab.vidx");
        assert_eq!(stem(&name), "shard-00007");
        assert!(has_digits(&name));
        for (name, without) in
            [("shard-00007.rec", "shard-00007"), ("a-ABABABABABAB.rec", "a-ABABABABABAB"), ("x", "x")]
        {
            assert_eq!(stem(name), without);
            assert!(!has_digits(name));
        }
    }
}
